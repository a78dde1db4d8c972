package core

import (
	"bytes"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A scope adds fields to documents after a technique made the plan, so the technique
// can't know the fields. An [AsStored] filter and a [Placed] value stand for documents
// that the plan stores. [WithAdditions] tells them the fields.
//
// For example, a plan inserts {_id: 7, n: 1} and pushes the document into a list of another
// document. Under a scope with the tenant "a" the server then has
//
//	{_id: 7, n: 1, tenant: "a"}                        by the scope's change of the insert
//	{_id: "x", list: [{_id: 7, n: 1, tenant: "a"}]}    by WithAdditions, from a Placed value
//
// Both types are bson.ValueMarshalers: without a scope they are encoded as they were made.

// Additions are the top-level fields that a scope adds to the documents of a collection:
// Insert to new documents without the field, and Set in each write.
type Additions struct{ Insert, Set bson.D }

// Scoping is what the scopes of a database do to the documents of a collection. Jobs need it:
// they compare stored documents with documents that they compute ([ScopingOf]).
type Scoping struct {
	Additions
	Mark bson.D // fields that mark deleted documents, or nil if deleted documents are removed
}

// AsStored returns the filter for a document that the plan stores in the collection as
// doc, whose type has this shape. It compares like [Shape.AsRead], without the fields
// that scopes add. Plans use it to find out whether a write was done already, and to take
// back a copy.
func (s Shape) AsStored(collection string, doc bson.Raw) bson.D {
	return matchIDAndExpr(doc, storedAs{collection: collection, shape: s, doc: bytes.Clone(doc)})
}

// AsStored is [Shape.AsStored] for a whole document.
func AsStored(collection string, doc bson.Raw) bson.D { return Shape{}.AsStored(collection, doc) }

// storedAs is the expression of AsStored. It stays a value until the driver encodes the filter,
// so that each scope on the way can add names.
type storedAs struct {
	collection string
	shape      Shape
	doc        bson.Raw
	added      []string // the names of the scopes' fields
}

// MarshalBSONValue encodes the condition.
func (e storedAs) MarshalBSONValue() (byte, []byte, error) {
	raw, err := bson.Marshal(e.shape.condition(e.doc, e.added))
	return byte(bson.TypeEmbeddedDocument), raw, err
}

// Placed is a document that the plan stores, as a value in another document.
type Placed struct {
	collection string
	doc        bson.Raw
	set        bson.D      // nil if doc is inserted
	added      []Additions // of the scopes, in the order in which WithAdditions added them
}

// PlaceInserted returns a document that the plan inserts.
func PlaceInserted(collection string, doc bson.Raw) Placed {
	return Placed{collection: collection, doc: bytes.Clone(doc)}
}

// PlaceUpdated returns a document in which the plan sets fields, at paths that cross no
// array. set may be in any order: the document gets new fields in a server's order.
func PlaceUpdated(collection string, doc bson.Raw, set bson.D) Placed {
	return Placed{collection: collection, doc: bytes.Clone(doc), set: append(bson.D{}, set...)}
}

// document returns the document as it is stored. Scopes add their Insert fields only to an
// inserted document. Their Set fields replace the fields that the plan sets.
func (p Placed) document() (bson.Raw, error) {
	if p.set == nil {
		doc := p.doc
		for _, a := range p.added {
			var err error
			if doc, err = a.AddTo(doc); err != nil {
				return nil, err
			}
		}
		return doc, nil
	}
	set := slices.Clone(p.set)
	for _, a := range p.added {
		set = append(slices.DeleteFunc(set, func(e bson.E) bool { return bsonval.Index(a.Set, e.Key) >= 0 }), a.Set...)
	}
	return SetFields(p.doc, sortAsServer(set))
}

// MarshalBSONValue encodes the document.
func (p Placed) MarshalBSONValue() (byte, []byte, error) {
	doc, err := p.document()
	return byte(bson.TypeEmbeddedDocument), doc, err
}

// sortAsServer returns the fields of a $set in the order in which the server appends
// new fields: by their names, level by level, and names of digits by their numbers
// (https://www.mongodb.com/docs/manual/reference/operator/update/set/#behavior).
func sortAsServer(set bson.D) bson.D {
	set = slices.Clone(set)
	slices.SortStableFunc(set, func(a, b bson.E) int {
		return bsonval.ComparePaths(bsonval.ParsePath(a.Key), bsonval.ParsePath(b.Key))
	})
	return set
}

// AddTo returns a new document with the fields, as the scope inserts it: fields of Set replace
// fields of the document, fields of Insert don't. New fields come last.
func (a Additions) AddTo(doc bson.Raw) (bson.Raw, error) {
	elems, err := doc.Elements()
	if err != nil {
		return nil, err
	}
	out := make([]byte, 4, len(doc))
	for _, e := range elems {
		if bsonval.Index(a.Set, e.Key()) < 0 {
			out = append(out, e...)
		}
	}
	for _, f := range slices.Concat(a.Insert, a.Set) {
		if doc.Lookup(f.Key).Type != 0 && bsonval.Index(a.Set, f.Key) < 0 {
			continue
		}
		if out, err = (*Codec)(nil).AppendElement(out, f.Key, f.Value); err != nil {
			return nil, err
		}
	}
	return EndDocument(out, 0), nil
}

// WithAdditions returns a filter or an update in which documents of the plan have a
// scope's fields. If it contains no such document, ok is false. of returns the additions
// of a collection. Package model calls it once for each scope (model/scope_fields.go). The
// given value is not changed: the result is a copy as far as it differs.
func WithAdditions(v any, of func(collection string) Additions) (out any, ok bool) {
	if CheckDepth(v) != nil {
		return nil, false // refused when it is encoded
	}
	return addToValue(v, of)
}

// addToValue is WithAdditions for a value of limited depth.
func addToValue(v any, of func(collection string) Additions) (out any, ok bool) {
	switch v := v.(type) {
	case storedAs:
		a := of(v.collection)
		v.added = slices.Clone(v.added)
		for _, e := range slices.Concat(a.Insert, a.Set) {
			v.added = append(v.added, e.Key)
		}
		return v, true
	case Placed:
		v.added = append(slices.Clone(v.added), of(v.collection))
		return v, true
	case bson.D:
		return addToList(v, func(e *bson.E) *any { return &e.Value }, of)
	case bson.A:
		return addToList(v, func(e *any) *any { return e }, of)
	}
	return nil, false
}

// addToList is addToValue for the values of a document or array. value returns the address of
// an element's value.
func addToList[L ~[]E, E any](list L, value func(*E) *any, of func(collection string) Additions) (any, bool) {
	var out L
	for i := range list {
		now, ok := addToValue(*value(&list[i]), of)
		if !ok {
			continue
		}
		if out == nil {
			out = slices.Clone(list)
		}
		*value(&out[i]) = now
	}
	if out == nil {
		return nil, false // nearly all writes end here, without an allocation
	}
	return out, true
}
