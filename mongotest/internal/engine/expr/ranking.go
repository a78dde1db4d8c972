package expr

// This file has the accumulators that keep the first or last values of a group. Their order is one of three:
//
//	$firstN, $lastN                   the order of the documents
//	$minN, $maxN                      the order of the values
//	$top, $topN, $bottom, $bottomN    the order of the part sortBy, of the documents' fields
//
// arrayranking.go has the first two kinds as operators on an array.

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// parseNOfInput parses $firstN, $lastN, $minN or $maxN as accumulators: {$minN: {input: "$n", n: 2}}.
func parseNOfInput(name string, arg any, s Scope) (*Accumulator, error) {
	input, count, err := parseInputAndCount(name, arg, s)
	if err != nil {
		return nil, err
	}
	k := newKeeping(name, s.collation)
	if k.n, err = readConstantCount(count); err != nil {
		return nil, err
	}
	// Each group begins with a copy of the empty k.
	return &Accumulator{arg: input, start: func() accumulation { next := k; return &next }}, nil
}

// parseInputAndCount parses the parts input and n, which must both be given.
func parseInputAndCount(name string, arg any, s Scope) (input, count Expr, err error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, nil, mongoerr.New(5787900, "specification must be an object; found %s: %s", name, bsonval.Show(arg))
	}
	for _, f := range d {
		switch f.Key {
		case "input":
			input, err = Parse(f.Value, s)
		case "n":
			count, err = Parse(f.Value, s)
		default:
			err = mongoerr.New(5787901, "Unknown argument for 'n' operator: %s", f.Key)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	switch {
	case count == nil:
		return nil, nil, mongoerr.New(5787906, "Missing value for 'n'")
	case input == nil:
		return nil, nil, mongoerr.New(5787907, "Missing value for 'input'")
	}
	return input, count, nil
}

// newKeeping returns the empty state of $firstN, $lastN, $minN or $maxN. The caller sets n.
func newKeeping(name string, by *collation.Collator) keeping {
	k := keeping{name: name, last: name == "$lastN"}
	switch name {
	case "$minN":
		k.compare = func(a, b any) int { return by.Compare(a, b) }
	case "$maxN":
		k.compare = func(a, b any) int { return by.Compare(b, a) }
	}
	return k
}

// parseCount parses the part n of $topN and $bottomN. MongoDB also allows an expression over the group's _id, which
// this engine refuses.
func parseCount(v any, s Scope) (int64, error) {
	e, err := Parse(v, s)
	if err != nil {
		return 0, err
	}
	return readConstantCount(e)
}

// readConstantCount reads an n that must be constant.
func readConstantCount(e Expr) (int64, error) {
	c, ok := Literal(e)
	if !ok {
		return 0, mongoerr.New(mongoerr.NotImplemented,
			"an 'n' that isn't constant isn't implemented by the embedded engine")
	}
	return readCount(c)
}

// readCount reads n, a positive whole number.
func readCount(v any) (int64, error) {
	n, ok := bsonval.Int64(v)
	switch {
	case !bsonval.IsNumber(v):
		return 0, mongoerr.New(5787902, "Value for 'n' must be of integral type, but found %s", bsonval.Show(v))
	case !ok:
		return 0, mongoerr.New(5787903, "Value for 'n' must be of integral type, but found %s", bsonval.Show(v))
	case n <= 0:
		return 0, mongoerr.New(5787908, "'n' must be greater than 0, found %d", n)
	}
	return n, nil
}

// parseTopOrBottom parses {$topN: {sortBy: {score: -1}, output: "$name", n: 3}}, or $bottomN. $top and $bottom have no
// n, and their result is one value instead of a list.
func parseTopOrBottom(name string, arg any, s Scope) (*Accumulator, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(5788001, "specification must be an object; found %s: %s", name, bsonval.Show(arg))
	}
	one := !strings.HasSuffix(name, "N")
	k := keeping{name: name, last: strings.HasPrefix(name, "$bottom"), one: one}
	if one {
		k.n = 1
	}
	var by *order.Sort
	var output Expr
	for _, f := range d {
		var err error
		switch {
		case f.Key == "sortBy":
			spec, ok := f.Value.(bson.D)
			if !ok {
				return nil, mongoerr.New(10065, "invalid parameter: expected an object (sortBy)")
			}
			by, err = order.Parse(spec)
			by = s.collation.Sort(by)
		case f.Key == "output":
			output, err = Parse(f.Value, s)
		case f.Key == "n" && !one:
			k.n, err = parseCount(f.Value, s)
		default:
			err = mongoerr.New(5788002, "Unknown argument to %s '%s'", name, f.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case k.n == 0:
		return nil, mongoerr.New(5788003, "Missing value for 'n'")
	case output == nil:
		return nil, mongoerr.New(5788004, "Missing value for 'output'")
	case by == nil:
		return nil, mongoerr.New(5788005, "Missing value for 'sortBy'")
	}
	k.compare = func(a, b any) int { return by.CompareKeys(a.(keyed).key, b.(keyed).key) }
	// The accumulator takes in the output together with the key, because only the output's context has the document.
	evalKeyed := func(c *Context) (any, error) {
		v, err := output.Eval(c)
		d, _ := c.Root.(bson.D)
		return keyed{by.Key(d), replaceMissing(v)}, err
	}
	return &Accumulator{arg: function(evalKeyed), start: func() accumulation { next := k; return &next }}, nil
}

// keyed is a value of $top, $topN, $bottom or $bottomN with its key: the values of the fields of sortBy.
type keyed struct {
	key bson.A
	v   any
}

// keeping is the state of an accumulator that keeps the first or last values of a group.
type keeping struct {
	n       int64              // how many values the result has at most
	last    bool               // keep the last n, not the first
	one     bool               // the result is the value, not a list
	compare func(a, b any) int // the order of two elements of list; nil for the order in which they were added
	list    []any              // the values, or keyed values. It may have more than n: see add
	held    memory             // of the values of list
	name    string             // of the accumulator, for an error
}

// add takes in a value. It lets the list grow to about twice n before it sorts the list and cuts it, so that a value
// costs little more than its place in the list.
func (k *keeping) add(v any) error {
	if _, isKeyed := v.(keyed); !isKeyed && k.compare != nil && bsonval.IsNullish(v) {
		return nil // $minN and $maxN leave out nullish values
	}
	k.list = append(k.list, v)
	if int64(len(k.list)) > min(k.n, 1<<32)*2+64 { // n is bounded, because twice n could overflow
		k.sortAndCut()
		// The bytes are counted again, of the values that are left. The last one is counted below.
		k.held = memory{}
		for _, v := range k.list[:len(k.list)-1] {
			if err := k.held.add(k.name, getValue(v)); err != nil {
				return err
			}
		}
		v = k.list[len(k.list)-1]
	}
	return k.held.add(k.name, getValue(v))
}

// sortAndCut leaves the values of the result in list, in their order. The sort is stable: of equal values the one
// that was added first comes first. A clone lets the rest of the list go.
func (k *keeping) sortAndCut() {
	if k.compare != nil {
		slices.SortStableFunc(k.list, k.compare)
	}
	n := int64(len(k.list))
	switch {
	case n <= k.n:
	case k.last:
		k.list = slices.Clone(k.list[n-k.n:])
	default:
		k.list = slices.Clone(k.list[:k.n])
	}
}

// getValue returns an element of the list without its key.
func getValue(v any) any {
	if p, ok := v.(keyed); ok {
		return p.v
	}
	return v
}

func (k *keeping) heldBytes() int { return k.held.used }

// result returns the list of the values, or for $top and $bottom the value. Without a value that is null.
func (k *keeping) result() any {
	k.sortAndCut()
	out := make(bson.A, len(k.list))
	for i, v := range k.list {
		out[i] = replaceMissing(getValue(v))
	}
	if !k.one {
		return out
	}
	if len(out) == 0 {
		return nil
	}
	return out[0]
}
