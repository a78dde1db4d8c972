package core

import (
	"bytes"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A scope adds fields to documents after a technique made the plan, so the technique
// can't know the fields. An [AsStored] filter and a [Placed] value stand for documents
// that the plan stores. [WithAdditions] tells them the fields.

// Additions are the top-level fields that a scope adds to the documents of a collection:
// Insert to new documents without the field, and Set in each write.
type Additions struct{ Insert, Set bson.D }

// Scoping is what the scopes of a database do to the documents of a collection.
type Scoping struct {
	Additions
	Mark bson.D // fields of deleted documents that stay, hidden; nil if deleted documents go
}

// AsStored returns the filter for a document that the plan stores in the collection as
// doc, whose type has this shape. It compares like [Shape.AsRead], without the fields
// that scopes add.
func (s Shape) AsStored(collection string, doc bson.Raw) bson.D {
	return matchIDAndExpr(doc, storedAs{collection: collection, shape: s, doc: bytes.Clone(doc)})
}

// AsStored is [Shape.AsStored] for a whole document.
func AsStored(collection string, doc bson.Raw) bson.D { return Shape{}.AsStored(collection, doc) }

// storedAs is the expression of AsStored.
type storedAs struct {
	collection string
	shape      Shape
	doc        bson.Raw
	added      []string
}

func (e storedAs) MarshalBSONValue() (byte, []byte, error) {
	raw, err := bson.Marshal(e.shape.condition(e.doc, e.added))
	return byte(bson.TypeEmbeddedDocument), raw, err
}

// Placed is a document that the plan stores, as a value in another document.
type Placed struct {
	collection string
	doc        bson.Raw
	set        bson.D // nil if doc is inserted
	added      []Additions
}

// PlaceInserted returns a document that the plan inserts.
func PlaceInserted(collection string, doc bson.Raw) Placed {
	return Placed{collection: collection, doc: bytes.Clone(doc)}
}

// PlaceUpdated returns a document in which the plan sets fields, at paths that cross no
// array.
func PlaceUpdated(collection string, doc bson.Raw, set bson.D) Placed {
	return Placed{collection: collection, doc: bytes.Clone(doc), set: append(bson.D{}, set...)}
}

// document returns the document as it is stored.
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

func (p Placed) MarshalBSONValue() (byte, []byte, error) {
	doc, err := p.document()
	return byte(bson.TypeEmbeddedDocument), doc, err
}

// sortAsServer returns the fields of a $set in the order in which the server appends
// those that the document lacks: by their names, level by level.
func sortAsServer(set bson.D) bson.D {
	set = slices.Clone(set)
	slices.SortStableFunc(set, func(a, b bson.E) int {
		return slices.Compare(strings.Split(a.Key, "."), strings.Split(b.Key, "."))
	})
	return set
}

// AddTo returns a new document with the fields.
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
// of a collection.
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

// addToList is addToValue for the values of a document or array.
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
		return nil, false // without an allocation: nearly all writes
	}
	return out, true
}
