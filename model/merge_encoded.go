package model

import (
	"bytes"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// encodedField is one field of one operator of an encoded update.
type encodedField struct {
	op      []byte
	element bsoncore.Element
	joined  bool // true if the result contains it
}

// joinEncoded unites encoded updates that change different top-level fields of the
// document. It returns false for other updates. A merger unites those updates field by
// field.
func joinEncoded(updates []bson.Raw) (bson.Raw, bool) {
	var room [12]encodedField
	fields, size := room[:0], 0
	for _, u := range updates {
		size += len(u)
		var ok bool
		if fields, ok = appendEncodedFields(fields, u); !ok {
			return nil, false
		}
	}
	if !differentFields(fields) {
		return nil, false
	}
	out := make([]byte, 4, size)
	for i := range fields {
		if fields[i].joined {
			continue
		}
		begun := len(out) + 1 + len(fields[i].op) + 1
		out = append(append(append(out, byte(bson.TypeEmbeddedDocument)), fields[i].op...), 0, 0, 0, 0, 0)
		for j := range fields[i:] {
			if f := &fields[i+j]; bytes.Equal(f.op, fields[i].op) {
				out, f.joined = append(out, f.element...), true
			}
		}
		out = core.EndDocument(out, begun)
	}
	return core.EndDocument(out, 0), true
}

// appendEncodedFields appends the fields of an update's operators. It returns false for
// $rename, which has a second path in its value, and for an update that isn't a
// well-formed document of documents.
func appendEncodedFields(to []encodedField, update bson.Raw) ([]encodedField, bool) {
	if !isFramed(update) {
		return nil, false
	}
	for rest := update[4:]; len(rest) > 1; {
		op, after, ok := bsoncore.ReadElement(rest)
		if !ok || bson.Type(op[0]) != bson.TypeEmbeddedDocument || string(op.KeyBytes()) == "$rename" {
			return nil, false
		}
		doc := op.Value().Data
		if !isFramed(doc) {
			return nil, false
		}
		for inner := doc[4:]; len(inner) > 1; {
			e, next, ok := bsoncore.ReadElement(inner)
			if !ok {
				return nil, false
			}
			to = append(to, encodedField{op: op.KeyBytes(), element: e})
			inner = next
		}
		rest = after
	}
	return to, true
}

func isFramed(doc []byte) bool {
	return bsonval.WellFormed(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc})
}

// differentFields reports whether all paths begin with different fields of the document.
func differentFields(fields []encodedField) bool {
	for i := range fields {
		name := firstName(fields[i].element)
		for j := range fields[:i] {
			if bytes.Equal(firstName(fields[j].element), name) {
				return false
			}
		}
	}
	return true
}

func firstName(e bsoncore.Element) []byte {
	path := e.KeyBytes()
	if i := bytes.IndexByte(path, '.'); i >= 0 {
		return path[:i]
	}
	return path
}
