package forest

// BSON values of links. A missing field and null mean the same everywhere in a tree.

import (
	"bytes"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Null is BSON's null.
var Null = bson.RawValue{Type: bson.TypeNull}

// IsNull reports whether a value is null or missing.
func IsNull(v bson.RawValue) bool { return v.Type == 0 || v.Type == bson.TypeNull }

// EncodeDocument returns a document as a value.
func EncodeDocument(doc bson.Raw) bson.RawValue {
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}
}

// EncodeString returns a string as a value.
func EncodeString(s string) bson.RawValue {
	v, _ := core.RawValue(s)
	return v
}

// EqualBytes compares values byte by byte: an int32 and an int64 are different.
func EqualBytes(a, b bson.RawValue) bool { return a.Type == b.Type && bytes.Equal(a.Value, b.Value) }

// ConvertNullToNil returns nil for a missing value, as filters need it.
func ConvertNullToNil(v bson.RawValue) any {
	if IsNull(v) {
		return nil
	}
	return v
}
