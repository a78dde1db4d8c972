// Keys of maps for decoded values. The key of {a: 1} is
//
//	14                      the class of documents, 20
//	00 00 00 01             the number of fields
//	00 00 00 01 61          the name, after its length
//	0a 69 00 … 01           the class of numbers, 10, then the letter i and the long 1
//
// so {a: 1} and {a: 1.0} have one key.

package bsonval

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// AppendKey appends bytes to dst that are the same for two values exactly if [Compare] of the values is 0. So a map
// from such bytes groups by value: $group and uniqueItems use it. The bytes have no order, and nothing stores them.
func AppendKey(dst []byte, v any) []byte {
	// Every part of variable length has its length before it, so that ["a", "bc"] and ["ab", "c"] differ.
	dst = append(dst, byte(Rank(v)))
	switch v := v.(type) {
	case int32, int64, float64, bson.Decimal128:
		return appendNumberKey(dst, v)
	case string:
		return appendText(dst, v)
	case bson.Symbol:
		return appendText(dst, string(v))
	case bson.D:
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(v)))
		for _, e := range v {
			dst = AppendKey(appendText(dst, e.Key), e.Value)
		}
		return dst
	case bson.A:
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(v)))
		for _, x := range v {
			dst = AppendKey(dst, x)
		}
		return dst
	case bson.CodeWithScope:
		scope, _ := v.Scope.(bson.D)
		return AppendKey(appendText(dst, string(v.Code)), scope)
	case bson.Binary:
		return appendText(append(dst, v.Subtype), string(v.Data))
	case bson.Regex:
		return appendText(appendText(dst, v.Pattern), v.Options)
	case bson.DBPointer: // an ObjectID needs no length
		return append(appendText(dst, v.DB), v.Pointer[:]...)
	case missing, bson.Undefined, bson.Null:
		return dst
	}
	if Type(v) == 0 { // not canonical
		return dst
	}
	dst, _ = appendElementBody(dst, v)
	return dst
}

// appendText appends a string with its length before it.
func appendText(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
}

// appendNumberKey writes equal numbers of all types in one form. A number that is whole and fits into a long is
// written as this long. Another number is written as the double that equals it. A decimal that no double equals is
// written as a fraction. The letters before them keep the forms apart.
func appendNumberKey(dst []byte, v any) []byte {
	if n, ok := Int64(v); ok {
		return appendIntKey(dst, n)
	}
	if IsNaN(v) {
		return append(dst, 'n')
	}
	f, _ := Float(v)
	if isDecimal(v) && Compare(f, v) != 0 {
		return appendText(append(dst, 'r'), toRat(v).RatString())
	}
	return binary.BigEndian.AppendUint64(append(dst, 'd'), math.Float64bits(f))
}

func appendIntKey(dst []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, 'i'), uint64(n))
}

// appendElementBody appends a scalar's encoding without its type and its name, which is empty.
func appendElementBody(dst []byte, v any) ([]byte, error) {
	from := len(dst)
	dst, err := appendElement(dst, "", v)
	if err != nil {
		return dst, err
	}
	return append(dst[:from], dst[from+2:]...), nil
}
