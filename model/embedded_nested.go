package model

import (
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Nested is an array of small documents in each element of an [Embedded] array: the phones of each address of a person. One of
// them is named by two keys, its element's and its own; writes reach it by two array filters, without reading the document. It is read
// with its element, by the queries of the Embedded. Make it with [NewNested].
type Nested[K, F any] struct {
	n *nesting
}

// nesting is what of a Nested doesn't depend on types.
type nesting struct {
	outer *embedding
	in    *embedding // its path is the whole one, from the document
	path  string     // of the array within an element
}

// NewNested declares that the array at a path within the elements of an Embedded holds elements of type F. It panics with a
// [*DeclarationError] for what [NewEmbedded] panics for.
func NewNested[F, D, K, E any](outer *Embedded[D, K, E], path string, spec EmbeddedSpec) *Nested[K, F] {
	if outer == nil || outer.m == nil {
		panic(&DeclarationError{"a nil Embedded", fmt.Sprintf("NewNested, path %q", path), "declare it with NewEmbedded"})
	}
	return &Nested[K, F]{newNesting(outer.m, reflect.TypeFor[F](), path, spec)}
}

func newNesting(outer *embedding, elem reflect.Type, path string, spec EmbeddedSpec) *nesting {
	full := outer.path + "." + path
	place := fmt.Sprintf("NewNested of %s.%s", outer.decl.name, full)
	fail := func(problem, remedy string) { panic(&DeclarationError{problem, place, remedy}) }
	f := outer.decl.mustField(full)
	m := &embedding{decl: outer.decl, path: full, key: spec.Key}
	switch m.typ = outer.decl.elementType(place, f, elem); {
	case f.nullParent != "":
		fail(fmt.Sprintf("a nil value at %q is stored as null, below which $push fails", f.nullParent), "tag that field omitempty, or declare it as a struct")
	case f.Open && !f.list:
	case !f.IsArray() || f.Arrays != 2:
		fail(fmt.Sprintf("path %q is no array of the elements of %s", full, outer.path), "name a slice field of the elements, that no other array is around")
	case f.StoresNull():
		fail(fmt.Sprintf("a nil slice at %q is stored as null, on which $push fails", full), "tag the field omitempty")
	case Overlap(path, outer.key):
		fail("the array holds its elements' key", "name another field")
	}
	m.checkKeyPath(place, full, max(f.Arrays, 2))
	m.checkBound(place, spec)
	m.indexes = outer.decl.checkIndexes(place, full, spec.Indexes)
	return &nesting{outer, m, path}
}

// Add returns the write that appends elements to the array of the parent's element with the key, all or none. Running it gives
// [ErrElementMissing] when the parent holds no such element, and else what [Embedded.Add] gives.
//
// Cost: one command, one document, found by _id; up to four reads more when nothing matched.
func (n *Nested[K, F]) Add(parent K, key any, elements ...F) Write {
	list := make([]any, len(elements))
	for i := range elements {
		list[i] = elements[i]
	}
	return n.n.add(parent, key, list)
}

// Set returns the write that gives fields of the inner element with the second key, in the element with the first, new values.
// Running it gives [ErrElementMissing] when one of both is not there, [ErrStale] when there is no parent. It is idempotent.
//
// Cost: one command, one document, found by _id; one read more when nothing matched.
func (n *Nested[K, F]) Set(parent K, key, inner any, fields bson.D) Write {
	return n.n.update(parent, key, inner, bson.D{{Key: "$set", Value: fields}})
}

// Update returns the write that applies operators to one inner element, with the errors of [Nested.Set] and the operators of
// [Embedded.Update].
//
// Cost: one command, one document, found by _id; one read more when nothing matched. Consistency: one atomic update of the parent.
func (n *Nested[K, F]) Update(parent K, key, inner any, update bson.D) Write {
	return n.n.update(parent, key, inner, update)
}

// Remove returns the write that takes inner elements out of one element; those that it doesn't hold are passed over. Running it
// gives [ErrElementMissing] when the parent holds no such element. It is idempotent.
//
// Cost: one command, one document, found by _id; one read more when nothing matched.
func (n *Nested[K, F]) Remove(parent K, key any, inner ...any) Write {
	return n.n.remove(parent, key, inner)
}

// Indexes returns the indexes that the spec asks for. Nothing here needs one: writes find the document by its _id, and checks read all.
func (n *Nested[K, F]) Indexes() []Index { return n.n.in.allIndexes()[1:] }

// Relations returns none: the elements live in their parent.
func (n *Nested[K, F]) Relations() []Relation { return nil }

// inElement is the condition that an element of the key fulfils others too.
func (n *nesting) inElement(key bson.RawValue, more ...bson.D) bson.D {
	c := bson.D{{Key: n.outer.key, Value: Eq(key)}}
	for _, m := range more {
		c = And(c, m)
	}
	return n.outer.matching(c)
}

func (n *nesting) add(parent, key any, list []any) Write {
	byID, err := n.outer.byParent(parent)
	if err != nil {
		return Refused(n.in.decl.name, err)
	}
	k, err := n.outer.elementKey(key)
	if err != nil {
		return Refused(n.in.decl.name, err)
	}
	elems, keys, err := n.in.elements(list)
	if err != nil {
		return Refused(n.in.decl.name, err)
	}
	if n.in.max > 0 && len(elems) > n.in.max {
		return n.in.refuse(n.in.path, len(elems), fmt.Sprintf("are more elements than the %d that the array may have", n.in.max))
	}
	inner := n.path + "." + n.in.key
	guard := []bson.D{{{Key: inner, Value: noneOf(keys)}}}
	w := Write{
		Collection: n.in.decl.name, Expect: One, Once: true, Index: IDIndex,
		Reasons: []Reason{
			{If: And(byID, n.inElement(k, bson.D{{Key: inner, Value: bson.D{{Key: "$in", Value: keys}}}})), Err: ErrElementExists},
		},
	}
	if n.in.max > 0 {
		room := n.in.max - len(elems)
		guard = append(guard, beyond(n.path, room, false))
		w.Reasons = append(w.Reasons, Reason{If: And(byID, n.inElement(k, beyond(n.path, room, true))), Err: ErrArrayFull})
	}
	w.Reasons = append(w.Reasons, Reason{If: byID, Err: ErrElementMissing})
	var held []bson.D
	for _, v := range elems {
		held = append(held, bson.D{{Key: n.path, Value: Eq(v)}})
	}
	w.Done = And(byID, n.inElement(k, held...))
	w.Model = &mongo.UpdateOneModel{
		Filter: And(byID, n.inElement(k, guard...)), ArrayFilters: []any{n.outerFilter(k)},
		Update: bson.D{{Key: "$push", Value: bson.D{{Key: n.outer.path + ".$[e]." + n.path, Value: pushed(elems)}}}},
	}
	return w
}

// outerFilter is the array filter that finds the element e of the key.
func (n *nesting) outerFilter(key bson.RawValue) bson.D {
	return bson.D{{Key: "e." + n.outer.key, Value: Eq(key)}}
}

func (n *nesting) update(parent, key, inner any, update bson.D) Write {
	byID, err := n.outer.byParent(parent)
	if err != nil {
		return Refused(n.in.decl.name, err)
	}
	k, err := n.outer.elementKey(key)
	if err != nil {
		return Refused(n.in.decl.name, err)
	}
	ik, err := n.in.elementKey(inner)
	if err != nil {
		return Refused(n.in.decl.name, err)
	}
	u, err := n.in.decl.operators(update, n.in.path, 2, n.outer.path+".$[e]."+n.path+".$[n]", n.in.key)
	if err != nil {
		return Refused(n.in.decl.name, err)
	}
	return Write{
		Collection: n.in.decl.name, Expect: One, Once: idempotent(u), Index: IDIndex,
		Reasons: []Reason{{If: byID, Err: ErrElementMissing}},
		Model: &mongo.UpdateOneModel{
			Filter: And(byID, n.inElement(k, bson.D{{Key: n.path + "." + n.in.key, Value: Eq(ik)}})), Update: u,
			ArrayFilters: []any{n.outerFilter(k), bson.D{{Key: "n." + n.in.key, Value: Eq(ik)}}},
		},
	}
}

func (n *nesting) remove(parent, key any, inner []any) Write {
	k, err := n.outer.elementKey(key)
	if err != nil {
		return Refused(n.in.decl.name, err)
	}
	in, err := n.in.elementKeys(inner)
	if err != nil {
		return Refused(n.in.decl.name, err)
	}
	pull := bson.D{{Key: n.in.key, Value: bson.D{{Key: "$in", Value: in}}}}
	return n.outer.toElement(parent, k, bson.D{{Key: "$pull", Value: bson.D{{Key: n.outer.path + ".$[e]." + n.path, Value: pull}}}}, true)
}
