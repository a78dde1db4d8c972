package model

import (
	"context"
	"slices"
	"sync"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// routes contains the shard keys of a model, and the keys of documents that one operation
// has read.
type routes struct {
	keys map[string]ShardKey // by collection

	mu    sync.Mutex
	known map[string]map[string]bson.D // the key of a document, by collection and _id
	moved int                          // the number of documents read with a changed key
}

// maxRoutes limits the remembered documents of a collection. A job that reads more
// forgets the earlier documents.
const maxRoutes = 10_000

// saw remembers the key of a document that was read.
func (r *routes) saw(collection string, doc bson.Raw) {
	key, sharded := r.keys[collection]
	id, err := doc.LookupErr("_id")
	if !sharded || err != nil {
		return
	}
	values := make(bson.D, 0, len(key.Fields))
	for _, path := range key.Fields {
		v, inArray := core.ValueAt(doc, path)
		if v.Type == 0 || inArray {
			return // a projection may exclude it
		}
		values = append(values, bson.E{Key: path, Value: bsonval.Clone(v)})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.known[collection]
	if all == nil || len(all) >= maxRoutes {
		all = map[string]bson.D{}
		r.known[collection] = all
	}
	name := bsonval.Key(id)
	if old, ok := all[name]; ok && !bsondoc.SameValue(old, values) {
		r.moved++
	}
	all[name] = values
}

// of returns a function for the known keys of a collection.
func (r *routes) of(collection string) func(bson.RawValue) bson.D {
	return func(id bson.RawValue) bson.D {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.known[collection][bsonval.Key(id)]
	}
}

// moves returns how often a document had a changed key.
func (r *routes) moves() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.moved
}

// plan returns the plan with shard keys in its filters.
func (r *routes) plan(p Plan) Plan {
	p.Steps, p.IfStale, p.InTx = r.steps(p.Steps), r.steps(p.IfStale), r.steps(p.InTx)
	return p
}

func (r *routes) steps(steps []Step) []Step {
	if steps == nil {
		return nil
	}
	out := make([]Step, len(steps))
	for i, step := range steps {
		out[i] = step
		w, ok := step.(Write)
		if !ok {
			continue
		}
		if key, sharded := r.keys[w.Collection]; sharded {
			w = key.write(w, r.of(w.Collection))
		}
		out[i] = w
	}
	return out
}

// filter returns a read's filter with the known shard key. It uses keys of documents that
// were read only if keys can't change.
func (r *routes) filter(collection string, filter bson.D, upsert bool) bson.D {
	key, sharded := r.keys[collection]
	if !sharded {
		return filter
	}
	if key.Moves {
		return key.complete(filter, upsert, nil)
	}
	return key.complete(filter, upsert, r.of(collection))
}

// projection adds the fields of the shard key to the projection of a read that decides a
// write, so that the write can use them.
func (r *routes) projection(collection string, projection bson.D) bson.D {
	if !includes(projection) {
		return projection
	}
	out := projection
	for _, path := range r.keys[collection].Fields {
		if !mentionsBelow(out, path) {
			out = append(out[:len(out):len(out)], bson.E{Key: path, Value: 1})
		}
	}
	return out
}

// includes reports whether a projection lists the fields that it returns, and doesn't
// exclude _id.
func includes(projection bson.D) bool {
	for _, e := range projection {
		if !bsonval.Truthy(e.Value) {
			return false
		}
	}
	return len(projection) > 0
}

// mentionsBelow reports whether a projection contains a path, or a path above or below
// it.
func mentionsBelow(projection bson.D, path string) bool {
	for _, e := range projection {
		if core.Overlap(e.Key, path) {
			return true
		}
	}
	return false
}

// isRouted reports whether a findAndModify with the filter has the whole shard key of its
// collection, or needs none. Before MongoDB 7.1, mongos refuses it otherwise.
func isRouted(ctx context.Context, db DB, collection string, filter bson.D) bool {
	r, ok := routerOf(withRouter(ctx, db)).(*routes)
	if !ok {
		return true
	}
	key, sharded := r.keys[collection]
	if !sharded {
		return true
	}
	for _, s := range scopesOf(db) {
		if s.holds(collection) {
			filter = append(slices.Clip(filter), s.tenant...)
		}
	}
	return key.whole(r.filter(collection, filter, false))
}

// findAndModify adds the known shard key to the filter. An upsert needs the whole key.
func (r *routes) findAndModify(m *FindAndModify) {
	key, sharded := r.keys[m.Collection]
	if !sharded {
		return
	}
	m.Filter = r.filter(m.Collection, m.Filter, m.Upsert)
	if !m.Remove && !key.Moves {
		m.Err = key.keepsUpdate(m.Update, m.Filter)
	}
	if m.Upsert && !key.whole(m.Filter) {
		m.Err = key.refusedUpsert()
	}
}
