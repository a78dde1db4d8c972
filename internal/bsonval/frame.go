package bsonval

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// MaxLevels is the number of levels of documents, lists and pointers in a Go value that the library accepts. MongoDB
// stores about a hundred. Without a limit, a pointer cycle in a value of the caller would exhaust the stack, which a
// Go program can't recover from. The limit is for code that encodes or walks values of callers: internal/core,
// internal/bsondoc and model. [MaxDepth] is for the engine.
const MaxLevels = 500

// WellFormed reports whether a value's bytes fit its type. Of a document or an array it checks only the frame, the
// length and the last byte, and not the elements: the caller copies such a value as it is, or reads its elements with
// errors.
func WellFormed(v bson.RawValue) bool {
	if v.Type == bson.TypeEmbeddedDocument || v.Type == bson.TypeArray {
		n := len(v.Value)
		return n >= 5 && int(binary.LittleEndian.Uint32(v.Value)) == n && v.Value[n-1] == 0
	}
	return v.Validate() == nil
}
