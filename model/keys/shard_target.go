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
type Scope uint8

const (
	AllShards  Scope = iota // scattered: every shard that has documents of the collection, and the slowest decides
	SomeShards              // targeted to the shards of some values or ranges of the key
	OneShard                // targeted to the shard of one value of the key
	NoShard                 // refused, or about another collection, or nothing can match: see Target.Why
)

func (s Scope) String() string {
	switch s {
	case SomeShards:
		return "targeted"
	case OneShard:
		return "one shard"
	case NoShard:
		return "no shard"
	}
	return "all shards"
}

// A Target says where a command is sent, and why.
type Target struct {
	Scope  Scope
	Values int    // how many values of the key it asks for; each is on one shard
	Ranges int    // how many ranges of the key it asks for; each is on one shard or several
	Since  string // the version of MongoDB from which on it is possible at all; "" for all that have sharding as told here
	Why    string
}

// String is the target in a line.
func (t Target) String() string {
	s := t.Scope.String()
	if t.Since != "" {
		s += " (MongoDB " + t.Since + " and later)"
	}
	return s + ": " + t.Why
}

func refusedTarget(why string) Target { return Target{Scope: NoShard, Why: why} }

// elsewhere tells of what is no command to the collection; false where it is.
func (s *shard) elsewhere(collection string, err error) (Target, bool) {
	switch {
	case err != nil:
		return refusedTarget("is refused before it is sent: " + err.Error()), true
	case collection != s.Name():
		return refusedTarget(fmt.Sprintf("is of the collection %s, not of %s", collection, s.Name())), true
	}
	return Target{}, false
}

func (s *shard) find(q model.Query) Target {
	if t, ok := s.elsewhere(q.Collection, q.Err); ok {
		return t
	}
	return s.filter(q.Filter, q.Options.Collation)
}

func (s *shard) aggregate(a model.Aggregation) Target {
	if t, ok := s.elsewhere(a.Collection, a.Err); ok {
		return t
	}
	all := bson.A{bson.D{}} // $and of nothing is refused
	for _, stage := range a.Pipeline {
		if len(stage) != 1 || stage[0].Key != "$match" {
			break
		}
		all = append(all, stage[0].Value)
	}
	return s.filter(bson.D{{Key: "$and", Value: all}}, a.Options.Collation)
}

func (s *shard) modify(m model.FindAndModify) Target {
	if t, ok := s.elsewhere(m.Collection, m.Err); ok {
		return t
	}
	c := change{filter: m.Filter, update: m.Update, upsert: m.Upsert, collation: m.Options.Collation}
	t := s.single(c)
	if t.Scope != NoShard && t.Scope != OneShard {
		t.Since = "7.1"
	}
	return t
}

func (s *shard) write(w model.Write) Target {
	if t, ok := s.elsewhere(w.Collection, w.Err); ok {
		return t
	}
	upsert := func(p *bool) bool { return p != nil && *p }
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		return s.insert(m.Document)
	case *mongo.UpdateOneModel:
		return s.single(change{filter: m.Filter, update: m.Update, upsert: upsert(m.Upsert), collation: m.Collation})
	case *mongo.ReplaceOneModel:
		return s.single(change{filter: m.Filter, replacement: m.Replacement, upsert: upsert(m.Upsert), collation: m.Collation})
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
		return Target{Scope: OneShard, Values: 1, Why: "the document has no " + strings.Join(missing, ", ") + ", and is kept where null would be"}
	}
	return Target{Scope: OneShard, Values: 1, Why: "the document has the shard key " + s.String()}
}

// keyOf is a document's key, by its fields: null where one is missing. An array is refused.
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

// single tells where a change of one document goes.
func (s *shard) single(c change) Target {
	list := s.branches(orEmpty(c.filter), s.isCollated(c.collation))
	t := s.where(list)
	whole := t.Scope == OneShard
	if t.Scope == NoShard {
		return t
	}
	moved, never := s.moves(c, list, whole)
	switch {
	case never:
		return refusedTarget("the _id can't change, and is a field of the shard key " + s.String())
	case moved != "" && !whole:
		return refusedTarget(fmt.Sprintf("changes %s of the shard key %s, and the filter hasn't the whole key", moved, s))
	case moved != "":
		t.Why += ", and " + moved + " of it changes: in a transaction or as a retryable write"
		return t
	case whole:
		return t
	case c.upsert:
		return refusedTarget("an upsert whose filter hasn't the whole shard key " + s.String())
	case byID(list):
		t.Why = "one _id, and not the whole shard key: " + t.Why
		return t
	}
	t.Since = "7.1"
	t.Why = "neither the whole shard key nor the _id: " + t.Why
	return t
}

// many tells where a change of all that match goes.
func (s *shard) many(c change) Target {
	list := s.branches(orEmpty(c.filter), s.isCollated(c.collation))
	t := s.where(list)
	whole := t.Scope == OneShard
	moved, never := s.moves(c, list, whole)
	switch {
	case t.Scope == NoShard:
		return t
	case moved != "" || never:
		return refusedTarget("changes a field of the shard key " + s.String() + ", which updateMany can't")
	case c.upsert && !whole:
		return refusedTarget("an upsert whose filter hasn't the whole shard key " + s.String())
	}
	return t
}

func orEmpty(filter any) any {
	if d, ok := filter.(bson.D); filter == nil || ok && d == nil {
		return bson.D{}
	}
	return filter
}

// moves names the field of the key that a change gives another value than the filter asks for; never says that it is the _id.
func (s *shard) moves(c change, list []branch, whole bool) (moved string, never bool) {
	set := func(path string, v bson.RawValue) {
		for _, f := range s.key {
			if !core.Overlap(path, f.path) {
				continue
			}
			if path == f.path && v.Type != 0 && (whole || f.path == "_id") && len(list) == 1 && len(list[0][path].points) == 1 && bsonval.CompareRaw(v, list[0][path].points[0]) == 0 {
				continue // stays
			}
			moved, never = f.path, never || f.path == "_id"
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
		return moved, never
	}
	raw, err := (*core.Codec)(nil).Document(bson.D{{Key: "u", Value: c.update}})
	if err != nil || c.update == nil {
		return "", false
	}
	u := bson.Raw(raw).Lookup("u")
	if stages, ok := u.ArrayOK(); ok {
		values, _ := stages.Values()
		for _, stage := range values {
			doc, _ := stage.DocumentOK()
			s.operators(doc, true, set)
		}
		return moved, never
	}
	doc, _ := u.DocumentOK()
	s.operators(doc, false, set)
	return moved, never
}

// operators calls set for each path that operators or the stages of a pipeline update; the value is what $set sets it to.
func (s *shard) operators(doc bson.Raw, pipeline bool, set func(path string, v bson.RawValue)) {
	ops, _ := doc.Elements()
	for _, op := range ops {
		switch {
		case op.Key() == "$setOnInsert":
			continue // by an upsert, which has the whole key
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
			continue // what a document becomes by $replaceWith or $project is not known here
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
