package bsonval

import (
	"encoding/binary"
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Decode returns the document that b encodes. It keeps no reference to b. All
// strings of the document share one copy of b, so that they cost one
// allocation and live as long as any of them. Bytes that are not one
// well-formed document are an error of code InvalidBSON, nesting beyond
// MaxDepth one of code Overflow.
func Decode(b []byte) (bson.D, error) {
	r := reader{s: string(b)}
	d, err := r.document(0, len(b), 1)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// reader decodes out of an immutable copy of the bytes.
type reader struct{ s string }

func malformed(what string, at int) error {
	return mongoerr.New(mongoerr.InvalidBSON, "malformed BSON: %s at byte %d", what, at)
}

// bounds checks the length and the terminator of the document at pos, which
// may reach to limit, and returns where its elements begin and end.
func (r reader) bounds(pos, limit, depth int) (from, to int, err error) {
	if depth > MaxDepth {
		return 0, 0, mongoerr.New(mongoerr.Overflow, "BSONObj exceeds maximum nested object depth: %d", MaxDepth)
	}
	if limit-pos < 5 {
		return 0, 0, malformed("document too short", pos)
	}
	n := int(r.int32(pos))
	if n < 5 || n > limit-pos || (depth == 1 && n != limit-pos) {
		return 0, 0, malformed("wrong document length", pos)
	}
	if r.s[pos+n-1] != 0 {
		return 0, 0, malformed("document without terminator", pos)
	}
	return pos + 4, pos + n - 1, nil
}

func (r reader) document(pos, limit, depth int) (bson.D, error) {
	from, to, err := r.bounds(pos, limit, depth)
	if err != nil {
		return nil, err
	}
	n, err := r.count(from, to)
	if err != nil {
		return nil, err
	}
	d := make(bson.D, n)
	for i, at := 0, from; i < n; i++ {
		kind := r.s[at]
		end := at + 1 + strings.IndexByte(r.s[at+1:to], 0)
		d[i].Key = r.s[at+1 : end]
		d[i].Value, at, err = r.value(kind, end+1, to, depth)
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (r reader) array(pos, limit, depth int) (bson.A, error) {
	from, to, err := r.bounds(pos, limit, depth)
	if err != nil {
		return nil, err
	}
	n, err := r.count(from, to)
	if err != nil {
		return nil, err
	}
	a := make(bson.A, n)
	for i, at := 0, from; i < n; i++ {
		kind := r.s[at]
		end := at + 1 + strings.IndexByte(r.s[at+1:to], 0)
		a[i], at, err = r.value(kind, end+1, to, depth)
		if err != nil {
			return nil, err
		}
	}
	return a, nil
}

// count returns how many elements lie between from and to, having checked that
// each has a name and a length that fits.
func (r reader) count(from, to int) (int, error) {
	n := 0
	for at := from; at < to; n++ {
		kind := r.s[at]
		name := strings.IndexByte(r.s[at+1:to], 0)
		if name < 0 {
			return 0, malformed("field name without end", at)
		}
		body := at + 1 + name + 1
		size, ok := r.size(kind, body, to)
		if !ok || size < 0 || size > to-body {
			return 0, malformed("value of wrong type or length", at)
		}
		at = body + size
	}
	return n, nil
}

// size returns the encoded size of a value of that kind at pos.
func (r reader) size(kind byte, pos, to int) (int, bool) {
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
		return r.regexSize(pos, to)
	}
	if to-pos < 4 {
		return 0, false
	}
	n := int(r.int32(pos))
	switch bson.Type(kind) {
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		return n + 4, n >= 1
	case bson.TypeDBPointer:
		return n + 4 + 12, n >= 1
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return n, n >= 5
	case bson.TypeBinary:
		return n + 5, n >= 0
	case bson.TypeCodeWithScope:
		return n, n >= 14
	}
	return 0, false
}

func (r reader) regexSize(pos, to int) (int, bool) {
	pattern := strings.IndexByte(r.s[pos:to], 0)
	if pattern < 0 {
		return 0, false
	}
	options := strings.IndexByte(r.s[pos+pattern+1:to], 0)
	return pattern + options + 2, options >= 0
}

// value decodes the value at pos, whose size count has checked, and returns
// where the next element begins.
func (r reader) value(kind byte, pos, to, depth int) (any, int, error) {
	size, _ := r.size(kind, pos, to)
	next := pos + size
	switch bson.Type(kind) {
	case bson.TypeDouble:
		return math.Float64frombits(r.uint64(pos)), next, nil
	case bson.TypeInt32:
		return r.int32(pos), next, nil
	case bson.TypeInt64:
		return int64(r.uint64(pos)), next, nil
	case bson.TypeDateTime:
		return bson.DateTime(r.uint64(pos)), next, nil
	case bson.TypeNull:
		return nil, next, nil
	case bson.TypeObjectID:
		var id bson.ObjectID
		copy(id[:], r.s[pos:])
		return id, next, nil
	case bson.TypeString:
		s, err := r.string(pos)
		return s, next, err
	case bson.TypeEmbeddedDocument:
		d, err := r.document(pos, next, depth+1)
		return d, next, err
	case bson.TypeArray:
		a, err := r.array(pos, next, depth+1)
		return a, next, err
	case bson.TypeBoolean:
		if r.s[pos] > 1 {
			return nil, 0, malformed("boolean that is neither 0 nor 1", pos)
		}
		return r.s[pos] == 1, next, nil
	}
	v, err := r.rare(kind, pos, next, depth)
	return v, next, err
}

func (r reader) rare(kind byte, pos, next, depth int) (any, error) {
	switch bson.Type(kind) {
	case bson.TypeDecimal128:
		return bson.NewDecimal128(r.uint64(pos+8), r.uint64(pos)), nil
	case bson.TypeTimestamp:
		n := r.uint64(pos)
		return bson.Timestamp{T: uint32(n >> 32), I: uint32(n)}, nil
	case bson.TypeBinary:
		return r.binary(pos, next)
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
		s, err := r.string(pos)
		return bson.JavaScript(s), err
	case bson.TypeSymbol:
		s, err := r.string(pos)
		return bson.Symbol(s), err
	case bson.TypeDBPointer:
		s, err := r.string(pos)
		p := bson.DBPointer{DB: s}
		copy(p.Pointer[:], r.s[next-12:next])
		return p, err
	case bson.TypeCodeWithScope:
		return r.codeWithScope(pos, next, depth)
	}
	return nil, malformed("unknown type", pos)
}

func (r reader) binary(pos, next int) (any, error) {
	subtype, data := r.s[pos+4], r.s[pos+5:next]
	if subtype == bson.TypeBinaryBinaryOld {
		if len(data) < 4 || int(r.int32(pos+5)) != len(data)-4 {
			return nil, malformed("old binary with wrong inner length", pos)
		}
		data = data[4:]
	}
	return bson.Binary{Subtype: subtype, Data: []byte(data)}, nil
}

func (r reader) codeWithScope(pos, next, depth int) (any, error) {
	n := int(r.int32(pos + 4))
	if n < 1 || n > next-pos-8-5 {
		return nil, malformed("code with wrong length", pos)
	}
	code, err := r.string(pos + 4)
	if err != nil {
		return nil, err
	}
	at := pos + 8 + n
	if int(r.int32(at)) != next-at {
		return nil, malformed("scope with wrong length", at)
	}
	scope, err := r.document(at, next, depth+1)
	if err != nil {
		return nil, err
	}
	return bson.CodeWithScope{Code: bson.JavaScript(code), Scope: scope}, nil
}

// string returns the string whose length is at pos.
func (r reader) string(pos int) (string, error) {
	n := int(r.int32(pos))
	if r.s[pos+4+n-1] != 0 {
		return "", malformed("string without terminator", pos)
	}
	return r.s[pos+4 : pos+4+n-1], nil
}

func (r reader) int32(pos int) int32 {
	s := r.s[pos : pos+4]
	return int32(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
}

func (r reader) uint64(pos int) uint64 {
	var b [8]byte
	copy(b[:], r.s[pos:pos+8])
	return binary.LittleEndian.Uint64(b[:])
}
