// Comparison and keys of encoded values, for package model and the techniques, which have documents as the driver
// returns them. Most values are compared without decoding them.

package bsonval

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/big"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// FromRaw decodes one encoded value. Type 0, which the driver gives for a field that isn't there, is [Missing]. Bytes
// that aren't a value of the type give an error.
func FromRaw(v bson.RawValue) (any, error) {
	if v.Type == 0 {
		return Missing, nil
	}
	r := reader{s: string(v.Value)}
	if size, ok := r.measureValue(byte(v.Type), 0, len(r.s)); !ok || size != len(r.s) {
		return nil, errMalformed("value of wrong type or length", 0)
	}
	out, _, err := r.readValue(byte(v.Type), 0, len(r.s), 0)
	return out, err
}

// CompareRaw is [Compare] of encoded values. Bytes that aren't a value of their type are compared as bytes within the
// class of the type, so that it never fails.
func CompareRaw(a, b bson.RawValue) int { return compareRaw(a, b, 0) }

// EqualRaw reports whether two encoded values are equal for a server: 1 equals 1.0, also in documents and arrays. The
// order of fields counts.
func EqualRaw(a, b bson.RawValue) bool { return CompareRaw(a, b) == 0 }

// CompareIDs orders encoded values as a server sorts them. It is 0 for identical values alone: the types and bytes
// decide between values that are equal for a server, such as 1 and 1.0. So a sorted list of _ids has one order.
func CompareIDs(a, b bson.RawValue) int {
	return cmp.Or(CompareRaw(a, b), cmp.Compare(a.Type, b.Type), bytes.Compare(a.Value, b.Value))
}

// compareRaw is CompareRaw for values within depth documents.
func compareRaw(a, b bson.RawValue, depth int) int {
	if c := cmp.Compare(Class(a.Type), Class(b.Type)); c != 0 {
		return c
	}
	if a.Type == b.Type && bytes.Equal(a.Value, b.Value) {
		return 0
	}
	switch a.Type {
	case bson.TypeString, bson.TypeSymbol: // without their lengths; the NUL at the end is before all characters
		return bytes.Compare(a.Value[min(4, len(a.Value)):], b.Value[min(4, len(b.Value)):])
	case bson.TypeObjectID:
		return bytes.Compare(a.Value, b.Value)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return compareRawElements(a, b, depth+1)
	}
	// All other types, which are rare as _ids or need the exact comparison of numbers.
	x, errX := FromRaw(a)
	y, errY := FromRaw(b)
	if errX != nil || errY != nil {
		return bytes.Compare(a.Value, b.Value)
	}
	return Compare(x, y)
}

// compareRawElements compares two documents or two arrays as compareDocuments and compareArrays do.
func compareRawElements(a, b bson.RawValue, depth int) int {
	x, errX := bson.Raw(a.Value).Elements()
	y, errY := bson.Raw(b.Value).Elements()
	if errX != nil || errY != nil || depth > MaxDepth {
		return bytes.Compare(a.Value, b.Value)
	}
	for i := range min(len(x), len(y)) {
		v, w := x[i].Value(), y[i].Value()
		if a.Type == bson.TypeEmbeddedDocument {
			if c := cmp.Or(cmp.Compare(Class(v.Type), Class(w.Type)), strings.Compare(x[i].Key(), y[i].Key())); c != 0 {
				return c
			}
		}
		if c := compareRaw(v, w, depth); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

// Key returns bytes that are the same for two encoded values exactly if [EqualRaw] holds. Techniques use it as the key
// of maps, mostly for _ids. It knows nothing of collations: under one, a server may find values equal that have
// different keys.
func Key(v bson.RawValue) string {
	return string(appendRawKey(make([]byte, 0, 64), v, 0))
}

// appendRawKey appends the same bytes as AppendKey of the decoded value. The frequent types aren't decoded.
func appendRawKey(dst []byte, v bson.RawValue, depth int) []byte {
	start := len(dst)
	dst = append(dst, byte(Class(v.Type)))
	switch v.Type {
	case bson.TypeString, bson.TypeSymbol:
		if n := len(v.Value); n > 4 { // without the length and the NUL at the end
			return append(binary.BigEndian.AppendUint32(dst, uint32(n-5)), v.Value[4:n-1]...)
		}
	case bson.TypeObjectID:
		return append(dst, v.Value...)
	case bson.TypeInt32, bson.TypeInt64:
		if n, ok := v.AsInt64OK(); ok {
			return appendIntKey(dst, n)
		}
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		if elems, err := bson.Raw(v.Value).Elements(); err == nil && depth < MaxDepth {
			dst = binary.BigEndian.AppendUint32(dst, uint32(len(elems)))
			for _, e := range elems {
				if v.Type == bson.TypeEmbeddedDocument {
					dst = appendText(dst, e.Key())
				}
				dst = appendRawKey(dst, e.Value(), depth+1)
			}
			return dst
		}
	default:
		if x, err := FromRaw(v); err == nil {
			return AppendKey(dst[:start], x)
		}
	}
	return append(append(dst[:start], 126, byte(v.Type)), v.Value...) // malformed
}

// Rat returns an encoded finite number as a fraction, without rounding. It returns nil for other values.
func Rat(v bson.RawValue) *big.Rat {
	x, err := FromRaw(v)
	if err != nil || !IsNumber(x) || numberClass(x) != finite {
		return nil
	}
	return toRat(x)
}

// IsNumberType reports whether values of a type are numbers.
func IsNumberType(t bson.Type) bool { return Class(t) == Class(bson.TypeInt32) }

// RawNaN reports whether an encoded value is NaN, as a double or as a decimal.
func RawNaN(v bson.RawValue) bool {
	x, _ := FromRaw(v)
	return IsNaN(x)
}

// Clone returns a copy of a value with bytes of its own. A value from a cursor is valid until the cursor's next
// document, so code that keeps it needs a copy.
func Clone(v bson.RawValue) bson.RawValue {
	return bson.RawValue{Type: v.Type, Value: bytes.Clone(v.Value)}
}
