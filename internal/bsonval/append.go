// Encoding of documents, and the sizes of encodings.

package bsonval

import (
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Append appends the encoding of d to dst. A value that isn't canonical is an error. So is a field name or a regular
// expression that contains a NUL byte, because BSON ends both with one.
func Append(dst []byte, d bson.D) ([]byte, error) {
	return appendDocument(dst, d)
}

// appendDocument appends a document of any depth. The store of the engine checks [Depth] before it keeps a document.
func appendDocument(dst []byte, d bson.D) ([]byte, error) {
	start, dst := bsoncore.ReserveLength(dst)
	var err error
	for i := range d {
		if strings.IndexByte(d[i].Key, 0) >= 0 {
			return nil, mongoerr.New(mongoerr.BadValue, "field name %q contains a NUL byte", d[i].Key)
		}
		if dst, err = appendElement(dst, d[i].Key, d[i].Value); err != nil {
			return nil, err
		}
	}
	return finishDocument(dst, start)
}

// appendArray encodes an array: a document whose names are "0", "1" and so on.
func appendArray(dst []byte, a bson.A) ([]byte, error) {
	start, dst := bsoncore.ReserveLength(dst)
	var err error
	for i, v := range a {
		if dst, err = appendElement(dst, strconv.Itoa(i), v); err != nil {
			return nil, err
		}
	}
	return finishDocument(dst, start)
}

// finishDocument ends the document that begins at start, and writes its length there.
func finishDocument(dst []byte, start int32) ([]byte, error) {
	dst = append(dst, 0)
	n := len(dst) - int(start)
	if n > math.MaxInt32 {
		return nil, mongoerr.New(mongoerr.BSONObjectTooLarge, "document of %d bytes", n)
	}
	return bsoncore.UpdateLength(dst, start, int32(n)), nil
}

// appendElement appends a field: its type, its name and its value. The frequent types are first, for speed.
func appendElement(dst []byte, key string, v any) ([]byte, error) {
	t := Type(v)
	if t == 0 {
		return nil, mongoerr.New(mongoerr.InternalError,
			"field %q holds a value of Go type %T, which has no BSON form", key, v)
	}
	dst = append(dst, byte(t))
	dst = append(dst, key...)
	dst = append(dst, 0)
	switch v := v.(type) {
	case float64:
		return bsoncore.AppendDouble(dst, v), nil
	case string:
		return bsoncore.AppendString(dst, v), nil
	case bson.D:
		return appendDocument(dst, v)
	case bson.A:
		return appendArray(dst, v)
	case bson.ObjectID:
		return append(dst, v[:]...), nil
	case bool:
		return bsoncore.AppendBoolean(dst, v), nil
	case bson.DateTime:
		return bsoncore.AppendDateTime(dst, int64(v)), nil
	case int32:
		return bsoncore.AppendInt32(dst, v), nil
	case int64:
		return bsoncore.AppendInt64(dst, v), nil
	}
	return appendRare(dst, v)
}

// appendRare appends the value of a type that isn't frequent. The type and the name are written already.
func appendRare(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case bson.Binary:
		return bsoncore.AppendBinary(dst, v.Subtype, v.Data), nil
	case bson.Regex:
		if strings.IndexByte(v.Pattern, 0) >= 0 || strings.IndexByte(v.Options, 0) >= 0 {
			return nil, mongoerr.New(mongoerr.BadValue, "regular expression contains a NUL byte")
		}
		dst = append(dst, v.Pattern...)
		dst = append(dst, 0)
		dst = append(dst, v.Options...)
		return append(dst, 0), nil
	case bson.DBPointer:
		return append(bsoncore.AppendString(dst, v.DB), v.Pointer[:]...), nil
	case bson.JavaScript:
		return bsoncore.AppendString(dst, string(v)), nil
	case bson.Symbol:
		return bsoncore.AppendString(dst, string(v)), nil
	case bson.CodeWithScope:
		start, dst := bsoncore.ReserveLength(dst)
		dst = bsoncore.AppendString(dst, string(v.Code))
		scope, _ := v.Scope.(bson.D)
		dst, err := appendDocument(dst, scope)
		if err != nil {
			return nil, err
		}
		return bsoncore.UpdateLength(dst, start, int32(len(dst)-int(start))), nil
	case bson.Timestamp:
		return bsoncore.AppendTimestamp(dst, v.T, v.I), nil
	case bson.Decimal128:
		h, l := v.GetBytes()
		return bsoncore.AppendDecimal128(dst, h, l), nil
	}
	return dst, nil // null, undefined, minKey, maxKey: no body
}

// Size returns the length that Append gives d, without allocating.
func Size(d bson.D) int { return documentSize(d, math.MaxInt) }

// SizeOf returns the bytes of a value without its type and name, or any number above the limit if the value is larger.
// Callers check a limit by it, such as 16 MB for a document. An expression can make a small value in memory whose
// encoding is huge, because it refers to one part many times. With the limit the walk over such a value ends early.
func SizeOf(v any, limit int) int { return bodySize(v, limit) }

// documentSize returns the bytes of a document, or any number above the limit. It counts as appendDocument writes.
func documentSize(d bson.D, limit int) int {
	n := 5 // the length and the last byte
	for i := 0; i < len(d) && n <= limit; i++ {
		n += 2 + len(d[i].Key) // the type, the name, and the name's end
		n += bodySize(d[i].Value, limit-n)
	}
	return n
}

// arraySize returns the bytes of an array, or any number above the limit. It counts the digits of the elements' names
// without writing them.
func arraySize(a bson.A, limit int) int {
	n, digits, next := 5, 1, 10 // digits of an element's name, and the first name with more digits
	for i := 0; i < len(a) && n <= limit; i++ {
		if i == next {
			digits, next = digits+1, next*10
		}
		n += 2 + digits
		n += bodySize(a[i], limit-n)
	}
	return n
}

// bodySize returns the bytes of a value without its type and name. Each case adds what BSON writes around the data:
// lengths of 4 bytes, and ends of 1 byte (https://bsonspec.org/spec.html).
func bodySize(v any, limit int) int {
	switch v := v.(type) {
	case float64, int64, bson.DateTime, bson.Timestamp:
		return 8
	case string:
		return len(v) + 5
	case bson.D:
		return documentSize(v, limit)
	case bson.A:
		return arraySize(v, limit)
	case bson.Binary:
		if v.Subtype == bson.TypeBinaryBinaryOld { // has its length twice
			return len(v.Data) + 9
		}
		return len(v.Data) + 5
	case bson.ObjectID:
		return 12
	case bool:
		return 1
	case int32:
		return 4
	case bson.Decimal128:
		return 16
	case bson.Regex:
		return len(v.Pattern) + len(v.Options) + 2
	case bson.DBPointer:
		return len(v.DB) + 5 + 12
	case bson.JavaScript:
		return len(v) + 5
	case bson.Symbol:
		return len(v) + 5
	case bson.CodeWithScope:
		scope, _ := v.Scope.(bson.D)
		return 4 + len(v.Code) + 5 + documentSize(scope, limit)
	}
	return 0
}
