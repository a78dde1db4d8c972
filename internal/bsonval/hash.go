package bsonval

import (
	"crypto/md5"
	"encoding/binary"
	"hash"
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Hash64 is the number that MongoDB stores for the value of a hashed field: the first eight
// bytes of the MD5 of a seed of 0, the value's place in the order of types, and the value.
// Numbers are cut off to whole ones.
func Hash64(v bson.RawValue) int64 {
	h := md5.New()
	_, _ = h.Write(make([]byte, 4)) // the seed
	hashValue(h, v, nil)
	return int64(binary.LittleEndian.Uint64(h.Sum(nil)))
}

func hashValue(h hash.Hash, v bson.RawValue, name []byte) {
	write := func(b []byte) { _, _ = h.Write(b) } // a hash never fails
	write(binary.LittleEndian.AppendUint32(nil, uint32(int32(Class(v.Type)))))
	write(name)
	elements := func(doc bson.Raw) {
		list, _ := doc.Elements()
		for _, e := range list {
			hashValue(h, e.Value(), append([]byte(e.Key()), 0))
		}
		write(make([]byte, 4)) // the end, which is of a type too
	}
	if v.Type != bson.TypeEmbeddedDocument && v.Type != bson.TypeArray && v.Validate() != nil {
		write(v.Value) // bytes that are no value of their type
		return
	}
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		write(binary.LittleEndian.AppendUint64(nil, uint64(HashedNumber(v))))
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		elements(bson.Raw(v.Value))
	case bson.TypeCodeWithScope:
		code, scope := v.CodeWithScope()
		write(append([]byte(code), 0))
		elements(scope)
	default:
		write(v.Value)
	}
}

// HashedNumber is the whole number that Hash64 hashes a number as: it cuts a number off towards 0, within int64; NaN is
// 0.
func HashedNumber(v bson.RawValue) int64 {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64:
		return v.AsInt64()
	case bson.TypeDouble:
		switch d := v.Double(); {
		case math.IsNaN(d):
			return 0
		case d > 1<<63:
			return math.MaxInt64
		case d == 1<<63, d < -1<<63: // the first by the conversion that MongoDB keeps to
			return math.MinInt64
		default:
			return int64(d)
		}
	}
	d := v.Decimal128()
	switch sign := d.IsInf(); {
	case d.IsNaN():
		return 0
	case sign > 0:
		return math.MaxInt64
	case sign < 0:
		return math.MinInt64
	}
	n, exp, err := d.BigInt()
	if err != nil {
		return 0
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exp, -exp))), nil)
	if exp < 0 {
		n.Quo(n, power)
	} else {
		n.Mul(n, power)
	}
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.Sign() > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}
