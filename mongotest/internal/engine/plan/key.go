package plan

// This file has returnKey: the keys by which documents were found.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// checkKeyed refuses to tell the keys of an index that the engine keeps otherwise than a server. returnKey would show
// the difference.
func (p *Plan) checkKeyed() error {
	if !p.query.Keyed {
		return nil
	}
	if p.near != nil || p.text != nil {
		return mongoerr.New(mongoerr.NotImplemented,
			"returnKey of a geospatial or text index isn't implemented by the embedded engine")
	}
	for _, s := range p.scans {
		if x := s.Index.Spec; !x.IsOrdered() || x.Wild != nil || x.Derive != nil || x.Collation != nil {
			return mongoerr.New(mongoerr.NotImplemented,
				"returnKey of the index %s isn't implemented by the embedded engine: it is told for "+
					"ordered indexes without a collation", x.Name)
		}
	}
	return nil
}

// keepKey remembers the key by which an index has found a record, until [Exec.Key] asks for it.
func (e *Exec) keepKey(spec *store.IndexSpec, entry store.Entry) {
	if e.keys == nil {
		e.keys = map[int64]bson.D{}
	}
	key := make(bson.D, len(entry.Key))
	for i, v := range entry.Key {
		key[i] = bson.E{Key: spec.Fields[i].Name, Value: v}
	}
	e.keys[entry.Record] = key
}

// Key returns the key by which an index has found a record that Next has returned. It is empty if no index did.
func (e *Exec) Key(r *store.Record) bson.D {
	key := e.keys[r.ID]
	delete(e.keys, r.ID)
	if key == nil {
		return bson.D{}
	}
	return key
}
