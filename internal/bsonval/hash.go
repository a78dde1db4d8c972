// The hash of hashed indexes and hashed shard keys. Its input for {a: 5} is
//
//	00 00 00 00             the seed
//	14 00 00 00             the class of documents, 20
//	0a 00 00 00 61 00       the class of numbers, 10, and the name of the field
//	05 00 00 00 00 00 00 00 the number as a long
//	00 00 00 00             the end of the document

package bsonval

import (
	"crypto/md5"
	"encoding/binary"
	"hash"
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Hash64 returns the number that MongoDB stores for the value of a hashed field, in indexes and for shard keys. It is
// the first eight bytes of the MD5 of a seed of 0, the value's [Class], and the value. Numbers lose their fractions
// before. Package keys finds by it the shard of a key, and the engine's router distributes documents. Both must agree
// with MongoDB, so its results never change
// (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-hashed/).
//
// A missing value, of type 0, has the hash of null.
func Hash64(v bson.RawValue) int64 {
	if v.Type == 0 {
		v = bson.RawValue{Type: bson.TypeNull}
	}
	h := md5.New()
	_, _ = h.Write(make([]byte, 4)) // the seed
	hashValue(h, v, nil)
	return int64(binary.LittleEndian.Uint64(h.Sum(nil)))
}

// hashValue writes to h what MongoDB hashes of a value: its class, the name of its field, and its value. The name ends
// with NUL, and the value itself has none.
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

// HashedNumber returns the whole number that Hash64 takes for a number: without its fraction, and the nearest int64 if
// it is too large. NaN is 0. So 2.1 and 2.9 have one hash, and the advice of package keys on shard keys counts such
// values.
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
		case d == 1<<63, d < -1<<63: // MongoDB converts 1<<63 so, and can't change it: hashes are stored
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
	n, exp, err := d.BigInt() // d is n times 10 to the power of exp
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
