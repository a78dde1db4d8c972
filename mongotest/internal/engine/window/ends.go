package window

// This file has the functions that take the value of one other document: $first, $last and $shift.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// end is $first or $last: the value of the document at one end of the window. A missing value becomes null.
// https://www.mongodb.com/docs/manual/reference/mql/window-functions/last/
type end struct {
	input expr.Expr
	last  bool
	*bounds
}

// parseEnd parses $first or $last.
func parseEnd(name string, spec bson.D, s Stage) (Function, error) {
	arg, b, err := readNamedParts(name, spec, s)
	if err != nil {
		return nil, err
	}
	e, err := expr.Parse(arg, s.Scope)
	return end{input: e, last: name == "$last", bounds: b}, err
}

// StartPartition evaluates only one document of each window. An empty window gives null.
func (e end) StartPartition(p *Partition) Values {
	f := e.bounds.newFrames(p)
	return func(i int) (any, error) {
		first, last, err := f.findFrame(i)
		switch {
		case err != nil:
			return nil, err
		case first > last:
			return nil, nil
		case e.last:
			first = last
		}
		v, err := p.eval(e.input, first)
		if bsonval.IsMissing(v) {
			v = nil
		}
		return v, err
	}
}

// shift is $shift: the value of the document that is so many places after this one, or before it if by is below 0.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/shift/
type shift struct {
	output   expr.Expr
	by       int64
	fallback any // of documents beyond the partition; nil: null
}

// parseShift parses $shift. The order of the cases decides which error a specification with several mistakes gets.
func parseShift(name string, spec bson.D, s Stage) (Function, error) {
	x, seen := shift{}, false
	for _, f := range spec {
		d, isDocument := f.Value.(bson.D)
		switch {
		case f.Key == "window":
			return nil, newError("$shift does not accept a 'window' field")
		case s.isFunction(f.Key) && seen:
			return nil, newError("Cannot specify multiple functions in window function spec")
		case !s.isFunction(f.Key):
			return nil, newError("Window function found an unknown argument: %s", f.Key)
		case !isDocument:
			return nil, newError("Argument to $shift must be an object")
		}
		seen = true
		if err := x.parseArgument(d, s); err != nil {
			return nil, err
		}
	}
	if s.SortBy == nil {
		return nil, newError("'%s' requires a sortBy", name)
	}
	return x, nil
}

// parseArgument parses output, by and default. Only default may be left out.
func (x *shift) parseArgument(d bson.D, s Stage) (err error) {
	by := false
	for _, f := range d {
		switch f.Key {
		case "output":
			x.output, err = expr.Parse(f.Value, s.Scope)
		case "by":
			if by = isInt(f.Value); !by {
				return newError("'$shift:by' field must be an integer, but found  by: %s", bsonval.Text(f.Value))
			}
			x.by, _ = bsonval.Int64(f.Value)
		case "default":
			var constant bool
			if x.fallback, constant, err = s.evalConstant(f.Value); err == nil && !constant {
				return newError("'$shift:default' expression must yield a constant value.")
			}
		default:
			return newError("Unknown argument in $shift")
		}
		if err != nil {
			return err
		}
	}
	switch {
	case x.output == nil:
		return newError("$shift requires an 'output' expression.")
	case !by:
		return newError("$shift requires 'by' as an integer value.")
	}
	return nil
}

// StartPartition evaluates the other document, which doesn't depend on the values that the documents are sorted by.
func (x shift) StartPartition(p *Partition) Values {
	return func(i int) (any, error) {
		// by fits 32 bits, so the sum can't overflow.
		j := int64(i) + x.by
		if j < 0 || j >= int64(len(p.Docs)) {
			return x.fallback, nil
		}
		return p.eval(x.output, int(j))
	}
}
