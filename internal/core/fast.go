package core

// The frequent values of commands and documents are encoded here, in the driver's bytes but without the driver, because
// the driver looks each value's type up in the registry and allocates. This file doesn't (TestAppendElementAllocates).
// FuzzAppendElement compares the bytes with the driver's. The driver encodes all types that aren't in this file, and
// all values under options that change how a type is written.

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// fastLevels is how many levels of documents and lists are written without the driver. Deeper
// values go to the callers' other way, which asks CheckDepth: so appendFast needn't ask it for
// each value.
const fastLevels = 64

// appendFast appends an element with name and v, in the driver's bytes for the result of
// [Codec.Value]. It writes the most frequent types of filters and updates, which Value
// returns unchanged. For other values, and values that the driver refuses, it returns
// false, and the caller uses the driver. dst may then have the beginning of the element, so
// callers drop it. level counts the documents and lists around the element.
func (c *Codec) appendFast(dst []byte, name string, v any, level int) ([]byte, bool) {
	if level > fastLevels || c.rewritesScalars() || strings.IndexByte(name, 0) >= 0 {
		return dst, false
	}
	if out, ok := appendScalar(dst, name, v); ok {
		return out, true
	}
	switch v := v.(type) {
	case bson.D:
		if v != nil {
			dst, begun := AppendDocument(dst, bson.TypeEmbeddedDocument, name)
			return c.appendFastFields(dst, begun, v, level+1)
		}
	case bson.A:
		if v != nil {
			return appendFastList(c, dst, name, v, level+1)
		}
	case []bson.D:
		if v != nil {
			return appendFastList(c, dst, name, v, level+1)
		}
	case mongo.Pipeline:
		if v != nil {
			return appendFastList(c, dst, name, v, level+1)
		}
	case []bson.ObjectID:
		if v != nil {
			return appendIDs(dst, name, v), true
		}
	case []bson.RawValue:
		if v != nil {
			return appendFastList(c, dst, name, v, level+1)
		}
	case []string:
		if v != nil {
			return appendStrings(dst, name, v), true
		}
	case bson.RawValue: // the levels around it and within it must not be more than MaxLevels together
		nested := v.Type == bson.TypeEmbeddedDocument || v.Type == bson.TypeArray
		tooDeep := nested && isRawDeeper(v.Value, bsonval.MaxLevels-fastLevels)
		if v.Type.IsValid() && bsonval.WellFormed(v) && !tooDeep {
			return append(appendHeader(dst, v.Type, name), v.Value...), true
		}
	default:
		if c == nil { // options of a codec can change how fields are written
			return appendStruct(dst, name, reflect.ValueOf(v))
		}
	}
	return dst, false
}

// appendFastDocument appends a whole document, as appendFast does.
func (c *Codec) appendFastDocument(dst []byte, d bson.D) ([]byte, bool) {
	begun := len(dst)
	return c.appendFastFields(append(dst, 0, 0, 0, 0), begun, d, 1)
}

// appendFastFields appends the fields of the document that begins at begun, and ends it.
func (c *Codec) appendFastFields(dst []byte, begun int, d bson.D, level int) (_ []byte, ok bool) {
	for i := range d {
		if dst, ok = c.appendFast(dst, d[i].Key, d[i].Value, level); !ok {
			return dst, false
		}
	}
	return EndDocument(dst, begun), true
}

// appendFastList appends a list as an array. level is that of its elements.
func appendFastList[V any](c *Codec, dst []byte, name string, list []V, level int) (_ []byte, ok bool) {
	dst, begun := AppendDocument(dst, bson.TypeArray, name)
	for i, v := range list {
		if dst, ok = c.appendFast(dst, strconv.Itoa(i), v, level); !ok {
			return dst, false
		}
	}
	return EndDocument(dst, begun), true
}

// appendIDs appends a list of ids. Lists of a thousand ids are common in $in, so it counts the
// elements' names in decimal digits in place, instead of formatting each index: head is the
// type, the digits up to end, and room for more digits.
func appendIDs(dst []byte, name string, ids []bson.ObjectID) []byte {
	const digits = 3 // of an index, for a first guess of the size
	dst = slices.Grow(dst, len(name)+len(ids)*(2+digits+len(bson.ObjectID{}))+7)
	dst, begun := AppendDocument(dst, bson.TypeArray, name)
	var head [21]byte // type and index, as in "\x07" + "99"
	head[0], head[1] = byte(bson.TypeObjectID), '0'
	end := 2
	for i := range ids {
		dst = append(append(append(dst, head[:end]...), 0), ids[i][:]...)
		// Increment the index: a 9 becomes 0 and carries.
		at := end - 1
		for ; at > 0 && head[at] == '9'; at-- {
			head[at] = '0'
		}
		if at > 0 {
			head[at]++
			continue
		}
		head[1], head[end] = '1', '0' // from 99 to 100
		end++
	}
	return EndDocument(dst, begun)
}

// appendStrings appends a list of strings as an array.
func appendStrings(dst []byte, name string, list []string) []byte {
	dst, begun := AppendDocument(dst, bson.TypeArray, name)
	for i, s := range list {
		dst = append(strconv.AppendInt(append(dst, byte(bson.TypeString)), int64(i), 10), 0)
		dst = appendString(dst, s)
	}
	return EndDocument(dst, begun)
}

// appendString appends the value of a string: its length with the NUL, its bytes, a NUL.
func appendString(dst []byte, s string) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)+1))
	return append(append(dst, s...), 0)
}

// appendScalar appends the most frequent scalars, as the driver writes them.
func appendScalar(dst []byte, name string, v any) (_ []byte, ok bool) {
	le := binary.LittleEndian
	switch v := v.(type) {
	case string:
		return appendString(appendHeader(dst, bson.TypeString, name), v), true
	case bson.ObjectID:
		return append(appendHeader(dst, bson.TypeObjectID, name), v[:]...), true
	case int64: // 64 bits for every number, unlike an int
		return appendInt64(dst, name, v), true
	case int:
		return appendInt(dst, name, int64(v)), true
	case int32:
		return appendInt32(dst, name, v), true
	case bool:
		return append(appendHeader(dst, bson.TypeBoolean, name), byteOf(v)), true
	case float64:
		return appendFloat(dst, name, v), true
	case time.Time:
		return appendTime(dst, name, v), true
	case bson.DateTime:
		return le.AppendUint64(appendHeader(dst, bson.TypeDateTime, name), uint64(v)), true
	case nil, bson.Null:
		return appendHeader(dst, bson.TypeNull, name), true
	case int8:
		return appendInt32(dst, name, int32(v)), true
	case int16:
		return appendInt32(dst, name, int32(v)), true
	case float32:
		return appendFloat(dst, name, float64(v)), true
	case bson.Decimal128:
		return appendDecimal(dst, name, v), true
	case bson.Timestamp:
		return appendTimestamp(dst, name, v), true
	}
	return dst, false
}

// byteOf returns the value of a BSON boolean.
func byteOf(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// appendInt appends an int: 32 bits where it fits, as the driver writes it.
func appendInt(dst []byte, name string, v int64) []byte {
	if v != int64(int32(v)) {
		return appendInt64(dst, name, v)
	}
	return appendInt32(dst, name, int32(v))
}

func appendInt32(dst []byte, name string, v int32) []byte {
	return binary.LittleEndian.AppendUint32(appendHeader(dst, bson.TypeInt32, name), uint32(v))
}

func appendInt64(dst []byte, name string, v int64) []byte {
	return binary.LittleEndian.AppendUint64(appendHeader(dst, bson.TypeInt64, name), uint64(v))
}

func appendFloat(dst []byte, name string, v float64) []byte {
	return binary.LittleEndian.AppendUint64(appendHeader(dst, bson.TypeDouble, name), math.Float64bits(v))
}

func appendTime(dst []byte, name string, v time.Time) []byte {
	return binary.LittleEndian.AppendUint64(appendHeader(dst, bson.TypeDateTime, name), uint64(v.UnixMilli()))
}

// appendDecimal appends a decimal number: the lower half comes first.
func appendDecimal(dst []byte, name string, v bson.Decimal128) []byte {
	high, low := v.GetBytes()
	dst = binary.LittleEndian.AppendUint64(appendHeader(dst, bson.TypeDecimal128, name), low)
	return binary.LittleEndian.AppendUint64(dst, high)
}

// appendTimestamp appends a timestamp: its increment comes before its seconds.
func appendTimestamp(dst []byte, name string, v bson.Timestamp) []byte {
	dst = binary.LittleEndian.AppendUint32(appendHeader(dst, bson.TypeTimestamp, name), v.I)
	return binary.LittleEndian.AppendUint32(dst, v.T)
}
