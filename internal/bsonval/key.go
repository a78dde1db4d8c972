package bsonval

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// AppendKey appends bytes to dst that are the same for two values exactly when
// Compare says that they are equal, so that a map can group by value.
func AppendKey(dst []byte, v any) []byte {
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
	case bson.DBPointer:
		return append(appendText(dst, v.DB), v.Pointer[:]...)
	case missing, bson.Undefined, bson.Null:
		return dst
	}
	if Type(v) == 0 {
		return dst
	}
	dst, _ = appendElementBody(dst, v)
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
}

// appendNumberKey writes an integer that fits a long as such, another number
// that a double holds exactly as that double, and any other decimal as a fraction.
func appendNumberKey(dst []byte, v any) []byte {
	if n, ok := Int64(v); ok {
		return appendIntKey(dst, n)
	}
	if IsNaN(v) {
		return append(dst, 'n')
	}
	f, _ := Float(v)
	if isDecimal(v) && Compare(f, v) != 0 {
		return appendText(append(dst, 'r'), ratOf(v).RatString())
	}
	return binary.BigEndian.AppendUint64(append(dst, 'd'), math.Float64bits(f))
}

func appendIntKey(dst []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, 'i'), uint64(n))
}

// appendElementBody appends a scalar's encoding.
func appendElementBody(dst []byte, v any) ([]byte, error) {
	from := len(dst)
	dst, err := appendElement(dst, "", v)
	if err != nil {
		return dst, err
	}
	return append(dst[:from], dst[from+2:]...), nil
}
