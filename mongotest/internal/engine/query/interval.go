package query

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Interval is a range of index keys in bsonval.Compare's order. Lo and Hi are
// always set: an open side is MinKey, MaxKey or the end of a type.
type Interval struct {
	Lo, Hi       any
	LoInc, HiInc bool
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

// Ends are the least and the greatest value; nil where the interval goes to the end of their type.
func (i Interval) Ends() (lo, hi any) {
	all, typed := typeRange(i.Lo)
	lo, hi = i.Lo, i.Hi
	if typed && !i.IsPoint() && bsonval.Compare(lo, all.Lo) == 0 {
		lo = nil
	}
	if typed && !i.IsPoint() && bsonval.Compare(hi, all.Hi) == 0 {
		hi = nil
	}
	return lo, hi
}

// HasStrings reports whether a value that a collation matters for lies in the interval: a string, a document or an
// array.
func (i Interval) HasStrings() bool {
	return bsonval.Compare(i.Hi, "") >= 0 && bsonval.Compare(i.Lo, bson.Binary{}) < 0
}

func (i Interval) empty() bool {
	c := bsonval.Compare(i.Lo, i.Hi)
	return c > 0 || (c == 0 && !(i.LoInc && i.HiInc))
}

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

// intersect returns what two lists have in common.
func intersect(a, b []Interval) []Interval {
	out := []Interval{}
	for _, x := range a {
		for _, y := range b {
			if z := x.intersect(y); !z.empty() {
				out = append(out, z)
			}
		}
	}
	return normal(out)
}

// normal sorts a list and joins intervals that overlap.
func normal(list []Interval) []Interval {
	slices.SortFunc(list, func(a, b Interval) int {
		if c := bsonval.Compare(a.Lo, b.Lo); c != 0 {
			return c
		}
		if a.LoInc == b.LoInc {
			return 0
		}
		if a.LoInc {
			return -1
		}
		return 1
	})
	out := list[:0]
	for _, x := range list {
		if n := len(out); n > 0 {
			last := &out[n-1]
			c := bsonval.Compare(x.Lo, last.Hi)
			if c < 0 || (c == 0 && (x.LoInc || last.HiInc)) {
				if d := bsonval.Compare(x.Hi, last.Hi); d > 0 {
					last.Hi, last.HiInc = x.Hi, x.HiInc
				} else if d == 0 {
					last.HiInc = last.HiInc || x.HiInc
				}
				continue
			}
		}
		out = append(out, x)
	}
	return out
}

// nullKeys holds the keys of documents in which the field is null, missing or an empty array.
var nullKeys = Interval{Lo: bson.Undefined{}, Hi: nil, LoInc: true, HiInc: true}

// typeRange returns the interval of all values that compare by value with v, NaN apart.
func typeRange(v any) (Interval, bool) {
	switch v.(type) {
	case int32, int64, float64, bson.Decimal128:
		return Interval{math.Inf(-1), math.Inf(1), true, true}, true
	case string, bson.Symbol:
		return Interval{"", bson.D{}, true, false}, true
	case bson.D:
		return Interval{bson.D{}, bson.A{}, true, false}, true
	case bson.Binary:
		return Interval{bson.Binary{}, bson.ObjectID{}, true, false}, true
	case bson.ObjectID:
		return Interval{bson.ObjectID{}, false, true, false}, true
	case bool:
		return Interval{false, true, true, true}, true
	case bson.DateTime:
		return Interval{bson.DateTime(math.MinInt64), bson.DateTime(math.MaxInt64), true, true}, true
	case bson.Timestamp:
		return Interval{bson.Timestamp{}, bson.Timestamp{T: math.MaxUint32, I: math.MaxUint32}, true, true}, true
	}
	return Interval{}, false
}
