package model

import (
	"encoding/binary"
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// IDKey is a value as a key of maps: two have the same key where the server holds them to be equal, as an _id, in a filter and in a
// $group. Numbers are the same whatever type holds them (1, 1.0 and the decimal 1.00), in documents and arrays too, of which fields count
// in their order. It doesn't know of collations. The key is of no use but to be compared.
func IDKey(v bson.RawValue) string {
	return string(appendIDKey(make([]byte, 0, 64), v, 0))
}

func appendIDKey(dst []byte, v bson.RawValue, depth int) []byte {
	if depth > maxDepth || !wellFormed(v) {
		return append(append(dst, byte(v.Type)), v.Value...)
	}
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return appendNumberKey(append(dst, byte(bson.TypeDouble)), v)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		if elems, err := bson.Raw(v.Value).Elements(); err == nil {
			dst = append(dst, byte(v.Type))
			for _, e := range elems {
				if dst = append(dst, 1); v.Type == bson.TypeEmbeddedDocument {
					dst = append(append(dst, e.Key()...), 0)
				}
				dst = appendIDKey(dst, e.Value(), depth+1)
			}
			return append(dst, 0)
		}
	case bson.TypeSymbol:
		v.Type = bson.TypeString
	}
	return append(append(dst, byte(v.Type)), v.Value...)
}

// appendNumberKey writes an integer that an int64 holds as such, what else a double holds as that, and other decimals by their digits.
func appendNumberKey(dst []byte, v bson.RawValue) []byte {
	switch v.Type {
	case bson.TypeDouble:
		return appendDoubleKey(dst, v.Double())
	case bson.TypeDecimal128:
		return appendDecimalKey(dst, v.Decimal128())
	}
	return appendIntKey(dst, v.AsInt64())
}

func appendIntKey(dst []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, 'i'), uint64(n))
}

func appendDoubleKey(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, 'n')
	case f == math.Trunc(f) && f >= -1<<63 && f < 1<<63:
		return appendIntKey(dst, int64(f))
	}
	return binary.BigEndian.AppendUint64(append(dst, 'd'), math.Float64bits(f))
}

func appendDecimalKey(dst []byte, d bson.Decimal128) []byte {
	n, exp, err := d.BigInt()
	switch sign := d.IsInf(); {
	case sign != 0:
		return appendDoubleKey(dst, math.Inf(sign))
	case err != nil:
		return append(dst, 'n')
	case n.Sign() == 0:
		return appendIntKey(dst, 0)
	}
	ten := big.NewInt(10)
	for digit, rest := new(big.Int), new(big.Int); ; exp++ { // without zeros at the end
		if digit.QuoRem(n, ten, rest); rest.Sign() != 0 {
			break
		}
		n.Set(digit)
	}
	if exp > -400 && exp < 400 { // else no double is equal to it
		power := new(big.Int).Exp(ten, big.NewInt(int64(max(exp, -exp))), nil)
		r := new(big.Rat).SetInt(power)
		if exp < 0 {
			r.Inv(r)
		}
		r.Mul(r, new(big.Rat).SetInt(n))
		if r.IsInt() && r.Num().IsInt64() {
			return appendIntKey(dst, r.Num().Int64())
		}
		if f, exact := r.Float64(); exact {
			return appendDoubleKey(dst, f)
		}
	}
	return append(binary.BigEndian.AppendUint32(append(dst, 'e'), uint32(int32(exp))), n.String()+"\x00"...)
}
