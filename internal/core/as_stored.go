package core

import (
	"bytes"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A scope adds fields to documents after a technique made the plan, so the technique
// can't know the fields. An [AsStored] filter and a [Placed] value stand for documents
// that the plan stores. [WithAdditions] tells them the fields.

// Additions are the top-level fields that a scope adds to the documents of a collection:
// Insert to new documents without the field, and Set in each write.
type Additions struct{ Insert, Set bson.D }

// AsStored returns the filter for a document that the plan stores in the collection as
// doc, whose type has this shape. It compares like [Shape.AsRead], without the fields
// that scopes add.
func (s Shape) AsStored(collection string, doc bson.Raw) bson.D {
	return asRead(doc, storedAs{collection: collection, shape: s, doc: bytes.Clone(doc)})
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
	return Placed{collection: collection, doc: bytes.Clone(doc), set: slices.Clone(set)}
}

// Document returns the document as it is stored.
func (p Placed) Document() (bson.Raw, error) {
	if p.set == nil {
		doc := p.doc
		for _, a := range p.added {
			var err error
			if doc, err = a.Inserted(doc); err != nil {
				return nil, err
			}
		}
		return doc, nil
	}
	set := slices.Clone(p.set)
	for _, a := range p.added {
		set = append(slices.DeleteFunc(set, func(e bson.E) bool { return has(a.Set, e.Key) }), a.Set...)
	}
	return SetFields(p.doc, InServerOrder(set))
}

func (p Placed) MarshalBSONValue() (byte, []byte, error) {
	doc, err := p.Document()
	return byte(bson.TypeEmbeddedDocument), doc, err
}

// InServerOrder returns the fields of a $set in the order in which the server appends
// those that the document lacks: by their names, level by level.
func InServerOrder(set bson.D) bson.D {
	set = slices.Clone(set)
	slices.SortStableFunc(set, func(a, b bson.E) int { return slices.Compare(strings.Split(a.Key, "."), strings.Split(b.Key, ".")) })
	return set
}

// Inserted returns a new document with the fields.
func (a Additions) Inserted(doc bson.Raw) (bson.Raw, error) {
	elems, err := doc.Elements()
	if err != nil {
		return nil, err
	}
	var out []byte
	for _, e := range elems {
		if !has(a.Set, e.Key()) {
			out = append(out, e...)
		}
	}
	for _, f := range slices.Concat(a.Insert, a.Set) {
		if doc.Lookup(f.Key).Type != 0 && !has(a.Set, f.Key) {
			continue
		}
		one, err := bson.Marshal(bson.D{f})
		if err != nil {
			return nil, err
		}
		out = append(out, one[4:len(one)-1]...)
	}
	n := len(out) + 5
	head := []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}
	return bson.Raw(slices.Concat(head, out, []byte{0})), nil
}

func has(d bson.D, key string) bool {
	return slices.ContainsFunc(d, func(e bson.E) bool { return e.Key == key })
}

// WithAdditions returns a filter or an update in which documents of the plan have a
// scope's fields. of returns the additions of a collection.
func WithAdditions[T any](v T, of func(collection string) Additions) T {
	if out, ok := added(v, of).(T); ok {
		return out
	}
	return v
}

// added returns nil if nothing changes.
func added(v any, of func(collection string) Additions) any {
	switch v := v.(type) {
	case storedAs:
		a := of(v.collection)
		v.added = slices.Clone(v.added)
		for _, e := range slices.Concat(a.Insert, a.Set) {
			v.added = append(v.added, e.Key)
		}
		return v
	case Placed:
		v.added = append(slices.Clone(v.added), of(v.collection))
		return v
	case bson.D:
		var out bson.D
		for i, e := range v {
			if now := added(e.Value, of); now != nil {
				if out == nil {
					out = slices.Clone(v)
				}
				out[i].Value = now
			}
		}
		if out != nil {
			return out
		}
	case bson.A:
		var out bson.A
		for i, e := range v {
			if now := added(e, of); now != nil {
				if out == nil {
					out = slices.Clone(v)
				}
				out[i] = now
			}
		}
		if out != nil {
			return out
		}
	}
	return nil
}
