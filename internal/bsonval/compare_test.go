package bsonval_test

import (
	"bytes"
	"testing"

	. "github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
)

// ascending lists values in the comparison order; those on one line are equal.
var ascending = [][]string{
	{"{$minKey: 1}"},
	{"missing", "{$undefined: true}"},
	{"null"},
	{"{$numberDouble: 'NaN'}", "{$numberDecimal: 'NaN'}"},
	{"{$numberDouble: '-Infinity'}", "{$numberDecimal: '-Infinity'}"},
	{"{$numberDecimal: '-1E400'}"},
	{"{$numberLong: '-9223372036854775808'}", "-9223372036854775808.0"},
	{"-1", "-1.0", "{$numberDecimal: '-1.000'}"},
	{"0", "-0.0", "{$numberDecimal: '0E+3'}"},
	{"{$numberDecimal: '1E-400'}"},
	{"{$numberDecimal: '0.1'}"},
	{"0.1"}, // the double is a little more than the decimal
	{"1", "{$numberLong: '1'}", "1.0", "{$numberDecimal: '1'}"},
	{"9007199254740992.0"},
	{"{$numberLong: '9007199254740993'}", "{$numberDecimal: '9007199254740993'}"},
	{"{$numberLong: '9223372036854775807'}"},
	{"9223372036854775808.0"},
	{"{$numberDouble: 'Infinity'}", "{$numberDecimal: 'Infinity'}"},
	{"''"},
	{"'A'"},
	{"'a'", "{$symbol: 'a'}"},
	{"'aa'"},
	{"'é'"},
	{"{}"},
	{"{a: 1}"},
	{"{a: 1, b: 1}"},
	{"{a: 2}"},
	{"{b: 1}"},   // same type: by name
	{"{a: 'x'}"}, // by type before name
	{"[]"},
	{"[null]"},
	{"[1]"},
	{"[1, 2]"},
	{"[2]"},
	{"[[]]"},
	{"{$binary: {base64: 'AQ==', subType: '80'}}"},
	{"{$binary: {base64: 'AAA=', subType: '00'}}"}, // by length first
	{"{$binary: {base64: 'AAA=', subType: '01'}}"},
	{"{$oid: '0102030405060708090a0b0c'}"},
	{"false"},
	{"true"},
	{"{$date: {$numberLong: '-1'}}"},
	{"{$date: {$numberLong: '1'}}"},
	{"{$timestamp: {t: 1, i: 2}}"},
	{"{$timestamp: {t: 4000000000, i: 1}}"},
	{"{$regularExpression: {pattern: 'a', options: ''}}"},
	{"{$regularExpression: {pattern: 'a', options: 'i'}}"},
	{"{$code: 'x'}"},
	{"{$maxKey: 1}"},
}

func TestCompare(t *testing.T) {
	for i, line := range ascending {
		for _, a := range line {
			for j, other := range ascending {
				for _, b := range other {
					want := 0
					if i < j {
						want = -1
					} else if i > j {
						want = 1
					}
					x, y := valuetest.Value(a), valuetest.Value(b)
					if got := Compare(x, y); got != want {
						t.Errorf("Compare(%s, %s) = %d, want %d", a, b, got, want)
					}
					if same := bytes.Equal(AppendKey(nil, x), AppendKey(nil, y)); same != (want == 0) {
						t.Errorf("keys of %s and %s: same is %t", a, b, same)
					}
				}
			}
		}
	}
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		reason, a, b string
		want         bool
	}{
		{"same", "{a: [1, {b: 'x'}]}", "{a: [1, {b: 'x'}]}", true},
		{"types count", "1", "{$numberLong: '1'}", false},
		{"order counts", "{a: 1, b: 2}", "{b: 2, a: 1}", false},
		{"zero's sign counts", "0.0", "-0.0", false},
		{"NaN is itself", "{$numberDouble: 'NaN'}", "{$numberDouble: 'NaN'}", true},
		{"decimal digits count", "{$numberDecimal: '1.0'}", "{$numberDecimal: '1.00'}", false},
		{"scalar and array", "1", "[1]", false},
		{"null and missing", "null", "missing", false},
	} {
		if got := Equal(valuetest.Value(c.a), valuetest.Value(c.b)); got != c.want {
			t.Errorf("%s: Equal(%s, %s) = %t", c.reason, c.a, c.b, got)
		}
	}
}
