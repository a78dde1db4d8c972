package query

// This file has the operators that compare: $eq, $ne, $gt, $gte, $lt, $lte, $in and $nin. A predicate keeps the value
// of the filter (v) and its key under the collation (key). Without a collation both are the same.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// equal passes for values equal to v. If v is null, a missing value and undefined pass too.
type equal struct {
	v   any // nil for null and for undefined
	key any // v as it compares under the collation
	by  *collation.Collator
}

func (e equal) test(v any, _ *int) bool {
	if e.v == nil {
		return bsonval.IsNullish(v)
	}
	return bsonval.Compare(e.key, e.by.Index(v)) == 0 && !bsonval.IsMissing(v)
}

func (equal) takesArrays() bool { return false }

// parseEq parses $eq, and a value beside a field name: both mean the same, except for a regular expression.
func parseEq(p *parser, arg any, _ bson.D) (cond, error) {
	if bsonval.IsNullish(arg) {
		arg = nil
	}
	return leaf{equal{arg, p.by.Index(arg), p.by}}, nil
}

func parseNe(p *parser, arg any, _ bson.D) (cond, error) {
	if _, ok := arg.(bson.Regex); ok {
		return nil, mongoerr.New(mongoerr.BadValue, "Can't have regex as arg to $ne.")
	}
	c, err := parseEq(p, arg, nil)
	return not{c}, err
}

// ordered passes for values of v's type that are greater or less than v, as op says. MongoDB calls it type bracketing
// (https://www.mongodb.com/docs/manual/reference/method/db.collection.find/): {$gt: 1} matches no
// string, though strings come after numbers in a sort. MinKey and MaxKey alone compare with all types.
type ordered struct {
	op  string // $gt, $gte, $lt or $lte
	v   any
	key any // v as it compares under the collation
	by  *collation.Collator
}

// parseOrder returns the parser of one of the four operators.
func parseOrder(op string) func(p *parser, arg any, _ bson.D) (cond, error) {
	return func(p *parser, arg any, _ bson.D) (cond, error) {
		if _, ok := arg.(bson.Regex); ok {
			return nil, mongoerr.New(mongoerr.BadValue, "Can't have RegEx as arg to predicate over field: %s", op)
		}
		if bsonval.IsNullish(arg) {
			arg = nil
		}
		return leaf{ordered{op: op, v: arg, key: p.by.Index(arg), by: p.by}}, nil
	}
}

func (o ordered) test(v any, _ *int) bool {
	// Null has one value, so only the operators that include equality match anything.
	if o.v == nil {
		return bsonval.IsNullish(v) && (o.op == "$gte" || o.op == "$lte")
	}
	if bsonval.Rank(v) != bsonval.Rank(o.v) {
		switch o.v.(type) {
		case bson.MinKey:
			return o.op == "$gt" || o.op == "$gte"
		case bson.MaxKey:
			return o.op == "$lt" || o.op == "$lte"
		}
		return false
	}
	// NaN is neither greater nor less than any number, and equal to itself.
	if bsonval.IsNaN(v) || bsonval.IsNaN(o.v) {
		return bsonval.IsNaN(v) && bsonval.IsNaN(o.v) && (o.op == "$gte" || o.op == "$lte")
	}
	c := bsonval.Compare(o.by.Index(v), o.key)
	switch o.op {
	case "$gt":
		return c > 0
	case "$gte":
		return c >= 0
	case "$lt":
		return c < 0
	}
	return c <= 0
}

func (ordered) takesArrays() bool { return false }

// inList is the predicate of $in. It passes for values equal to one of a list, and for strings that one of the list's
// regular expressions matches. A lookup may send thousands of values, so they are searched and not compared one by one.
type inList struct {
	sorted  []any // the values without null and regular expressions, in the order of keys
	keys    []any // keys[i] is the key of sorted[i]
	by      *collation.Collator
	null    bool // null is in the list
	regexes []pattern
}

// parseIn parses $in. Its list may have regular expressions, but no operators.
func parseIn(p *parser, arg any, _ bson.D) (cond, error) {
	a, ok := arg.(bson.A)
	if !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "$in needs an array")
	}
	in := inList{by: p.by}
	in.sorted = make([]any, 0, len(a))
	for _, v := range a {
		switch x := v.(type) {
		case nil, bson.Undefined:
			in.null = true
			continue
		case bson.D:
			if isOperators(x) {
				return nil, mongoerr.New(mongoerr.BadValue, "cannot nest $ under $in")
			}
		case bson.Regex:
			re, err := p.compilePattern(x.Pattern, x.Options)
			if err != nil {
				return nil, err
			}
			in.regexes = append(in.regexes, re)
			continue
		}
		in.sorted = append(in.sorted, v)
	}
	if err := in.sort(p); err != nil {
		return nil, err
	}
	return leaf{in}, nil
}

// sort sorts the values, computes their keys, and keeps one of several equal values. Under a collation "a" and "A" may
// be equal: the first in the filter is kept, because an upsert stores it.
func (in *inList) sort(p *parser) error {
	if in.by == nil {
		err := interrupt.Sort(p.watch, in.sorted, bsonval.Compare)
		in.sorted = slices.CompactFunc(in.sorted, func(a, b any) bool { return bsonval.Compare(a, b) == 0 })
		in.keys = in.sorted
		return err
	}
	type pair struct{ v, key any }
	pairs := make([]pair, len(in.sorted))
	for i, v := range in.sorted {
		pairs[i] = pair{v, in.by.Index(v)}
	}
	compare := func(a, b pair) int { return bsonval.Compare(a.key, b.key) }
	err := interrupt.SortStable(p.watch, pairs, compare)
	pairs = slices.CompactFunc(pairs, func(a, b pair) bool { return compare(a, b) == 0 })
	in.sorted, in.keys = in.sorted[:0], make([]any, 0, len(pairs))
	for _, x := range pairs {
		in.sorted, in.keys = append(in.sorted, x.v), append(in.keys, x.key)
	}
	return err
}

// parseNin parses $nin, the negation of $in. Its error for an argument that is no array names $nin.
func parseNin(p *parser, arg any, _ bson.D) (cond, error) {
	if _, ok := arg.(bson.A); !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "$nin needs an array")
	}
	c, err := parseIn(p, arg, nil)
	return not{c}, err
}

func (in inList) test(v any, _ *int) bool {
	if bsonval.IsNullish(v) {
		return in.null
	}
	if _, ok := slices.BinarySearchFunc(in.keys, in.by.Index(v), bsonval.Compare); ok {
		return true
	}
	for _, re := range in.regexes {
		if re.test(v, nil) {
			return true
		}
	}
	return false
}

func (inList) takesArrays() bool { return false }
