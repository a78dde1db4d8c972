package query

// This file has intervals of index keys, and lists of them. Bounds are lists of intervals. Package plan scans them, and
// package router finds shards by them.

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Interval is a range of index keys in the order of bsonval.Compare. It always has both ends: the condition {$gt: 5}
// has the interval from 5 to the end of the numbers, because it matches no other type.
type Interval struct {
	Lo, Hi       any
	LoInc, HiInc bool // the end is in the interval
}

// Point returns the interval that holds v alone.
func Point(v any) Interval { return Interval{Lo: v, Hi: v, LoInc: true, HiInc: true} }

// IsPoint reports whether the interval holds one value.
func (i Interval) IsPoint() bool { return i.LoInc && i.HiInc && bsonval.Compare(i.Lo, i.Hi) == 0 }

// Contains reports whether v lies in the interval.
func (i Interval) Contains(v any) bool {
	lo, hi := bsonval.Compare(v, i.Lo), bsonval.Compare(v, i.Hi)
	return (lo > 0 || (lo == 0 && i.LoInc)) && (hi < 0 || (hi == 0 && i.HiInc))
}

// Ends returns the least and the greatest value as explain shows them. An end is nil where the interval goes to the end
// of a type, as the upper end of {$gt: 5}.
func (i Interval) Ends() (lo, hi any) {
	all, typed := findTypeRange(i.Lo)
	lo, hi = i.Lo, i.Hi
	if typed && !i.IsPoint() && bsonval.Compare(lo, all.Lo) == 0 {
		lo = nil
	}
	if typed && !i.IsPoint() && bsonval.Compare(hi, all.Hi) == 0 {
		hi = nil
	}
	return lo, hi
}

// HasStrings reports whether the interval has values that a collation compares in its own way: strings, and documents
// and arrays, which may have strings in them. The three types follow each other in the order, and binary data follows
// them.
func (i Interval) HasStrings() bool {
	return bsonval.Compare(i.Hi, "") >= 0 && bsonval.Compare(i.Lo, bson.Binary{}) < 0
}

// isEmpty reports whether no value lies in the interval.
func (i Interval) isEmpty() bool {
	c := bsonval.Compare(i.Lo, i.Hi)
	return c > 0 || (c == 0 && !(i.LoInc && i.HiInc))
}

// intersect returns the interval of the values that lie in both. It may be empty.
func (i Interval) intersect(j Interval) Interval {
	switch c := bsonval.Compare(i.Lo, j.Lo); {
	case c < 0:
		i.Lo, i.LoInc = j.Lo, j.LoInc
	case c == 0:
		i.LoInc = i.LoInc && j.LoInc
	}
	switch c := bsonval.Compare(i.Hi, j.Hi); {
	case c > 0:
		i.Hi, i.HiInc = j.Hi, j.HiInc
	case c == 0:
		i.HiInc = i.HiInc && j.HiInc
	}
	return i
}

// intersect returns the intervals of the values that lie in both lists. It isn't nil: a list without intervals says
// that nothing can match, and an absent list that nothing is known.
func intersect(a, b []Interval) []Interval {
	out := []Interval{}
	for _, x := range a {
		for _, y := range b {
			if z := x.intersect(y); !z.isEmpty() {
				out = append(out, z)
			}
		}
	}
	return mergeIntervals(out)
}

// mergeIntervals sorts a list and joins intervals that overlap or touch. It changes the list that it gets.
func mergeIntervals(list []Interval) []Interval {
	slices.SortFunc(list, compareStarts)
	out := list[:0]
	for _, x := range list {
		if n := len(out); n == 0 || !out[n-1].absorb(x) {
			out = append(out, x)
		}
	}
	return out
}

// compareStarts orders intervals by their lower ends. An end that is in its interval comes first.
func compareStarts(a, b Interval) int {
	if c := bsonval.Compare(a.Lo, b.Lo); c != 0 {
		return c
	}
	switch {
	case a.LoInc == b.LoInc:
		return 0
	case a.LoInc:
		return -1
	}
	return 1
}

// absorb extends the interval by one that begins in it or where it ends, and reports whether it did. x must not begin
// before i. (1, 5) and (5, 9) stay apart, because 5 is in neither.
func (i *Interval) absorb(x Interval) bool {
	c := bsonval.Compare(x.Lo, i.Hi)
	if c > 0 || c == 0 && !x.LoInc && !i.HiInc {
		return false
	}
	switch d := bsonval.Compare(x.Hi, i.Hi); {
	case d > 0:
		i.Hi, i.HiInc = x.Hi, x.HiInc
	case d == 0:
		i.HiInc = i.HiInc || x.HiInc
	}
	return true
}

// nullKeys has the keys of documents that {a: null} matches. Null is also the key of a missing field. Undefined is the
// key of a stored undefined, which matches, and of an empty array, which doesn't: an index can't tell them apart.
var nullKeys = Interval{Lo: bson.Undefined{}, Hi: nil, LoInc: true, HiInc: true}

// findTypeRange returns the interval of all values of v's type, which are the values that $gt and $lt compare with v.
// Numbers of all types are one range. It begins at -Infinity, and NaN is before it. Where a type has no greatest value,
// the range ends before the least value of the next type. ok is false for types that have no range of their own here.
func findTypeRange(v any) (i Interval, ok bool) {
	switch v.(type) {
	case int32, int64, float64, bson.Decimal128:
		return Interval{Lo: math.Inf(-1), Hi: math.Inf(1), LoInc: true, HiInc: true}, true
	case string, bson.Symbol:
		return Interval{Lo: "", Hi: bson.D{}, LoInc: true}, true
	case bson.D:
		return Interval{Lo: bson.D{}, Hi: bson.A{}, LoInc: true}, true
	case bson.Binary:
		return Interval{Lo: bson.Binary{}, Hi: bson.ObjectID{}, LoInc: true}, true
	case bson.ObjectID:
		return Interval{Lo: bson.ObjectID{}, Hi: false, LoInc: true}, true
	case bool:
		return Interval{Lo: false, Hi: true, LoInc: true, HiInc: true}, true
	case bson.DateTime:
		least, most := bson.DateTime(math.MinInt64), bson.DateTime(math.MaxInt64)
		return Interval{Lo: least, Hi: most, LoInc: true, HiInc: true}, true
	case bson.Timestamp:
		most := bson.Timestamp{T: math.MaxUint32, I: math.MaxUint32}
		return Interval{Lo: bson.Timestamp{}, Hi: most, LoInc: true, HiInc: true}, true
	}
	return Interval{}, false
}
