package core

import (
	"cmp"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A StoreField is the field of a collection's documents in which stores keep what they must
// remember of a document: see [model.Store].
//
//	{_id: 7, name: "a", _m: {
//		hold: 3,              // transactions that relied on the document
//		op: {id: token, …},   // an unfinished action outside transactions, with gone if it deletes
//		ops: [token, …]       // the last actions that wrote the document
//	}}
//
// Package model writes it, and the reactions of techniques that refer to a document hold it. No
// technique and no caller sees the field: RemoveFrom takes it off documents that are read.
type StoreField string

// DefaultStoreField is the field of a collection that names no other.
const DefaultStoreField StoreField = "_m"

// Hold is the path of the number that transactions increment to hold a document.
func (f StoreField) Hold() string { return string(f) + ".hold" }

// Action is the path of an unfinished action.
func (f StoreField) Action() string { return string(f) + ".op" }

// Deletes is the path that an unfinished action has if it deletes the document.
func (f StoreField) Deletes() string { return string(f) + ".op.gone" }

// Tokens is the path of the tokens of the last actions that wrote the document.
func (f StoreField) Tokens() string { return string(f) + ".ops" }

// HoldUpdate returns the operators by which a transaction holds a document: it conflicts
// with all others that write the document.
func (f StoreField) HoldUpdate() bson.D {
	return bson.D{{Key: "$inc", Value: bson.D{{Key: f.Hold(), Value: int64(1)}}}}
}

// ActionIn returns a document's unfinished action.
func (f StoreField) ActionIn(doc bson.Raw) (action bson.Raw, ok bool) {
	return doc.Lookup(string(f), "op").DocumentOK()
}

// IsDeleting reports whether an unfinished action deletes the document.
func (f StoreField) IsDeleting(doc bson.Raw) bool {
	return doc.Lookup(string(f), "op", "gone").Type != 0
}

// TokensIn returns the tokens in a document, as they are stored.
func (f StoreField) TokensIn(doc bson.Raw) bson.RawValue { return doc.Lookup(string(f), "ops") }

// RemoveFrom returns a document without the field.
func (f StoreField) RemoveFrom(doc bson.Raw) bson.Raw {
	if doc == nil || doc.Lookup(string(f)).Type == 0 {
		return doc
	}
	elements, err := doc.Elements()
	if err != nil {
		return doc
	}
	d := make(bson.D, 0, len(elements))
	for _, e := range elements {
		if e.Key() != string(f) {
			d = append(d, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	return MustRawValue(d).Value
}

// StoreField returns the field of stores in the collection's documents.
func (d *Docs) StoreField() StoreField { return cmp.Or(d.storeField, DefaultStoreField) }

// WithStoreField returns the declaration with another field of stores. It panics if stores
// can't have the field. The name "" changes nothing.
func (d *Docs) WithStoreField(name string) *Docs {
	if name == "" {
		return d
	}
	if name == "_id" || strings.HasPrefix(name, "$") || strings.ContainsAny(name, ".\x00") {
		Fail(fmt.Sprintf("stores can't have the field %q", name), d.place(name),
			"name a field of the first level, without dots, that isn't the _id and doesn't begin with $")
	}
	out := *d
	out.storeField = StoreField(name)
	out.CheckStoreField()
	return &out
}

// CheckStoreField panics if the documents' type has a field that stores need.
func (d *Docs) CheckStoreField() {
	f := d.StoreField()
	if !d.IsZero() && d.layout.HasField(string(f)) {
		Fail(fmt.Sprintf("the documents have a field %s, in which stores keep their own data", f), d.place(string(f)),
			"rename the field, or give stores another field by CollectionOptions.StoreField")
	}
}
