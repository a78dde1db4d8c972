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

// A contribution is what a child counts for. A parent of type 0 means that it counts
// nowhere.
type contribution struct {
	parent bson.RawValue
	// In the order of Counter.sources; type 0 for a missing value.
	values []bson.RawValue
}

// countsFor reports whether the child counts for this parent.
func (a contribution) countsFor(parent bson.RawValue) bool {
	return a.parent.Type != 0 && bsonval.EqualRaw(a.parent, parent)
}

// readContribution reads what a child counts for. at returns the child's value at a path.
func (c *untypedCounter) readContribution(at func(path string) (bson.RawValue, error)) (out contribution, err error) {
	ref, err := at(c.reference)
	if err != nil {
		return out, err
	}
	if named, err := c.namesParent(ref); !named {
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
		if !w.matchValue(v) {
			return out, nil
		}
	}
	out.parent = bsonval.Clone(ref)
	for _, s := range c.sources {
		v, err := at(s.path)
		if err == nil {
			v, err = c.convertAmount(s, v)
		}
		if err != nil {
			return out, err
		}
		out.values = append(out.values, v)
	}
	return out, nil
}

// namesParent reports whether a reference names a parent. Null and missing references
// name none.
func (c *untypedCounter) namesParent(ref bson.RawValue) (bool, error) {
	switch {
	case ref.Type == 0 || ref.Type == bson.TypeNull || ref.Type == bson.TypeUndefined:
		return false, nil
	case !stored.IsKey(ref):
		return false,
			c.docs.Refuse(c.reference, nil,
				"is an array, a regular expression or undefined: a reference is the _id of one document")
	}
	return true, nil
}

// convertAmount returns the value of a source as it is counted: an int64, a finite double
// or decimal, or a date. Other values count as missing, except for arrays and for numbers
// that aren't finite, which are refused: NaN would stay in the sum for ever.
func (c *untypedCounter) convertAmount(s source, v bson.RawValue) (bson.RawValue, error) {
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

// readChild reads a child.
func (c *untypedCounter) readChild(doc bson.Raw) (contribution, error) {
	return c.readContribution(func(path string) (bson.RawValue, error) { return stored.ValueAt(c.docs, doc, path) })
}

var errSum = errors.New("the difference is too large for its type")

// subtractAmounts returns a - b, to be added to a sum. A missing value is 0. Integers
// stay integers, so that sums of integers are exact; an overflow is an error, because the
// server would convert the sum to a double.
func subtractAmounts(a, b bson.RawValue) (any, error) {
	if a.Type == bson.TypeDecimal128 || b.Type == bson.TypeDecimal128 {
		return subtractDecimals(a, b)
	}
	if a.Type == bson.TypeDouble || b.Type == bson.TypeDouble {
		f := convertToFloat(a) - convertToFloat(b)
		if math.IsInf(f, 0) {
			return nil, errSum
		}
		return f, nil
	}
	x, y := convertToInt(a), convertToInt(b)
	if d := x - y; (d < x) == (y > 0) {
		return d, nil
	}
	return nil, errSum
}

// convertToInt returns 0 for a value that isn't an int64, such as a missing one.
func convertToInt(v bson.RawValue) int64 {
	if v.Type != bson.TypeInt64 {
		return 0
	}
	return v.Int64()
}

func convertToFloat(v bson.RawValue) float64 {
	if v.Type == bson.TypeDouble {
		return v.Double()
	}
	return float64(convertToInt(v))
}

// subtractDecimals subtracts exactly. It refuses a result of more than 34 digits, which a
// Decimal128 can't store, and exponents more than 100 apart, before big.Int computes with
// them.
func subtractDecimals(a, b bson.RawValue) (any, error) {
	x, ex, errX := splitDecimal(a)
	y, ey, errY := splitDecimal(b)
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

// splitDecimal returns the digits and the exponent of ten. It refuses a double: its
// difference from a decimal isn't exact.
func splitDecimal(v bson.RawValue) (*big.Int, int, error) {
	switch v.Type {
	case bson.TypeDecimal128:
		return v.Decimal128().BigInt()
	case bson.TypeDouble:
		return nil, 0,
			fmt.Errorf("is a float where the other value is a decimal, or the reverse: their difference isn't exact")
	}
	return big.NewInt(convertToInt(v)), 0, nil
}

// isAtLeastAsExtreme reports whether a is as small as b, or as great, or more so. Values
// of different kinds aren't.
func (s slot) isAtLeastAsExtreme(a, b bson.RawValue) bool {
	n, ok := compareScalars(a, b)
	if s.kind == smallest {
		n = -n
	}
	return ok && n >= 0
}
