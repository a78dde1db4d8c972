// Decoding of documents. The form of BSON is in https://bsonspec.org/spec.html. {a: 1} is these bytes:
//
//	0c 00 00 00     the length of the document, with these four bytes
//	10              the type of the element: int
//	61 00           its name, which ends with NUL
//	01 00 00 00     its value
//	00              the end of the document
//
// A document is decoded in two passes over its elements. The first one, countElements, checks that each element has a
// type, a name and a length that fits into the document, and counts the elements. The second one, readDocument, then
// makes room for all elements at once, and reads them without such checks. Embedded documents are checked when they
// are read.

package bsonval

import (
	"encoding/binary"
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Decode returns the document that b encodes. It keeps no reference to b. All strings of the document share one copy
// of b. So they cost one allocation, and they live as long as any of them. Bytes that aren't one well-formed document
// give an error of code InvalidBSON, nesting beyond [MaxDepth] gives one of code Overflow. FuzzDecode holds that
// decoded documents survive Append.
func Decode(b []byte) (bson.D, error) {
	r := reader{s: string(b)}
	d, err := r.readDocument(0, len(b), 1)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// reader decodes out of an immutable copy of the bytes. Its methods take positions in s. Of the parameters, pos is
// where a value begins, next where it ends, and to or limit where the document around it ends. Depth is 1 for the
// whole document.
type reader struct{ s string }

// errMalformed returns the error of bytes that aren't BSON. Its text isn't MongoDB's.
func errMalformed(what string, at int) error {
	return mongoerr.New(mongoerr.InvalidBSON, "malformed BSON: %s at byte %d", what, at)
}

// readBounds checks the length and the last byte of the document at pos, and returns where its elements begin and end.
// The whole document must fill the bytes, an embedded document must only fit.
func (r reader) readBounds(pos, limit, depth int) (from, to int, err error) {
	if depth > MaxDepth {
		return 0, 0, mongoerr.New(mongoerr.Overflow, "BSONObj exceeds maximum nested object depth: %d", MaxDepth)
	}
	if limit-pos < 5 {
		return 0, 0, errMalformed("document too short", pos)
	}
	n := int(r.readInt32(pos))
	if n < 5 || n > limit-pos || (depth == 1 && n != limit-pos) {
		return 0, 0, errMalformed("wrong document length", pos)
	}
	if r.s[pos+n-1] != 0 {
		return 0, 0, errMalformed("document without terminator", pos)
	}
	return pos + 4, pos + n - 1, nil
}

// readDocument decodes the document at pos. The first pass has checked that each name ends and each value fits.
func (r reader) readDocument(pos, limit, depth int) (bson.D, error) {
	from, to, err := r.readBounds(pos, limit, depth)
	if err != nil {
		return nil, err
	}
	n, err := r.countElements(from, to)
	if err != nil {
		return nil, err
	}
	d := make(bson.D, n)
	for i, at := 0, from; i < n; i++ {
		kind := r.s[at]
		end := at + 1 + strings.IndexByte(r.s[at+1:to], 0)
		d[i].Key = r.s[at+1 : end]
		d[i].Value, at, err = r.readValue(kind, end+1, to, depth)
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// readArray decodes the array at pos. The names of elements aren't checked: their order
// counts.
func (r reader) readArray(pos, limit, depth int) (bson.A, error) {
	from, to, err := r.readBounds(pos, limit, depth)
	if err != nil {
		return nil, err
	}
	n, err := r.countElements(from, to)
	if err != nil {
		return nil, err
	}
	a := make(bson.A, n)
	for i, at := 0, from; i < n; i++ {
		kind := r.s[at]
		end := at + 1 + strings.IndexByte(r.s[at+1:to], 0)
		a[i], at, err = r.readValue(kind, end+1, to, depth)
		if err != nil {
			return nil, err
		}
	}
	return a, nil
}

// countElements returns the number of elements between from and to. It checks that each has a name and a length that
// fits.
func (r reader) countElements(from, to int) (int, error) {
	n := 0
	for at := from; at < to; n++ {
		kind := r.s[at]
		name := strings.IndexByte(r.s[at+1:to], 0)
		if name < 0 {
			return 0, errMalformed("field name without end", at)
		}
		body := at + 1 + name + 1
		size, ok := r.measureValue(kind, body, to)
		if !ok || size < 0 || size > to-body {
			return 0, errMalformed("value of wrong type or length", at)
		}
		at = body + size
	}
	return n, nil
}

// measureValue returns the encoded size of a value of that type at pos. It reports false if the type is unknown, or if
// the value has a length that its type can't have. The caller checks that the size fits.
func (r reader) measureValue(kind byte, pos, to int) (int, bool) {
	switch bson.Type(kind) {
	case bson.TypeDouble, bson.TypeDateTime, bson.TypeTimestamp, bson.TypeInt64:
		return 8, true
	case bson.TypeInt32:
		return 4, true
	case bson.TypeBoolean:
		return 1, true
	case bson.TypeNull, bson.TypeUndefined, bson.TypeMinKey, bson.TypeMaxKey:
		return 0, true
	case bson.TypeObjectID:
		return 12, true
	case bson.TypeDecimal128:
		return 16, true
	case bson.TypeRegex:
		return r.measureRegex(pos, to)
	}
	// The other types begin with a length. Which parts the length includes depends on the type.
	if to-pos < 4 {
		return 0, false
	}
	n := int(r.readInt32(pos))
	switch bson.Type(kind) {
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		return n + 4, n >= 1 // the length of a string includes its NUL
	case bson.TypeDBPointer:
		return n + 4 + 12, n >= 1
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return n, n >= 5
	case bson.TypeBinary:
		return n + 5, n >= 0
	case bson.TypeCodeWithScope:
		return n, n >= 14 // two lengths, an empty string and an empty document
	}
	return 0, false
}

// measureRegex returns the size of a regular expression: two strings that end with NUL, without lengths.
func (r reader) measureRegex(pos, to int) (int, bool) {
	pattern := strings.IndexByte(r.s[pos:to], 0)
	if pattern < 0 {
		return 0, false
	}
	options := strings.IndexByte(r.s[pos+pattern+1:to], 0)
	return pattern + options + 2, options >= 0
}

// readValue decodes the value at pos, and returns where the next element begins. countElements has checked the size.
func (r reader) readValue(kind byte, pos, to, depth int) (any, int, error) {
	size, _ := r.measureValue(kind, pos, to)
	next := pos + size
	switch bson.Type(kind) {
	case bson.TypeDouble:
		return math.Float64frombits(r.readUint64(pos)), next, nil
	case bson.TypeInt32:
		return r.readInt32(pos), next, nil
	case bson.TypeInt64:
		return int64(r.readUint64(pos)), next, nil
	case bson.TypeDateTime:
		return bson.DateTime(r.readUint64(pos)), next, nil
	case bson.TypeNull:
		return nil, next, nil
	case bson.TypeObjectID:
		var id bson.ObjectID
		copy(id[:], r.s[pos:])
		return id, next, nil
	case bson.TypeString:
		s, err := r.readString(pos)
		return s, next, err
	case bson.TypeEmbeddedDocument:
		d, err := r.readDocument(pos, next, depth+1)
		return d, next, err
	case bson.TypeArray:
		a, err := r.readArray(pos, next, depth+1)
		return a, next, err
	case bson.TypeBoolean:
		if r.s[pos] > 1 {
			return nil, 0, errMalformed("boolean that is neither 0 nor 1", pos)
		}
		return r.s[pos] == 1, next, nil
	}
	v, err := r.readRareValue(kind, pos, next, depth)
	return v, next, err
}

// readRareValue decodes a value of a type that isn't frequent.
func (r reader) readRareValue(kind byte, pos, next, depth int) (any, error) {
	switch bson.Type(kind) {
	case bson.TypeDecimal128:
		return bson.NewDecimal128(r.readUint64(pos+8), r.readUint64(pos)), nil
	case bson.TypeTimestamp: // little endian: the ordinal first
		n := r.readUint64(pos)
		return bson.Timestamp{T: uint32(n >> 32), I: uint32(n)}, nil
	case bson.TypeBinary:
		return r.readBinary(pos, next)
	case bson.TypeRegex:
		pattern, options, _ := strings.Cut(r.s[pos:next-1], "\x00")
		return bson.Regex{Pattern: pattern, Options: options}, nil
	case bson.TypeUndefined:
		return bson.Undefined{}, nil
	case bson.TypeMinKey:
		return bson.MinKey{}, nil
	case bson.TypeMaxKey:
		return bson.MaxKey{}, nil
	case bson.TypeJavaScript:
		s, err := r.readString(pos)
		return bson.JavaScript(s), err
	case bson.TypeSymbol:
		s, err := r.readString(pos)
		return bson.Symbol(s), err
	case bson.TypeDBPointer:
		s, err := r.readString(pos)
		p := bson.DBPointer{DB: s}
		copy(p.Pointer[:], r.s[next-12:next])
		return p, err
	case bson.TypeCodeWithScope:
		return r.readCodeWithScope(pos, next, depth)
	}
	return nil, errMalformed("unknown type", pos)
}

// readBinary decodes a binary. The old subtype 2 has its length again in the data. The bytes are a copy, because a
// program can change a slice.
func (r reader) readBinary(pos, next int) (any, error) {
	subtype, data := r.s[pos+4], r.s[pos+5:next]
	if subtype == bson.TypeBinaryBinaryOld {
		if len(data) < 4 || int(r.readInt32(pos+5)) != len(data)-4 {
			return nil, errMalformed("old binary with wrong inner length", pos)
		}
		data = data[4:]
	}
	return bson.Binary{Subtype: subtype, Data: []byte(data)}, nil
}

// readCodeWithScope decodes a length, the code as a string, and the scope as a document.
func (r reader) readCodeWithScope(pos, next, depth int) (any, error) {
	n := int(r.readInt32(pos + 4))
	if n < 1 || n > next-pos-8-5 {
		return nil, errMalformed("code with wrong length", pos)
	}
	code, err := r.readString(pos + 4)
	if err != nil {
		return nil, err
	}
	at := pos + 8 + n
	if int(r.readInt32(at)) != next-at {
		return nil, errMalformed("scope with wrong length", at)
	}
	scope, err := r.readDocument(at, next, depth+1)
	if err != nil {
		return nil, err
	}
	return bson.CodeWithScope{Code: bson.JavaScript(code), Scope: scope}, nil
}

// readString returns the string whose length is at pos. It may contain NUL, and invalid UTF-8 stays as it is.
func (r reader) readString(pos int) (string, error) {
	n := int(r.readInt32(pos))
	if r.s[pos+4+n-1] != 0 {
		return "", errMalformed("string without terminator", pos)
	}
	return r.s[pos+4 : pos+4+n-1], nil
}

func (r reader) readInt32(pos int) int32 {
	s := r.s[pos : pos+4]
	return int32(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
}

func (r reader) readUint64(pos int) uint64 {
	var b [8]byte // on the stack: a conversion of s would allocate
	copy(b[:], r.s[pos:pos+8])
	return binary.LittleEndian.Uint64(b[:])
}
