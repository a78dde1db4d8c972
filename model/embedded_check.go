package model

import (
	"bytes"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// KeepElement says which elements a repair keeps where there are too many.
type KeepElement uint8

const (
	KeepDistinct KeepElement = iota // elements that differ; only exact copies are dropped, so that nothing is lost
	KeepFirst                       // the first in the array
	KeepLast                        // the last in the array
)

// A RepeatedElement is a key that stands more than once in one array, which writes of [Embedded] never make and other code may
// have made.
type RepeatedElement struct {
	ID    bson.RawValue `bson:"id"` // of the parent
	Key   bson.RawValue `bson:"key"`
	Times int64         `bson:"times"`
}

// Repeated returns the keys that stand more than once in one array, in the order of parents and keys. Numbers are one key whatever
// type holds them, as for the server. Elements that have no key, or an array or a pattern for one, are [Embedded.Malformed].
//
// Cost: one command that reads every parent.
func (e *Embedded[D, K, E]) Repeated() (a Aggregate[RepeatedElement]) {
	e.m.decl.aggregation(&a.Aggregation, nil)
	a.Pipeline = e.m.repeated()
	return a
}

// Repair returns the plan that leaves one element for each key that [Embedded.Repeated] found, the one that keep says; with
// KeepDistinct only exact copies go, and the rest is found again. What is written meanwhile, and other elements, stay. A cut leaves
// some documents as they were, each whole; it can be run again. It is refused for a finding of no id, or of a value that is no key,
// which Repeated doesn't give.
//
// Cost: one command for up to 25,000 findings; one document for each.
func (e *Embedded[D, K, E]) Repair(found []RepeatedElement, keep KeepElement) Plan {
	return e.m.repair(found, keep)
}

// Oversized returns the query of the parents that have more than Max elements: written before it was declared, or by code that
// doesn't know of it. It is refused without a Max.
//
// Cost: one command that reads every parent; no index can serve it.
func (e *Embedded[D, K, E]) Oversized() (f Find[D]) {
	e.m.decl.query(&f.Query, nil)
	if e.m.max == 0 {
		f.Err = e.m.refused(e.m.path, nil, "the array has no Max")
		return f
	}
	f.Filter = e.m.beyond(e.m.max, true)
	return f
}

// Trim returns the write that brings every oversized array back to Max elements, the first or the last: what is dropped is gone.
// KeepDistinct is refused, for it says not which. A cut leaves some arrays as they were; it can be run again.
//
// Cost: one command that reads every parent and writes the oversized ones.
func (e *Embedded[D, K, E]) Trim(keep KeepElement) Write { return e.m.trim(keep) }

// Malformed returns the query of the documents whose array is none (null, on which $push fails, or another value), or has an
// element that is no document, or whose key is missing, null, an array or a pattern, which no write by key reaches.
//
// Cost: one command that reads every parent.
func (e *Embedded[D, K, E]) Malformed() (f Find[bson.Raw]) {
	e.m.decl.query(&f.Query, nil)
	f.Filter = e.m.malformed()
	return f
}

// RepairNull returns the write that makes every array that is stored as null an empty one. A cut leaves some as they were; it can be run
// again.
//
// Cost: one command that reads every parent and writes those.
func (e *Embedded[D, K, E]) RepairNull() Write {
	return Write{Collection: e.m.decl.name, Once: true, Model: &mongo.UpdateManyModel{
		Filter: bson.D{{Key: e.m.path, Value: bson.D{{Key: "$type", Value: "null"}, {Key: "$not", Value: bson.D{{Key: "$type", Value: "array"}}}}}},
		Update: bson.D{{Key: "$set", Value: bson.D{{Key: e.m.path, Value: bson.A{}}}}},
	}}
}

func (m *embedding) repeated() mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "e", Value: "$" + m.path}}}},
		{{Key: "$unwind", Value: "$e"}},
		{{Key: "$match", Value: isKey("$e." + m.key)}},
		{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: bson.D{{Key: "id", Value: "$_id"}, {Key: "key", Value: "$e." + m.key}}},
			{Key: "times", Value: bson.D{{Key: "$sum", Value: 1}}},
		}}},
		{{Key: "$match", Value: bson.D{{Key: "times", Value: bson.D{{Key: "$gt", Value: 1}}}}}},
		{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "id", Value: "$_id.id"}, {Key: "key", Value: "$_id.key"}, {Key: "times", Value: 1},
		}}},
		{{Key: "$sort", Value: bson.D{{Key: "id", Value: 1}, {Key: "key", Value: 1}}}},
	}
}

// isKey is the condition that what an expression gives tells elements apart.
func isKey(expr string) bson.D {
	none := bson.A{"missing", "undefined", "null", "regex", "array"}
	return bson.D{{Key: "$expr", Value: bson.D{{Key: "$not", Value: bson.A{bson.D{{Key: "$in", Value: bson.A{bson.D{{Key: "$type", Value: expr}}, none}}}}}}}}
}

func (m *embedding) malformed() bson.D {
	return bson.D{{Key: "$or", Value: m.malformedAt(m.path)}}
}

// malformedAt are the ways in which the array at a path can be none, or hold what no write by key reaches.
func (m *embedding) malformedAt(path string) bson.A {
	bad := []bson.D{{{Key: "$not", Value: bson.D{{Key: "$type", Value: "object"}}}}, {{Key: m.key, Value: nil}}}
	for i, c := range m.key + "." {
		if c == '.' { // no array may be on the way to the key
			bad = append(bad, bson.D{{Key: m.key[:i], Value: bson.D{{Key: "$type", Value: "array"}}}})
		}
	}
	bad = append(bad, bson.D{{Key: m.key, Value: bson.D{{Key: "$type", Value: bson.A{"regex", "undefined"}}}}})
	out := bson.A{bson.D{{Key: path, Value: bson.D{{Key: "$exists", Value: true}, {Key: "$not", Value: bson.D{{Key: "$type", Value: "array"}}}}}}}
	for _, c := range bad {
		out = append(out, bson.D{{Key: path, Value: bson.D{{Key: "$elemMatch", Value: c}}}})
	}
	return out
}

func (m *embedding) repair(found []RepeatedElement, keep KeepElement) Plan {
	var p Plan
	for i, r := range found {
		if r.ID.Type == 0 || !tellsApart(r.Key) || keep > KeepLast {
			return RefusedPlan(m.decl.name, m.refused(fmt.Sprintf("found[%d]", i), nil, "needs an id, a key and a KeepElement"))
		}
		id := bson.RawValue{Type: r.ID.Type, Value: bytes.Clone(r.ID.Value)}
		key := bson.RawValue{Type: r.Key.Type, Value: bytes.Clone(r.Key.Value)}
		p.Steps = append(p.Steps, Write{
			Collection: m.decl.name, Index: IDIndex, Once: true,
			Model: &mongo.UpdateOneModel{
				Filter: And(bson.D{{Key: "_id", Value: Eq(id)}}, m.holds(key)),
				Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: m.path, Value: m.distinct("$"+m.path, key, keep)}}}}},
			},
		})
	}
	p.Leaves = "some documents still with repeated keys, which the next check finds"
	return p
}

// distinct is an array with one element of the key, or those that differ.
func (m *embedding) distinct(array string, key bson.RawValue, keep KeepElement) any {
	again := bson.A{"$$this." + m.key, "$$value." + m.key}
	if keep == KeepDistinct {
		again = bson.A{"$$this", "$$value"}
	}
	reverse := func(v any) any {
		if keep == KeepLast {
			return bson.D{{Key: "$reverseArray", Value: v}}
		}
		return v
	}
	return reverse(bson.D{{Key: "$reduce", Value: bson.D{
		{Key: "input", Value: reverse(array)}, {Key: "initialValue", Value: bson.A{}},
		{Key: "in", Value: bson.D{{Key: "$cond", Value: bson.A{
			bson.D{{Key: "$and", Value: bson.A{
				bson.D{{Key: "$eq", Value: bson.A{"$$this." + m.key, bson.D{{Key: "$literal", Value: key}}}}}, bson.D{{Key: "$in", Value: again}},
			}}},
			"$$value", bson.D{{Key: "$concatArrays", Value: bson.A{"$$value", bson.A{"$$this"}}}},
		}}}},
	}}})
}

func (m *embedding) trim(keep KeepElement) Write {
	n := m.max
	switch {
	case m.max == 0:
		return m.refuse(m.path, nil, "the array has no Max")
	case keep == KeepLast:
		n = -n
	case keep != KeepFirst:
		return m.refuse("keep", nil, "Trim needs KeepFirst or KeepLast")
	}
	return Write{Collection: m.decl.name, Once: true, Model: &mongo.UpdateManyModel{
		Filter: m.beyond(m.max, true),
		Update: bson.D{{Key: "$push", Value: bson.D{{Key: m.path, Value: bson.D{{Key: "$each", Value: bson.A{}}, {Key: "$slice", Value: n}}}}}},
	}}
}
