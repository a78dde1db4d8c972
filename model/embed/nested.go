package embed

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Nested is an array in each element of an [Embedded] array: each address of a person has
// phones. To read inner arrays, query the outer Embedded. A missing outer element gives
// [ErrNoElement].
//
// # Indexes and checks
//
// Indexes returns the Indexes of the spec given to [NewNested].
//
// Checks returns the checks of [Embedded], for inner arrays, at the same cost.
type Nested[K, F any] struct {
	model.Parts

	n *nesting
}

// nesting is the non-generic core of a Nested.
type nesting struct {
	outer *embedding
	in    *embedding // its path is the full path in the document
	path  string     // of the array within an element
}

// NewNested declares that each element of outer has an array at path, with elements of
// type F. The spec's Key is a path within F. NewNested panics with a
// [*model.DeclarationError] in the cases of [NewEmbedded].
func NewNested[F, D, K, E any](outer *Embedded[D, K, E], path string, spec EmbeddedSpec) *Nested[K, F] {
	if outer == nil || outer.m == nil {
		core.Fail("the Embedded is nil", fmt.Sprintf("NewNested, path %q", path), "declare it with NewEmbedded")
	}
	out := &Nested[K, F]{model.Parts{}, newNesting(outer.m, reflect.TypeFor[F](), path, spec)}
	out.Parts = model.NewParts(out.indexes, nil, out.n.checks, out.n.footprints).WithDocs(outer.m.docs).
		WithReactions(func() []model.Reaction { return out.n.in.reactions("Nested", outer.m.path, out.n.checkNew) })
	return out
}

func newNesting(outer *embedding, elem reflect.Type, path string, spec EmbeddedSpec) *nesting {
	full := outer.path + "." + path
	place := core.Place(fmt.Sprintf("NewNested of %s.%s", outer.docs.Name(), full))
	f := outer.docs.MustField(full)
	m := &embedding{docs: outer.docs, path: full, key: spec.Key}
	switch m.typ = elementType(outer.docs, place, f, elem); {
	case f.NullParent() != "":
		place.Fail(fmt.Sprintf("a nil value at %q is stored as null, below which $push fails", f.NullParent()),
			"tag that field omitempty, or declare it as a struct")
	case f.Untyped && !f.IsArray():
	case !f.IsArray() || f.Arrays != 2:
		place.Fail(fmt.Sprintf("path %q isn't an array in the elements of %s", full, outer.path),
			"name a slice field of the elements that isn't in another array")
	case f.StoresNull():
		place.Fail(fmt.Sprintf("a nil slice at %q is stored as null, on which $push fails", full), "tag the field omitempty")
	case core.Overlap(path, outer.key):
		place.Fail("the array contains the key of its elements", "name another field")
	}
	m.checkKeyPath(place, full, max(f.Arrays, 2))
	m.checkBound(place, spec)
	m.indexes = checkIndexes(outer.docs, place, full, spec.Indexes)
	return &nesting{outer, m, path}
}

// Add appends elements to an inner array, all or none. The parameter key is the outer
// element's key. For errors, see [Nested] and [Embedded.Add].
//
// Cost: see [Embedded].
func (n *Nested[K, F]) Add(parent K, key any, elements ...F) model.Write {
	list := make([]any, len(elements))
	for i := range elements {
		list[i] = elements[i]
	}
	return n.n.add(parent, key, list)
}

// Update applies update operators to an inner element, as [Embedded.Update] does. The
// parameter key is the outer element's key. The parameter inner is the inner element's
// key. If one of these elements is missing, Update gives [ErrNoElement].
//
// Cost: see [Embedded].
func (n *Nested[K, F]) Update(parent K, key, inner any, update bson.D) model.Write {
	return n.n.update(parent, key, inner, update)
}

// Remove removes inner elements from the outer element with this key. As inner, pass the
// inner elements' keys. Missing inner elements are ignored. A missing outer element gives
// [ErrNoElement]. Remove is idempotent.
//
// Cost: see [Embedded].
func (n *Nested[K, F]) Remove(parent K, key any, inner ...any) model.Write {
	return n.n.remove(parent, key, inner)
}

func (n *Nested[K, F]) indexes() []model.Index { return n.n.in.allIndexes()[1:] }

// inElement is the condition that the element with this key matches further conditions.
func (n *nesting) inElement(key bson.RawValue, more ...bson.D) bson.D {
	c := bson.D{{Key: n.outer.key, Value: mql.Eq(key)}}
	for _, m := range more {
		c = bsondoc.JoinFilters(c, m)
	}
	return n.outer.matching(c)
}

func (n *nesting) add(parent, key any, list []any) model.Write {
	byID, err := n.outer.byParent(parent)
	if err != nil {
		return model.Refused(n.in.docs.Name(), err)
	}
	k, err := n.outer.elementKey(key)
	if err != nil {
		return model.Refused(n.in.docs.Name(), err)
	}
	elems, keys, err := n.in.elements(list)
	if err != nil {
		return model.Refused(n.in.docs.Name(), err)
	}
	if n.in.max > 0 && len(elems) > n.in.max {
		return model.Refused(n.in.docs.Name(), n.in.tooMany(len(elems)))
	}
	inner := n.path + "." + n.in.key
	guard := []bson.D{{{Key: inner, Value: noneOf(keys)}}}
	w := model.Write{
		Collection: n.in.docs.Name(), Expect: model.One, Idempotent: true, Index: model.IDIndex,
		Reasons: []model.Reason{
			{
				If: bsondoc.JoinFilters(byID,
					n.inElement(k, bson.D{{Key: inner, Value: bson.D{{Key: "$in", Value: keys}}}})),
				Err: errElementExists,
			},
		},
	}
	if n.in.max > 0 {
		room := n.in.max - len(elems)
		guard = append(guard, beyond(n.path, room, false))
		w.Reasons = append(w.Reasons, model.Reason{
			If:  bsondoc.JoinFilters(byID, n.inElement(k, beyond(n.path, room, true))),
			Err: errArrayFull,
		})
	}
	w.Reasons = append(w.Reasons, model.Reason{If: byID, Err: ErrNoElement})
	var held []bson.D
	for _, v := range elems {
		held = append(held, bson.D{{Key: n.path, Value: mql.Eq(v)}})
	}
	w.Done = bsondoc.JoinFilters(byID, n.inElement(k, held...))
	w.Model = &mongo.UpdateOneModel{
		Filter: bsondoc.JoinFilters(byID, n.inElement(k, guard...)), ArrayFilters: []any{n.outerFilter(k)},
		Update: bson.D{{Key: "$push", Value: bson.D{{Key: n.outer.path + ".$[e]." + n.path, Value: pushed(elems)}}}},
	}
	return w
}

// outerFilter is the array filter for the element e with this key.
func (n *nesting) outerFilter(key bson.RawValue) bson.D {
	return bson.D{{Key: "e." + n.outer.key, Value: mql.Eq(key)}}
}

func (n *nesting) update(parent, key, inner any, update bson.D) model.Write {
	byID, err := n.outer.byParent(parent)
	if err != nil {
		return model.Refused(n.in.docs.Name(), err)
	}
	k, err := n.outer.elementKey(key)
	if err != nil {
		return model.Refused(n.in.docs.Name(), err)
	}
	ik, err := n.in.elementKey(inner)
	if err != nil {
		return model.Refused(n.in.docs.Name(), err)
	}
	u, err := operators(n.in.docs, update, n.in.path, 2, n.outer.path+".$[e]."+n.path+".$[n]", n.in.key)
	if err != nil {
		return model.Refused(n.in.docs.Name(), err)
	}
	return model.Write{
		Collection: n.in.docs.Name(), Expect: model.One, Idempotent: mql.IsIdempotent(u), Index: model.IDIndex,
		Reasons: []model.Reason{{If: byID, Err: ErrNoElement}},
		Model: &mongo.UpdateOneModel{
			Filter:       bsondoc.JoinFilters(byID, n.inElement(k, bson.D{{Key: n.path + "." + n.in.key, Value: mql.Eq(ik)}})),
			Update:       u,
			ArrayFilters: []any{n.outerFilter(k), bson.D{{Key: "n." + n.in.key, Value: mql.Eq(ik)}}},
		},
	}
}

func (n *nesting) remove(parent, key any, inner []any) model.Write {
	k, err := n.outer.elementKey(key)
	if err != nil {
		return model.Refused(n.in.docs.Name(), err)
	}
	in, err := n.in.elementKeys(inner)
	if err != nil {
		return model.Refused(n.in.docs.Name(), err)
	}
	pull := bson.D{{Key: n.in.key, Value: bson.D{{Key: "$in", Value: in}}}}
	return n.outer.toElement(parent, k,
		bson.D{{Key: "$pull", Value: bson.D{{Key: n.outer.path + ".$[e]." + n.path, Value: pull}}}}, true)
}

func (n *nesting) footprints() []model.Footprint {
	return slices.Concat(model.Mends.In(n.in.docs.Name(), n.outer.path), n.in.footprints())
}
