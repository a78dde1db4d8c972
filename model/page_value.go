package model

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// maxToken is the maximal length of a page's token. The filter of a page contains a sort
// value at most once for each sort field, and once more. So the filter of the longest
// token is far below the server's limit.
const maxToken = 64 << 10

// maxValueLevels is the maximal number of levels of a stored document. A page's filter
// adds a few levels, and the server accepts 200 levels in a command
// (https://www.mongodb.com/docs/manual/reference/limits/).
const maxValueLevels = 180

// refuseSortValue returns the reason why a page can't begin after a document with this
// value, or "". The value can be forged.
func refuseSortValue(docs *core.Docs, path string, v bson.RawValue) string {
	if v.Type == bson.TypeArray {
		return severalValues
	}
	if why := refuseValue(bsoncore.Value{Type: bsoncore.Type(v.Type), Data: v.Value}, maxValueLevels); why != "" {
		return why
	}
	if docs.CheckFilter(bson.D{{Key: path, Value: mql.Eq(v)}}) != nil {
		return "is of BSON type " + v.Type.String() + ", which the field's Go type can't contain"
	}
	return ""
}

// refuseValue returns the reason why a filter can't contain a value of this many levels,
// or "". It validates everything that a server validates.
func refuseValue(v bsoncore.Value, levels int) string {
	const malformed = "isn't valid BSON"
	switch v.Type {
	case bsoncore.TypeRegex, bsoncore.TypeJavaScript, bsoncore.TypeCodeWithScope,
		bsoncore.TypeDBPointer, bsoncore.TypeUndefined:
		return noOrder
	case bsoncore.TypeString, bsoncore.TypeSymbol:
		n := len(v.Data)
		if v.Validate() != nil || n < 5 || v.Data[n-1] != 0 {
			return malformed
		}
		if !utf8.Valid(v.Data[4 : n-1]) {
			return "isn't valid UTF-8"
		}
		return ""
	case bsoncore.TypeBoolean:
		if len(v.Data) != 1 || v.Data[0] > 1 {
			return malformed
		}
		return ""
	case bsoncore.TypeBinary: // subtype 2 contains its length once more
		if v.Validate() != nil ||
			v.Data[4] == 2 && (len(v.Data) < 9 || int(binary.LittleEndian.Uint32(v.Data[5:])) != len(v.Data)-9) {
			return malformed
		}
		return ""
	case bsoncore.TypeEmbeddedDocument, bsoncore.TypeArray:
		if levels == 0 {
			return "is nested too deeply"
		}
		return refuseElements(v.Data, levels-1)
	}
	if typeRank(bson.Type(v.Type)) < 0 || v.Validate() != nil {
		return malformed
	}
	return ""
}

// refuseElements is refuseValue for each value of a document or array.
func refuseElements(doc []byte, levels int) string {
	if !bsonval.WellFormed(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}) {
		return "isn't valid BSON"
	}
	for rest := doc[4 : len(doc)-1]; len(rest) > 0; {
		e, after, ok := bsoncore.ReadElement(rest)
		if !ok || !utf8.ValidString(e.Key()) {
			return "isn't valid BSON"
		}
		if why := refuseValue(e.Value(), levels); why != "" {
			return why
		}
		rest = after
	}
	return ""
}
