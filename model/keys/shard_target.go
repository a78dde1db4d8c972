package keys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A Scope says how many shards a command is sent to.
type Scope string

const (
	// AllShards means every shard. An updateMany or deleteMany for several key values or
	// ranges has this scope too. If one shard has all these values or ranges, mongos
	// asks only that shard.
	AllShards Scope = "all shards"

	SomeShards Scope = "targeted"  // only shards with certain key values or ranges
	OneShard   Scope = "one shard" // one shard, for one key value or an unsharded collection

	// NoShard means that the command is refused, is for another collection, or can't
	// match a document: see Target.Why. In the last case, mongos still asks one shard.
	NoShard Scope = "no shard"
)

// A Target says which shards a command is sent to, and why.
type Target struct {
	Scope  Scope
	Values int    // shard key values in the command; each value is on one shard
	Ranges int    // shard key ranges in the command; each range is on one or more shards
	Since  string // first MongoDB version that accepts the command; "" for all
	Why    string
}

// String returns the target on one line.
func (t Target) String() string {
	s := string(t.Scope)
	if t.Since != "" {
		s += " (MongoDB " + t.Since + " and later)"
	}
	return s + ": " + t.Why
}

func refusedTarget(why string) Target { return Target{Scope: NoShard, Why: why} }

// refuse returns the target of a command that has an error, and whether it has.
func refuse(err error) (Target, bool) {
	if err == nil {
		return Target{}, false
	}
	return refusedTarget("the command is invalid and isn't sent: " + err.Error()), true
}

func (s *shard) find(q model.Query) Target {
	if t, ok := refuse(q.Err); ok {
		return t
	}
	return s.filter(q.Filter, q.Options.Collation)
}

func (s *shard) aggregate(a model.Aggregation) Target {
	if t, ok := refuse(a.Err); ok {
		return t
	}
	all := bson.A{bson.D{}} // the server refuses an empty $and
	for _, stage := range a.Pipeline {
		if len(stage) != 1 || stage[0].Key != "$match" {
			break
		}
		all = append(all, stage[0].Value)
	}
	return s.filter(bson.D{{Key: "$and", Value: all}}, a.Options.Collation)
}

func (s *shard) modify(m model.FindAndModify) Target {
	if t, ok := refuse(m.Err); ok {
		return t
	}
	c := change{filter: m.Filter, update: m.Update, upsert: m.Upsert, collation: m.Options.Collation}
	collated := s.isCollated(c.collation)
	said := s.read(orEmpty(m.Filter), collated)
	elsewhere, whole := s.where(said, collated)
	t := s.single(c)
	if !whole && (t.Scope != NoShard || elsewhere.Scope == NoShard && !m.Upsert) {
		t.Since = "7.1"
	}
	return t
}

func (s *shard) write(w model.Write) Target {
	if t, ok := refuse(w.Err); ok {
		return t
	}
	upsert := func(p *bool) bool { return p != nil && *p }
	if core.IsNilModel(w.Model) {
		return refusedTarget("a write without a model")
	}
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		return s.insert(m.Document)
	case *mongo.UpdateOneModel:
		return s.single(change{filter: m.Filter, update: m.Update, upsert: upsert(m.Upsert), collation: m.Collation})
	case *mongo.ReplaceOneModel:
		return s.single(change{
			filter: m.Filter, replacement: m.Replacement, upsert: upsert(m.Upsert), collation: m.Collation,
		})
	case *mongo.DeleteOneModel:
		return s.single(change{filter: m.Filter, collation: m.Collation})
	case *mongo.UpdateManyModel:
		return s.many(change{filter: m.Filter, update: m.Update, upsert: upsert(m.Upsert), collation: m.Collation})
	case *mongo.DeleteManyModel:
		return s.many(change{filter: m.Filter, collation: m.Collation})
	}
	return refusedTarget("a write without a model")
}

func (s *shard) insert(doc any) Target {
	raw, err := (*core.Codec)(nil).Document(doc)
	if err != nil {
		return refusedTarget(err.Error())
	}
	_, missing, err := s.keyOf(raw)
	switch {
	case err != nil:
		return refusedTarget(err.Error())
	case len(missing) > 0:
		return Target{
			Scope: OneShard, Values: 1,
			Why: "the document has no " + strings.Join(missing, ", ") + ", and is stored as for null",
		}
	}
	return Target{Scope: OneShard, Values: 1, Why: "the document has the shard key " + s.String()}
}

// keyOf returns a document's key, with null for missing fields. An array is refused.
func (s *shard) keyOf(doc bson.Raw) (key []bson.RawValue, missing []string, err error) {
	key = make([]bson.RawValue, len(s.key))
	for i, f := range s.key {
		v, inArray := core.ValueAt(doc, f.path)
		switch {
		case inArray || v.Type == bson.TypeArray:
			return nil, nil, s.Refuse(f.path, nil, "is an array, or in one: a document has one shard key")
		case v.Type == 0:
			missing = append(missing, f.path)
			v = bson.RawValue{Type: bson.TypeNull}
		}
		key[i] = v
	}
	return key, missing, nil
}

// a change is an update, replacement or deletion.
type change struct {
	filter, update, replacement any
	upsert                      bool
	collation                   *options.Collation
}

// single returns where a change of one document goes.
func (s *shard) single(c change) Target {
	collated := s.isCollated(c.collation)
	said := s.read(orEmpty(c.filter), collated)
	t, whole := s.where(said, collated)
	moved, refused := s.moves(c, said, whole)
	switch {
	case refused != "":
		return refusedTarget(refused)
	case c.upsert && !whole:
		return refusedTarget("an upsert needs in its filter the whole shard key " + s.String())
	case t.Scope == NoShard:
		return t
	case moved != "" && !whole:
		return refusedTarget(fmt.Sprintf("changes %s of the shard key %s; this needs the whole key in the filter", moved, s))
	case moved != "":
		t.Why += ", and " + moved + " of the key changes: run it in a transaction or as a retryable write"
		return t
	case t.Scope == OneShard && c.replacement != nil && !whole:
		t.Why += ", but not the whole key by equality: a document with another key than the replacement's is refused"
		return t
	case t.Scope == OneShard:
		return t
	case c.replacement != nil:
		return s.replaced(c, t, byID(said, collated))
	case byID(said, collated):
		return everywhere(t, "one _id, but not the whole shard key: ")
	}
	t.Since = "7.1"
	t.Why = "neither the whole shard key nor the _id: " + t.Why
	return t
}

// replaced returns where a replacement goes if its filter is for several shards: to the
// shard of the replacement's key. With neither the key nor the _id, MongoDB 7.1 and later
// search all shards.
func (s *shard) replaced(c change, t Target, id bool) Target {
	const others = "a document with another key isn't replaced"
	raw, err := (*core.Codec)(nil).Document(c.replacement)
	if err == nil {
		_, _, err = s.keyOf(raw)
	}
	if err != nil {
		return refusedTarget(err.Error())
	}
	if id && !(slices.Contains(s.paths(), "_id")) {
		return Target{Scope: OneShard, Values: 1, Why: "one _id, and the shard key of the replacement: " + others}
	}
	return everywhere(t, "the shard key of the replacement, or all shards from MongoDB 7.1: "+others+"; ")
}

// everywhere returns the target of a write that goes to all shards unless one shard has
// everything that matches.
func everywhere(t Target, why string) Target {
	if t.Scope == SomeShards {
		t.Why += ", and a write to several shards goes to all"
	}
	t.Scope, t.Why = AllShards, why+t.Why
	return t
}

// many returns where a change of all matching documents goes.
func (s *shard) many(c change) Target {
	collated := s.isCollated(c.collation)
	said := s.read(orEmpty(c.filter), collated)
	t, whole := s.where(said, collated)
	moved, refused := s.moves(c, said, whole)
	switch {
	case refused != "":
		return refusedTarget(refused)
	case c.upsert && !whole:
		return refusedTarget("an upsert needs in its filter the whole shard key " + s.String())
	case t.Scope == NoShard:
		return t
	case moved != "":
		return refusedTarget("updateMany can't change the shard key " + s.String() + "")
	case t.Scope == SomeShards:
		return everywhere(t, "")
	}
	return t
}

func orEmpty(filter any) any {
	if d, ok := filter.(bson.D); filter == nil || ok && d == nil {
		return bson.D{}
	}
	return filter
}

// moves returns the field of the key that a change sets to another value than the filter
// requests, and why the change is refused for every document. An equal number of another
// type is a change, because MongoDB compares the bytes.
func (s *shard) moves(c change, said *conditions, whole bool) (moved, refused string) {
	set := func(path string, v bson.RawValue) {
		for _, f := range s.key {
			if !core.Overlap(path, f.path) {
				continue
			}
			var given []bson.RawValue
			if said != nil {
				given = said.equal[path]
			}
			if path == f.path && v.Type != 0 && (whole || f.path == "_id") && len(given) == 1 &&
				stays(v, given[0], f.path == "_id") {
				continue
			}
			moved = f.path
			switch {
			case f.path == "_id":
				refused = "the _id can't change, but is a field of the shard key " + s.String()
			case path == f.path && v.Type == bson.TypeArray && refused == "":
				refused = fmt.Sprintf("makes %s of the shard key %s an array", f.path, s)
			}
		}
	}
	if c.replacement != nil {
		if raw, err := (*core.Codec)(nil).Document(c.replacement); err == nil && whole {
			for _, f := range s.key {
				if v, _ := core.ValueAt(raw, f.path); f.path != "_id" {
					if v.Type == 0 {
						v.Type = bson.TypeNull
					}
					set(f.path, v)
				}
			}
		}
		return moved, refused
	}
	raw, err := (*core.Codec)(nil).Document(bson.D{{Key: "u", Value: c.update}})
	if err != nil || c.update == nil {
		return "", ""
	}
	u := bson.Raw(raw).Lookup("u")
	if stages, ok := u.ArrayOK(); ok {
		values, _ := stages.Values()
		for _, stage := range values {
			doc, _ := stage.DocumentOK()
			s.operators(doc, true, set)
		}
		return moved, refused
	}
	doc, _ := u.DocumentOK()
	s.operators(doc, false, set)
	return moved, refused
}

// stays reports whether a document that a filter finds by the value given keeps it, byte
// by byte, when it is set to v.
func stays(v, given bson.RawValue, id bool) bool {
	if id {
		return bsonval.CompareRaw(v, given) == 0
	}
	compared := bsonval.IsNumberType(v.Type) || v.Type == bson.TypeEmbeddedDocument
	return v.Type == given.Type && !compared && bsonval.CompareRaw(v, given) == 0
}

// operators calls set for each path that operators or pipeline stages update, with the
// value of $set.
func (s *shard) operators(doc bson.Raw, pipeline bool, set func(path string, v bson.RawValue)) {
	ops, _ := doc.Elements()
	for _, op := range ops {
		switch {
		case op.Key() == "$setOnInsert":
			continue // applies to an upsert only, with the whole key in the filter
		case op.Key() == "$unset" && pipeline:
			paths, _ := op.Value().ArrayOK()
			values, _ := paths.Values()
			for _, p := range append(values, op.Value()) {
				if path, ok := p.StringValueOK(); ok {
					set(path, bson.RawValue{})
				}
			}
			continue
		case pipeline && !slices.Contains([]string{"$set", "$addFields"}, op.Key()):
			continue // the result of $replaceWith or $project isn't known here
		}
		inner, _ := op.Value().DocumentOK()
		fields, _ := inner.Elements()
		for _, f := range fields {
			v := bson.RawValue{}
			if op.Key() == "$set" && !pipeline {
				v = f.Value()
			}
			set(f.Key(), v)
			if to, ok := f.Value().StringValueOK(); ok && op.Key() == "$rename" {
				set(to, bson.RawValue{})
			}
		}
	}
}
