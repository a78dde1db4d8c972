package counter

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A contribution is what a child counts for. A parent of type 0 means that it counts nowhere. values are the numbers of
// Counter.sources; a missing one has type 0.
type contribution struct {
	parent bson.RawValue
	values []bson.RawValue
}

func (a contribution) of(parent bson.RawValue) bool {
	return a.parent.Type != 0 && bsonval.EqualRaw(a.parent, parent)
}

// contribution reads what a child counts for, by what it has at each path.
func (c *Counter) contribution(at func(path string) (bson.RawValue, error)) (out contribution, err error) {
	ref, err := at(c.reference)
	if err != nil {
		return out, err
	}
	if named, err := c.parentNamed(ref); !named {
		return out, err
	}
	for _, w := range c.where {
		v, err := at(w.path)
		if err != nil {
			return out, err
		}
		if v.Type == bson.TypeArray {
			return out, c.docs.Refuse(w.path, nil, "is an array: Where compares scalars only")
		}
		if !w.holds(v) {
			return out, nil
		}
	}
	out.parent = bsonval.Clone(ref)
	for _, s := range c.sources {
		v, err := at(s.path)
		if err == nil {
			v, err = c.amount(s, v)
		}
		if err != nil {
			return out, err
		}
		out.values = append(out.values, v)
	}
	return out, nil
}

// parentNamed reports whether a reference names a parent.
func (c *Counter) parentNamed(ref bson.RawValue) (bool, error) {
	switch {
	case ref.Type == 0 || ref.Type == bson.TypeNull || ref.Type == bson.TypeUndefined:
		return false, nil
	case !stored.IsKey(ref):
		return false, c.docs.Refuse(c.reference, nil, "is an array, a regular expression or undefined: a reference is the _id of one document")
	}
	return true, nil
}

// amount is the value of a source as it is counted: an int64, a finite double or decimal, or a date. Other values count
// as missing.
func (c *Counter) amount(s source, v bson.RawValue) (bson.RawValue, error) {
	if s.date {
		if v.Type != bson.TypeDateTime {
			return bson.RawValue{}, nil
		}
		return bsonval.Clone(v), nil
	}
	switch v.Type {
	case bson.TypeInt32:
		return core.MustRawValue(int64(v.Int32())), nil
	case bson.TypeInt64:
		return bsonval.Clone(v), nil
	case bson.TypeDouble, bson.TypeDecimal128:
		if !isScalar(v) {
			return v, c.docs.Refuse(s.path, v, "isn't a finite number, so it can't be added up")
		}
		return bsonval.Clone(v), nil
	case bson.TypeArray:
		return v, c.docs.Refuse(s.path, nil, "is an array, which can't be added up")
	}
	return bson.RawValue{}, nil
}

// ofDocument reads a child.
func (c *Counter) ofDocument(doc bson.Raw) (contribution, error) {
	return c.contribution(func(path string) (bson.RawValue, error) { return stored.At(c.docs, doc, path) })
}

var errSum = errors.New("the difference is too large for its type")

// difference is a - b, as it is added to a sum. A missing value is 0, and integers stay integers.
func difference(a, b bson.RawValue) (any, error) {
	if a.Type == bson.TypeDecimal128 || b.Type == bson.TypeDecimal128 {
		return decimalDifference(a, b)
	}
	if a.Type == bson.TypeDouble || b.Type == bson.TypeDouble {
		f := asFloat(a) - asFloat(b)
		if math.IsInf(f, 0) {
			return nil, errSum
		}
		return f, nil
	}
	x, y := asInt(a), asInt(b)
	if d := x - y; (d < x) == (y > 0) {
		return d, nil
	}
	return nil, errSum
}

func asInt(v bson.RawValue) int64 {
	if v.Type != bson.TypeInt64 {
		return 0
	}
	return v.Int64()
}

func asFloat(v bson.RawValue) float64 {
	if v.Type == bson.TypeDouble {
		return v.Double()
	}
	return float64(asInt(v))
}

// decimalDifference subtracts exactly. A result of more than 34 digits is refused.
func decimalDifference(a, b bson.RawValue) (any, error) {
	x, ex, errX := decimalParts(a)
	y, ey, errY := decimalParts(b)
	if err := errors.Join(errX, errY); err != nil {
		return nil, err
	}
	exp := min(ex, ey)
	if max(ex, ey)-exp > 100 {
		return nil, errSum
	}
	shift := func(n *big.Int, by int) *big.Int {
		return n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(by)), nil))
	}
	d, ok := bson.ParseDecimal128FromBigInt(new(big.Int).Sub(shift(x, ex-exp), shift(y, ey-exp)), exp)
	if !ok {
		return nil, errSum
	}
	return d, nil
}

func decimalParts(v bson.RawValue) (*big.Int, int, error) {
	switch v.Type {
	case bson.TypeDecimal128:
		return v.Decimal128().BigInt()
	case bson.TypeDouble:
		return nil, 0, fmt.Errorf("is a float where the other value is a decimal, or the reverse: their difference isn't exact")
	}
	return big.NewInt(asInt(v)), 0, nil
}

// beyond reports whether a value is at least as extreme as another.
func (s slot) beyond(a, b bson.RawValue) bool {
	n, ok := compareScalars(a, b)
	if s.kind == smallest {
		n = -n
	}
	return ok && n >= 0
}
