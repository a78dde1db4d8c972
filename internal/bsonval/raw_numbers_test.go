package bsonval_test

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
)

// Numbers stand in the order of what they are, whatever their types; those of one row are equal.
func TestCompareRawNumbers(t *testing.T) {
	decimal := func(s string) bson.Decimal128 {
		d, err := bson.ParseDecimal128(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	ascending := [][]any{
		{math.NaN(), decimal("NaN"), math.Float64frombits(0xfff8000000000001)},
		{math.Inf(-1), decimal("-Infinity")},
		{decimal("-1E+6144")},
		{-math.MaxFloat64},
		{float64(math.MinInt64), int64(math.MinInt64), decimal("-9223372036854775808")},
		{-1.5, decimal("-1.5")},
		{int32(-1), int64(-1), -1.0, decimal("-1.0")},
		{-math.SmallestNonzeroFloat64},
		{decimal("-1E-6176")},
		{int32(0), int64(0), 0.0, math.Copysign(0, -1), decimal("0"), decimal("-0"), decimal("0E+6000")},
		{decimal("1E-6176")},
		{math.SmallestNonzeroFloat64},
		{decimal("0.1")},
		{0.1}, // a little more
		{0.5, decimal("0.50")},
		{int32(2), 2.0, decimal("2"), decimal("0.2E1")},
		{decimal("2.000000000000000000000000000000001")},
		{int32(10), decimal("1E+1")},
		{int32(256), decimal("256")},
		{int64(1 << 53), float64(1 << 53)},
		{int64(1<<53 + 1), decimal("9007199254740993")},
		{int64(math.MaxInt64), decimal("9223372036854775807")},
		{float64(1 << 63), decimal("9223372036854775808")},
		{math.MaxFloat64},
		{decimal("9.999999999999999999999999999999999E+6144")},
		{math.Inf(1), decimal("Infinity")},
	}
	type placed struct {
		row int
		v   bson.RawValue
	}
	var all []placed
	for row, equal := range ascending {
		for _, v := range equal {
			all = append(all, placed{row, encode(t, v)})
		}
	}
	for _, a := range all {
		for _, b := range all {
			if got, want := bsonval.CompareRaw(a.v, b.v), sign(a.row-b.row); sign(got) != want {
				t.Errorf("%s beside %s: %d, want %d", model.Shell(a.v), model.Shell(b.v), got, want)
			}
		}
	}
}
