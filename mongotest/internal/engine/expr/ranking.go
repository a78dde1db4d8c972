package expr

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// parseNOfInput parses {input, n}.
func parseNOfInput(name string, arg any, s Scope) (*Accumulator, error) {
	input, count, err := parseInputAndCount(name, arg, s)
	if err != nil {
		return nil, err
	}
	k := newKeeping(name, s.collation)
	if k.n, err = readConstantCount(count); err != nil {
		return nil, err
	}
	return &Accumulator{arg: input, start: func() accumulation { next := k; return &next }}, nil
}

// parseInputAndCount parses {input, n}, both of which must be there.
func parseInputAndCount(name string, arg any, s Scope) (input, count Expr, err error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, nil, mongoerr.New(5787900, "specification must be an object; found %s: %s", name, Show(arg))
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

// newKeeping returns what keeps the first or last by the order of documents or values, without n.
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

// parseCount parses n, of which MongoDB allows an expression over the group's key too.
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
		return 0, mongoerr.New(mongoerr.NotImplemented, "an 'n' that isn't constant isn't implemented by the embedded engine")
	}
	return readCount(c)
}

// readCount reads n, a positive whole number.
func readCount(v any) (int64, error) {
	n, ok := bsonval.Int64(v)
	switch {
	case !bsonval.IsNumber(v):
		return 0, mongoerr.New(5787902, "Value for 'n' must be of integral type, but found %s", Show(v))
	case !ok:
		return 0, mongoerr.New(5787903, "Value for 'n' must be of integral type, but found %s", Show(v))
	case n <= 0:
		return 0, mongoerr.New(5787908, "'n' must be greater than 0, found %d", n)
	}
	return n, nil
}

// parseTopOrBottom parses {sortBy, output, n}, without n for one document.
func parseTopOrBottom(name string, arg any, s Scope) (*Accumulator, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(5788001, "specification must be an object; found %s: %s", name, Show(arg))
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
	k.compare = func(a, b any) int { return by.CompareKeys(a.(placed).key, b.(placed).key) }
	place := function(func(c *Context) (any, error) {
		v, err := output.Eval(c)
		d, _ := c.Root.(bson.D)
		return placed{by.Key(d), replaceMissing(v)}, err
	})
	return &Accumulator{arg: place, start: func() accumulation { next := k; return &next }}, nil
}

// placed is a value with what it is sorted by.
type placed struct {
	key bson.A
	v   any
}

// keeping is such an accumulator at work.
type keeping struct {
	n       int64
	last    bool // keep the last n, not the first
	one     bool // the result is the value, not a list
	compare func(a, b any) int
	list    []any
	held    memory
	name    string
}

func (k *keeping) add(v any) error {
	if _, sorted := v.(placed); !sorted && k.compare != nil && bsonval.IsNullish(v) {
		return nil // $minN and $maxN leave out what has no value
	}
	k.list = append(k.list, v)
	if int64(len(k.list)) > min(k.n, 1<<32)*2+64 {
		k.sortAndCut()
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

// sortAndCut leaves the values of the result, in order.
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

// getValue returns a value without the key that it is sorted by.
func getValue(v any) any {
	if p, ok := v.(placed); ok {
		return p.v
	}
	return v
}

func (k *keeping) heldBytes() int { return k.held.used }

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
