package forest

import (
	"bytes"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Null is BSON's null.
var Null = bson.RawValue{Type: bson.TypeNull}

// IsNull reports whether a value is null, or missing.
func IsNull(v bson.RawValue) bool { return v.Type == 0 || v.Type == bson.TypeNull }

// DocumentValue is a document as a value.
func DocumentValue(doc bson.Raw) bson.RawValue {
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}
}

// StringValue is a string as a value.
func StringValue(s string) bson.RawValue {
	v, _ := core.RawValue(s)
	return v
}

// SameValue compares values byte by byte.
func SameValue(a, b bson.RawValue) bool { return a.Type == b.Type && bytes.Equal(a.Value, b.Value) }

// NilIfNull is a value in a filter.
func NilIfNull(v bson.RawValue) any {
	if IsNull(v) {
		return nil
	}
	return v
}
