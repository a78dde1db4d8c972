package bsonval

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// MaxLevels is the number of levels of documents, lists and pointers that are encoded.
// MongoDB stores about a hundred. A cyclic value would exhaust the stack.
const MaxLevels = 500

// WellFormed reports whether a value's bytes fit its type. It checks only the frame of a
// document.
func WellFormed(v bson.RawValue) bool {
	if v.Type == bson.TypeEmbeddedDocument || v.Type == bson.TypeArray {
		n := len(v.Value)
		return n >= 5 && int(binary.LittleEndian.Uint32(v.Value)) == n && v.Value[n-1] == 0
	}
	return v.Validate() == nil
}
