package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// arrayMaking are operators that make arrays of numbers or of other arrays.
var arrayMaking = table{
	"$range": callIn(2, 3, makeRange),
	"$zip":   parseZip,
}

// makeRange is {$range: [start, end, step]}, without the end and with the step 1 if none is given. A step may be
// negative. It counts its steps, because its length comes from numbers and not from an argument's length:
//
//	{$range: [0, 5, 2]}    →   [0, 2, 4]
//	{$range: [3, 0, -1]}   →   [3, 2, 1]
func makeRange(c *Context, args []any) (any, error) {
	// The arguments have codes of their own: 34443 and 34444, 34445 and 34446, 34447 and 34448.
	numbers := [3]int64{0, 0, 1}
	for i, v := range args {
		if !bsonval.IsNumber(v) {
			return nil, mongoerr.New(int32(34443+2*i),
				"$range requires numeric arguments, found value of type: %s", bsonval.TypeName(v))
		}
		n, ok := toInt32(v)
		if !ok {
			return nil, mongoerr.New(int32(34444+2*i),
				"$range requires arguments that can be represented as a 32-bit integer, found: %s", bsonval.Show(v))
		}
		numbers[i] = n
	}
	from, to, step := numbers[0], numbers[1], numbers[2]
	if step == 0 {
		return nil, mongoerr.New(34449, "$range requires a non-zero step value")
	}
	n := max((to-from)/step, 0)
	// More ints, of 4 bytes each, wouldn't fit into a document of 16 MB.
	if n > 1<<24/4 {
		return nil, mongoerr.New(mongoerr.ExceededMemoryLimit, "$range would make %d elements", n)
	}
	out := make(bson.A, 0, n+1)
	for n := from; (step > 0 && n < to) || (step < 0 && n > to); n += step {
		if len(out)%perStep == 0 {
			if err := c.Step(); err != nil {
				return nil, err
			}
		}
		out = append(out, int32(n))
	}
	return out, nil
}

// parseZip parses {$zip: {inputs: [array, …], useLongestLength: bool, defaults: [value, …]}}. The parts inputs and
// defaults must be arrays as they are written, because their lengths are compared here.
//
//	{$zip: {inputs: [[1, 2], ["x"]]}}                           →   [[1, "x"]]
//	{$zip: {inputs: [[1, 2], ["x"]], useLongestLength: true}}   →   [[1, "x"], [2, null]]
func parseZip(name string, arg any, s Scope) (Expr, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(34460, "$zip only supports an object as an argument, found %s", bsonval.TypeName(arg))
	}
	var inputs, defaults []Expr
	longest := false
	for _, f := range d {
		a, isArray := f.Value.(bson.A)
		var err error
		switch {
		case f.Key == "inputs" && isArray:
			inputs, err = parseAll(a, s)
		case f.Key == "inputs":
			err = mongoerr.New(34461, "inputs must be an array of expressions, found %s", bsonval.TypeName(f.Value))
		case f.Key == "defaults" && isArray:
			defaults, err = parseAll(a, s)
		case f.Key == "defaults":
			err = mongoerr.New(34462, "defaults must be an array of expressions, found %s", bsonval.TypeName(f.Value))
		case f.Key == "useLongestLength":
			if longest, ok = f.Value.(bool); !ok {
				err = mongoerr.New(34463, "useLongestLength must be a bool, found %s", bsonval.TypeName(f.Value))
			}
		default:
			err = mongoerr.New(34464, "$zip found an unknown argument: %s", f.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case len(inputs) == 0:
		return nil, mongoerr.New(34465, "$zip requires at least one input array")
	case defaults != nil && !longest:
		return nil, mongoerr.New(34466, "cannot specify defaults unless useLongestLength is true")
	case defaults != nil && len(defaults) != len(inputs):
		return nil, mongoerr.New(34467, "defaults and inputs must have the same length")
	}
	return function(func(c *Context) (any, error) { return zip(c, inputs, defaults, longest) }), nil
}

// zip evaluates $zip. The i-th row of the result has the i-th element of each input. If the result is as long as the
// longest input, defaults (or nulls) stand for elements that shorter inputs don't have.
func zip(c *Context, inputs, defaults []Expr, longest bool) (any, error) {
	args, err := evalAll(c, inputs)
	if err != nil {
		return nil, err
	}
	fill, err := evalAll(c, defaults)
	if err != nil {
		return nil, err
	}
	// length is that of the shortest input, or of the longest one.
	length := -1
	for _, v := range args {
		if bsonval.IsNullish(v) {
			return nil, nil
		}
		a, ok := v.(bson.A)
		if !ok {
			return nil, mongoerr.New(34468, "$zip found a non-array expression in input: %s", bsonval.Show(v))
		}
		if length < 0 || (longest && len(a) > length) || (!longest && len(a) < length) {
			length = len(a)
		}
	}
	out := make(bson.A, length)
	for i := range out {
		if err := c.Step(); err != nil {
			return nil, err
		}
		row := make(bson.A, len(args))
		for j, v := range args {
			if a := v.(bson.A); i < len(a) {
				row[j] = a[i]
			} else if j < len(fill) {
				row[j] = replaceMissing(fill[j])
			} // else null
		}
		out[i] = row
	}
	return out, nil
}
