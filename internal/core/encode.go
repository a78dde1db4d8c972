package core

// Others encode values here. Which function to call:
//
//	Encode         a value in a filter or update, in the caller's type if that is safe
//	Raw            a value whose bytes are compared or stored
//	Document       a whole document, with its version
//	EncodeChecked  a whole document that the caller wants to store
//	Part           a document of the caller that is stored within another
//	RawValue       a value of the library itself: no options of a collection apply

import (
	"fmt"
	"reflect"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// MaxDocument is the size of the largest BSON document that MongoDB stores.
const MaxDocument = 16 * 1024 * 1024

// Encode encodes v by the collection's options, so that later changes of the caller's
// value have no effect. It returns scalars and immutable structs unchanged. Techniques
// pass every value of the caller through it.
func (d *Docs) Encode(v any) (any, error) { return d.codec.Value(v) }

// Raw returns v as the collection stores it, in new bytes.
func (d *Docs) Raw(v any) (bson.RawValue, error) {
	if buf, ok := d.codec.appendFast(make([]byte, 0, 32), "", v, 0); ok {
		out := rawOf(buf)
		if _, isRaw := v.(bson.RawValue); isRaw {
			return out, out.Validate()
		}
		return out, nil
	}
	enc, err := d.codec.Value(v)
	if err != nil {
		return bson.RawValue{}, err
	}
	if held, ok := enc.(bson.RawValue); ok {
		return held, held.Validate()
	}
	doc, err := bson.Marshal(bson.D{{Key: "v", Value: enc}})
	if err != nil {
		return bson.RawValue{}, err
	}
	return bson.Raw(doc).Lookup("v"), nil
}

// rawOf returns the value of an encoded element with the name "". The value is not copied.
func rawOf(element []byte) bson.RawValue {
	const header = 2
	return bson.RawValue{Type: bson.Type(element[0]), Value: element[header:]}
}

// Marshal is bson.Marshal that refuses documents with more than [bsonval.MaxLevels] levels. It
// returns a bson.Raw as it is, without a copy.
func Marshal(doc any) (bson.Raw, error) {
	switch d := doc.(type) {
	case bson.Raw:
		return d, CheckDepth(doc)
	case bson.D: // appendFast refuses deep values itself
		if raw, ok := (*Codec)(nil).appendFastDocument(make([]byte, 0, 128), d); ok && d != nil {
			return raw, nil
		}
	}
	if err := CheckDepth(doc); err != nil {
		return nil, err
	}
	return bson.Marshal(doc)
}

// MustMarshal is [Marshal] for a document that can always be encoded.
func MustMarshal(doc any) bson.Raw {
	raw, err := Marshal(doc)
	if err != nil {
		panic(err)
	}
	return raw
}

// RawValue encodes v by the driver's defaults, so v must not depend on a collection's options.
// It doesn't check the depth: v is the library's own value, or was checked before.
func RawValue(v any) (bson.RawValue, error) {
	if buf, ok := (*Codec)(nil).appendFast(make([]byte, 0, 32), "", v, 0); ok {
		return rawOf(buf), nil
	}
	doc, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	return bson.Raw(doc).Lookup("v"), err
}

// MustRawValue is [RawValue] for a value that can always be encoded.
func MustRawValue(v any) bson.RawValue {
	raw, err := RawValue(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// Document encodes a whole document of any type by the collection's options, with its
// version. A part of a document has no version: use [Docs.AsStored] for it. Document doesn't
// check the _id and the names, unlike [Docs.EncodeChecked].
func (d *Docs) Document(doc any) (bson.Raw, error) {
	raw, err := d.codec.Document(doc)
	if err != nil {
		return nil, err
	}
	return d.StampVersion(raw)
}

// AppendElement appends an element with name and v, encoded like Encode, to dst. With
// [AppendDocument] and [EndDocument] it builds documents of many small values in one
// buffer, which the driver copies whole as a [bson.RawValue].
func (d *Docs) AppendElement(dst []byte, name string, v any) ([]byte, error) {
	return d.codec.AppendElement(dst, name, v)
}

// Decode decodes a document, or a part of one, by the collection's options. It decodes a
// whole document of any version as the newest. into is a pointer.
func (d *Docs) Decode(raw bson.Raw, into any) error {
	if err := CheckDepth(into); err != nil {
		return err
	}
	return d.Codec().Decode(raw, into)
}

// Part encodes and checks a caller's document that is stored at a path, such as the value of
// an embedded document. Levels are counted from the whole document.
func (d *Docs) Part(path string, v any) (bson.RawValue, error) {
	raw, err := d.Raw(v)
	if err != nil {
		return raw, d.Refuse(path, nil, err.Error())
	}
	if raw.Type != bson.TypeEmbeddedDocument {
		return raw, d.Refuse(path, nil, "must be stored as a document")
	}
	if at, err := checkKeys(bson.Raw(raw.Value), path, 1+strings.Count(path, ".")); err != nil {
		return raw, d.Refuse(at, nil, err.Error())
	}
	return raw, nil
}

// EncodeChecked encodes the whole document at ptr with its version, and checks its _id, names
// and size. Inserts, replacements and stores call it for each document of the caller. The
// server would refuse most of these documents too, but it says less of the reason.
func (d *Docs) EncodeChecked(ptr any) (raw bson.Raw, id bson.RawValue, err error) {
	if d.IsZero() {
		return nil, id, d.Refuse("document", nil,
			"the collection is the zero Collection: declare it with NewCollection")
	}
	doc := reflect.ValueOf(ptr).Elem().Interface()
	if IsNilDocument(doc) {
		return nil, id, d.Refuse("document", nil, "is nil: give a document")
	}
	if raw, err = d.Document(doc); err != nil {
		return nil, id, d.Refuse("document", nil, err.Error())
	}
	// A document of type bson.Raw, or a custom marshaler's, may have any bytes.
	if err := raw.Validate(); err != nil {
		return nil, id, d.Refuse("document", nil, err.Error())
	}
	if len(raw) > MaxDocument {
		return nil, id, d.Refuse("document", nil,
			fmt.Sprintf("has %d bytes, but MongoDB's limit for a document is 16 MiB", len(raw)))
	}
	id = raw.Lookup("_id")
	if below, reason := refusedID(id); reason != "" {
		return nil, id, d.Refuse("_id"+below, id, reason)
	}
	// The zero value of a type whose stored form isn't empty, such as time.Time or a struct.
	if typed, found := d.id(ptr); found && EmptyID(typed) {
		return nil, id, d.Refuse("_id", typed, "is empty: give an id")
	}
	if field, err := checkKeys(raw, "", 1); err != nil {
		return nil, id, d.Refuse(field, nil, err.Error())
	}
	return raw, id, nil
}

// IsNilModel reports whether a write has no model, or a nil pointer as its model.
func IsNilModel(m mongo.WriteModel) bool { return m == nil || reflect.ValueOf(m).IsNil() }

// IsNilDocument reports whether a document or filter is nil, or a nil pointer or map. Callers
// refuse it: as a filter it would match all documents.
func IsNilDocument(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bson.D:
		return v == nil
	case bson.Raw:
		return v == nil
	}
	switch rv := reflect.ValueOf(v); rv.Kind() {
	case reflect.Pointer, reflect.Map:
		return rv.IsNil()
	}
	return false
}
