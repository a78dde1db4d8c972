package model

import (
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// EmbeddedOne is one document within another: the home address of a person, in person.home. Make it with [NewEmbeddedOne].
type EmbeddedOne[D, K, E any] struct {
	s *subdocument
}

// subdocument is what of an EmbeddedOne doesn't depend on types.
type subdocument struct {
	decl    *declaration
	path    string
	indexes []bson.D
}

// NewEmbeddedOne declares that a path of c's documents holds one document of type E, or none. indexes are keys of indexes, by
// paths within it: {city: 1}. It panics with a [*DeclarationError] when the path doesn't exist, is or crosses an array, or holds
// no document of type E; when a document above it can be stored as null, below which $set fails; when an index names a field that
// E doesn't have.
func NewEmbeddedOne[E, D, K any](c *Collection[D, K], path string, indexes ...bson.D) *EmbeddedOne[D, K, E] {
	return &EmbeddedOne[D, K, E]{newSubdocument(declOf(c), reflect.TypeFor[E](), path, indexes)}
}

func newSubdocument(c *declaration, elem reflect.Type, path string, indexes []bson.D) *subdocument {
	place := fmt.Sprintf("NewEmbeddedOne of %s.%s", c.orZero().name, path)
	f := c.mustField(path)
	switch {
	case f.Arrays > 0:
		panic(&DeclarationError{fmt.Sprintf("path %q is or crosses an array", path), place, "declare the array with NewEmbedded"})
	case f.nullParent != "":
		panic(&DeclarationError{
			fmt.Sprintf("a nil value at %q is stored as null, below which $set fails", f.nullParent), place,
			"tag that field omitempty, or declare it as a struct",
		})
	case Overlap(path, "_id"):
		panic(&DeclarationError{"the path is within _id, which can't change", place, "name another field"})
	}
	c.elementType(place, f, elem)
	return &subdocument{c, path, c.checkIndexes(place, path, indexes)}
}

// Put returns the write that stores a parent's subdocument, whether there was one or not. It overwrites whatever changed in it since
// it was read. The parent must exist: else running it gives [ErrStale]. It is idempotent.
//
// Cost: one command, one document, found by _id.
func (o *EmbeddedOne[D, K, E]) Put(parent K, doc E) (w Write) {
	o.s.put(&w, parent, doc)
	return w
}

// Create returns the write that stores a subdocument where there is none, or null. Running it gives [ErrElementExists] when there
// is another, and [ErrStale] when there is no parent; an equal one counts as written before.
//
// Cost: one command, one document, found by _id; two reads more when nothing matched.
func (o *EmbeddedOne[D, K, E]) Create(parent K, doc E) Write { return o.s.create(parent, doc) }

// Set returns the write that gives fields of a parent's subdocument new values. Running it gives [ErrElementMissing] when there is
// none, so that no half of one is made, and [ErrStale] when there is no parent. It is idempotent.
//
// Cost: one command, one document, found by _id; one read more when nothing matched.
func (o *EmbeddedOne[D, K, E]) Set(parent K, fields bson.D) Write {
	return o.s.update(parent, bson.D{{Key: "$set", Value: fields}})
}

// Update returns the write that applies operators to a parent's subdocument, as [Embedded.Update] does to an element. Running it
// gives [ErrElementMissing] when there is none, [ErrStale] when there is no parent.
//
// Cost: one command, one document, found by _id; one read more when nothing matched. Consistency: one atomic update of the parent.
func (o *EmbeddedOne[D, K, E]) Update(parent K, update bson.D) Write {
	return o.s.update(parent, update)
}

// Unset returns the write that takes a parent's subdocument away. The parent must exist. It is idempotent.
//
// Cost: one command, one document, found by _id.
func (o *EmbeddedOne[D, K, E]) Unset(parent K) (w Write) {
	o.s.decl.update(&w, parent, bson.D{{Key: "$unset", Value: bson.D{{Key: o.s.path, Value: ""}}}})
	return w
}

// Having returns the query of the parents whose subdocument fulfils conditions on its fields: {city: "Anytown"}. $and, $or and $nor
// of such may stand beside them.
//
// Cost: one command, served by an index of the declaration whose first field has a condition, if there is one.
func (o *EmbeddedOne[D, K, E]) Having(conditions bson.D) (f Find[D]) {
	o.s.having(&f.Query, conditions)
	return f
}

// Indexes returns those that the declaration asks for.
func (o *EmbeddedOne[D, K, E]) Indexes() []Index {
	var out []Index
	for _, keys := range o.s.indexes {
		x := o.s.index(keys)
		x.Why = o.s.decl.name + " by fields of " + o.s.path
		out = append(out, x)
	}
	return out
}

// Checks returns one check, of parents that store something else than a document at the path, or above it: below that $set
// fails. Null at the path itself is as good as nothing. No write mends it.
//
// Cost: it reads every parent, and no index serves it.
func (o *EmbeddedOne[D, K, E]) Checks() []Check { return o.s.checks() }

// Relations returns none: the subdocument lives in its parent.
func (o *EmbeddedOne[D, K, E]) Relations() []Relation { return nil }

func (s *subdocument) index(keys bson.D) Index {
	return (&embedding{decl: s.decl, path: s.path}).index(keys)
}

func (s *subdocument) checks() []Check {
	other := bson.D{{Key: s.path, Value: bson.D{{Key: "$exists", Value: true}, {Key: "$not", Value: bson.D{{Key: "$type", Value: bson.A{"object", "null"}}}}}}}
	list := bson.D{{Key: s.path, Value: bson.D{{Key: "$type", Value: "array"}}}} // of documents, which a condition on the type finds too
	ways := bson.A{other, list}
	for _, p := range above(s.path) {
		ways = append(ways, notDocument(p)...)
	}
	return []Check{{
		Name: s.decl.name + "." + s.path + ": not a document", Collection: s.decl.name, Rule: s.path + " is a document, or isn't there",
		Pipeline: finds(bson.D{{Key: "$or", Value: ways}}), Tell: says(s.path + " isn't a document"),
	}}
}

//go:noinline
func (s *subdocument) put(w *Write, parent, doc any) {
	v, err := s.decl.part(s.path, doc)
	if err != nil {
		*w = Refused(s.decl.name, err)
		return
	}
	s.decl.update(w, parent, bson.D{{Key: "$set", Value: bson.D{{Key: s.path, Value: v}}}})
}

func (s *subdocument) create(parent, doc any) (w Write) {
	byID, err := s.decl.idFilter(parent)
	if err != nil {
		return Refused(s.decl.name, err)
	}
	if s.put(&w, parent, doc); w.Err != nil {
		return w
	}
	m := w.Model.(*mongo.UpdateOneModel)
	v := m.Update.(bson.D)[0].Value.(bson.D)[0].Value
	m.Filter = And(byID, bson.D{{Key: s.path, Value: nil}})
	w.Once, w.Done = true, And(byID, bson.D{{Key: s.path, Value: Eq(v)}})
	w.Reasons = []Reason{{If: byID, Err: ErrElementExists}}
	return w
}

func (s *subdocument) update(parent any, update bson.D) Write {
	byID, err := s.decl.idFilter(parent)
	if err != nil {
		return Refused(s.decl.name, err)
	}
	u, err := s.decl.operators(update, s.path, 0, s.path, "")
	if err != nil {
		return Refused(s.decl.name, err)
	}
	return Write{
		Collection: s.decl.name, Expect: One, Once: idempotent(u), Index: IDIndex,
		Reasons: []Reason{{If: byID, Err: ErrElementMissing}},
		Model: &mongo.UpdateOneModel{
			Filter: And(byID, bson.D{{Key: s.path, Value: bson.D{{Key: "$type", Value: "object"}}}}), Update: u,
		},
	}
}

//go:noinline
func (s *subdocument) having(q *Query, cond bson.D) {
	s.decl.query(q, nil)
	c, err := s.decl.conditions(s.path, cond)
	if err == nil && len(c) == 0 {
		err = s.decl.refuse(s.path, nil, "no condition was given")
	}
	if q.Err = err; err != nil {
		return
	}
	q.Filter = prefixed(s.path, c)
	for _, keys := range s.indexes {
		if hasKey(c, keys[0].Key) {
			q.Index = s.index(keys).Name
			return
		}
	}
}
