package model

import (
	"bytes"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A RepeatedInner is a key that stands more than once in the array of one element, which writes of [Nested] never make and other code
// may have made.
type RepeatedInner struct {
	ID    bson.RawValue `bson:"id"`  // of the parent
	In    bson.RawValue `bson:"in"`  // the key of the element that has the array
	Key   bson.RawValue `bson:"key"` // of the inner elements
	Times int64         `bson:"times"`
}

// Repeated returns the keys that stand more than once in one inner array, in the order of parents and keys, as [Embedded.Repeated].
// The arrays of elements that have no key themselves are left out: [Embedded.Malformed] finds those.
//
// Cost: one command that reads every parent.
func (n *Nested[K, F]) Repeated() (a Aggregate[RepeatedInner]) {
	n.n.in.decl.aggregation(&a.Aggregation, nil)
	a.Pipeline = n.n.repeated()
	return a
}

// Repair returns the plan that leaves one element for each key that [Nested.Repeated] found, as [Embedded.Repair].
//
// Cost: one command for up to 25,000 findings; one document for each.
func (n *Nested[K, F]) Repair(found []RepeatedInner, keep KeepElement) Plan {
	return n.n.repair(found, keep)
}

// Oversized returns the query of the parents that have an element with more than Max inner ones. It is refused without a Max.
//
// Cost: one command that reads every parent; no index can serve it.
func (n *Nested[K, F]) Oversized() (f Find[bson.Raw]) {
	m := n.n.in
	m.decl.query(&f.Query, nil)
	if m.max == 0 {
		f.Err = m.refused(m.path, nil, "the array has no Max")
		return f
	}
	f.Filter = n.n.outer.matching(beyond(n.n.path, m.max, true))
	return f
}

// Trim returns the write that brings every oversized inner array back to Max elements, as [Embedded.Trim].
//
// Cost: one command that reads every parent and writes those that have one.
func (n *Nested[K, F]) Trim(keep KeepElement) Write { return n.n.trim(keep) }

// Malformed returns the query of the documents that have an element whose inner array is none, or holds what no write by key reaches,
// as [Embedded.Malformed]. An element without the array is as it should be.
//
// Cost: one command that reads every parent.
func (n *Nested[K, F]) Malformed() (f Find[bson.Raw]) {
	n.n.in.decl.query(&f.Query, nil)
	var ways bson.A
	for _, c := range n.n.in.malformedAt(n.n.path) {
		ways = append(ways, n.n.outer.matching(c.(bson.D)))
	}
	f.Filter = bson.D{{Key: "$or", Value: ways}}
	return f
}

// RepairNull returns the write that makes every inner array that is stored as null an empty one. It can be run again.
//
// Cost: one command that reads every parent and writes those that have one.
func (n *Nested[K, F]) RepairNull() Write {
	null := func(prefix string) bson.D {
		return bson.D{{Key: prefix + n.n.path, Value: bson.D{{Key: "$type", Value: "null"}, {Key: "$not", Value: bson.D{{Key: "$type", Value: "array"}}}}}}
	}
	return n.n.everywhere(null, bson.D{{Key: "$set", Value: bson.D{{Key: n.n.inEach(), Value: bson.A{}}}}})
}

// inEach is the inner arrays of the elements e.
func (n *nesting) inEach() string { return n.outer.path + ".$[e]." + n.path }

// everywhere updates the elements e of all documents that fulfil a condition on their fields, under the given prefix.
func (n *nesting) everywhere(cond func(prefix string) bson.D, update bson.D) Write {
	return Write{Collection: n.in.decl.name, Once: true, Model: &mongo.UpdateManyModel{
		Filter: n.outer.matching(cond("")), ArrayFilters: []any{cond("e.")}, Update: update,
	}}
}

func (n *nesting) trim(keep KeepElement) Write {
	m := n.in
	slice := m.max
	switch {
	case m.max == 0:
		return m.refuse(m.path, nil, "the array has no Max")
	case keep == KeepLast:
		slice = -slice
	case keep != KeepFirst:
		return m.refuse("keep", nil, "Trim needs KeepFirst or KeepLast")
	}
	return n.everywhere(func(prefix string) bson.D { return beyond(prefix+n.path, m.max, true) },
		bson.D{{Key: "$push", Value: bson.D{{Key: n.inEach(), Value: bson.D{{Key: "$each", Value: bson.A{}}, {Key: "$slice", Value: slice}}}}}})
}

// repeated counts keys in each array by its element's place, for two elements may have one key.
func (n *nesting) repeated() mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "e", Value: "$" + n.outer.path}}}},
		{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$e"}, {Key: "includeArrayIndex", Value: "at"}}}},
		{{Key: "$match", Value: isKey("$e." + n.outer.key)}},
		{{Key: "$project", Value: bson.D{{Key: "at", Value: 1}, {Key: "in", Value: "$e." + n.outer.key}, {Key: "n", Value: "$e." + n.path}}}},
		{{Key: "$unwind", Value: "$n"}},
		{{Key: "$match", Value: isKey("$n." + n.in.key)}},
		{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: bson.D{{Key: "id", Value: "$_id"}, {Key: "at", Value: "$at"}, {Key: "in", Value: "$in"}, {Key: "key", Value: "$n." + n.in.key}}},
			{Key: "times", Value: bson.D{{Key: "$sum", Value: 1}}},
		}}},
		{{Key: "$match", Value: bson.D{{Key: "times", Value: bson.D{{Key: "$gt", Value: 1}}}}}},
		{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: bson.D{{Key: "id", Value: "$_id.id"}, {Key: "in", Value: "$_id.in"}, {Key: "key", Value: "$_id.key"}}},
			{Key: "times", Value: bson.D{{Key: "$max", Value: "$times"}}},
		}}},
		{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "id", Value: "$_id.id"}, {Key: "in", Value: "$_id.in"}, {Key: "key", Value: "$_id.key"}, {Key: "times", Value: 1},
		}}},
		{{Key: "$sort", Value: bson.D{{Key: "id", Value: 1}, {Key: "in", Value: 1}, {Key: "key", Value: 1}}}},
	}
}

func (n *nesting) repair(found []RepeatedInner, keep KeepElement) Plan {
	var p Plan
	for i, r := range found {
		if r.ID.Type == 0 || !tellsApart(r.In) || !tellsApart(r.Key) || keep > KeepLast {
			return RefusedPlan(n.in.decl.name, n.in.refused(fmt.Sprintf("found[%d]", i), nil, "needs an id, two keys and a KeepElement"))
		}
		own := func(v bson.RawValue) bson.RawValue { return bson.RawValue{Type: v.Type, Value: bytes.Clone(v.Value)} }
		in, key := own(r.In), own(r.Key)
		p.Steps = append(p.Steps, Write{
			Collection: n.in.decl.name, Index: IDIndex, Once: true,
			Model: &mongo.UpdateOneModel{
				Filter: And(bson.D{{Key: "_id", Value: Eq(own(r.ID))}}, n.inElement(in, bson.D{{Key: n.path + "." + n.in.key, Value: Eq(key)}})),
				Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: n.outer.path, Value: n.distinct(in, key, keep)}}}}},
			},
		})
	}
	p.Leaves = "some documents still with repeated keys, which the next check finds"
	return p
}

// distinct is the outer array, the inner arrays of elements with a key having one element of another key, or those that differ.
func (n *nesting) distinct(in, key bson.RawValue, keep KeepElement) any {
	inner := "$$o." + n.path
	return bson.D{{Key: "$map", Value: bson.D{{Key: "input", Value: "$" + n.outer.path}, {Key: "as", Value: "o"}, {Key: "in", Value: bson.D{{Key: "$cond", Value: bson.A{
		bson.D{{Key: "$and", Value: bson.A{
			bson.D{{Key: "$eq", Value: bson.A{"$$o." + n.outer.key, bson.D{{Key: "$literal", Value: in}}}}}, bson.D{{Key: "$isArray", Value: bson.A{inner}}},
		}}},
		withValue("$$o", n.path, n.in.distinct(inner, key, keep)), "$$o",
	}}}}}}}
}

// withValue is a document with another value at a path.
func withValue(doc, path string, v any) bson.D {
	name, rest, deeper := strings.Cut(path, ".")
	if deeper {
		v = withValue(doc+"."+name, rest, v)
	}
	return bson.D{{Key: "$mergeObjects", Value: bson.A{doc, bson.D{{Key: name, Value: v}}}}}
}
