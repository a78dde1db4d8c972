package pipeline

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/engine/expr"
	"github.com/docmodel/docmodel/internal/engine/interrupt"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// windowFields is $setWindowFields with $shift: what another document of the same partition has, so many places before or after.
// Its documents come out by partition, and in order within each. Other window functions are refused by name.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/setWindowFields/
type windowFields struct {
	partition expr.Expr // nil: all are one
	sort      *order.Sort
	output    []shift
}

// shift is one $shift. https://www.mongodb.com/docs/manual/reference/operator/aggregation/shift/
type shift struct {
	path     []string
	output   expr.Expr
	by       int64
	fallback any
}

func parseWindowFields(p *parser, name string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(mongoerr.FailedToParse, "the %s stage specification must be an object, found %s", name, bsonval.TypeName(arg))
	}
	s := &windowFields{}
	var output bson.D
	for _, f := range d {
		var err error
		switch f.Key {
		case "partitionBy":
			s.partition, err = expr.Parse(f.Value, p.scope)
		case "sortBy":
			var by bson.D
			if by, err = windowDocument(f); err == nil {
				s.sort, err = order.Parse(by)
			}
		case "output":
			output, err = windowDocument(f)
		default:
			err = mongoerr.New(40415, "BSON field '%s.%s' is an unknown field.", name, f.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	if output == nil {
		return nil, mongoerr.New(40414, "BSON field '%s.output' is missing but a required field", name)
	}
	for _, f := range output {
		if err := s.add(p, f); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func windowDocument(f bson.E) (bson.D, error) {
	d, ok := f.Value.(bson.D)
	if !ok {
		return nil, mongoerr.New(mongoerr.TypeMismatch, "BSON field '$setWindowFields.%s' is the wrong type '%s', expected type 'object'", f.Key, bsonval.TypeName(f.Value))
	}
	if d == nil {
		d = bson.D{}
	}
	return d, nil
}

// add parses one field of the output.
func (s *windowFields) add(p *parser, f bson.E) error {
	if err := expr.CheckPath(f.Key); err != nil {
		return err
	}
	d, ok := f.Value.(bson.D)
	switch {
	case !ok:
		return mongoerr.New(mongoerr.FailedToParse, "The field '%s' must be an object", f.Key)
	case len(d) == 0 || !strings.HasPrefix(d[0].Key, "$"):
		return mongoerr.New(mongoerr.FailedToParse, "Expected a $-prefixed window function, %s", f.Key)
	case d[0].Key != "$shift" && slices.Contains(windowFunctions, d[0].Key):
		return mongoerr.New(mongoerr.NotImplemented, "%s of $setWindowFields isn't implemented by the embedded engine", d[0].Key)
	case d[0].Key != "$shift":
		return mongoerr.New(mongoerr.FailedToParse, "Unrecognized window function, %s", d[0].Key)
	case len(d) > 1:
		return mongoerr.New(mongoerr.FailedToParse, "$shift does not accept a '%s' field", d[1].Key)
	case s.sort == nil:
		return mongoerr.New(mongoerr.FailedToParse, "$shift requires a sortBy")
	}
	x, err := parseShift(p, d[0].Value)
	x.path = strings.Split(f.Key, ".")
	s.output = append(s.output, x)
	return err
}

func parseShift(p *parser, arg any) (x shift, err error) {
	refused := func(format string, args ...any) (shift, error) {
		return x, mongoerr.New(mongoerr.FailedToParse, format, args...)
	}
	d, ok := arg.(bson.D)
	if !ok {
		return refused("Argument to $shift must be an object")
	}
	by := false
	for _, f := range d {
		switch f.Key {
		case "output":
			x.output, err = expr.Parse(f.Value, p.scope)
		case "by":
			if x.by, by = bsonval.Int64(f.Value); !by {
				return refused("'$shift:by' field must be an integer, but found: %v", f.Value)
			}
		case "default":
			var e expr.Expr
			if e, err = expr.Parse(f.Value, p.scope); err == nil {
				if x.fallback, ok = expr.Literal(e); !ok {
					return refused("'$shift:default' expression must yield a constant value.")
				}
			}
		default:
			return refused("Unknown argument in $shift")
		}
		if err != nil {
			return x, err
		}
	}
	switch {
	case x.output == nil:
		return refused("$shift requires an 'output' expression.")
	case !by:
		return refused("$shift requires 'by' as an integer value.")
	}
	return x, nil
}

// WindowFunctions returns the names of the functions of $setWindowFields, sorted.
func WindowFunctions() []string { return []string{"$shift"} }

// windowFunctions are those that MongoDB has.
var windowFunctions = []string{"$addToSet", "$avg", "$bottom", "$bottomN", "$concatArrays", "$count", "$covariancePop", "$covarianceSamp",
	"$denseRank", "$derivative", "$documentNumber", "$expMovingAvg", "$first", "$firstN", "$integral", "$last", "$lastN", "$linearFill",
	"$locf", "$max", "$maxN", "$median", "$min", "$minMaxScaler", "$minN", "$percentile", "$push", "$rank", "$setUnion", "$stdDevPop",
	"$stdDevSamp", "$sum", "$top", "$topN"}

// placed is a document with what it is sorted by.
type placed struct {
	partition any
	key       bson.A
	d         bson.D
}

func (s *windowFields) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		all, err := s.arrange(r, in)
		if err != nil {
			yield(nil, err)
			return
		}
		for i, x := range all {
			d := x.d
			for _, o := range s.output {
				v, err := o.at(r, all, i)
				if err != nil {
					yield(nil, err)
					return
				}
				d = setPath(d, o.path, v)
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// arrange reads all documents, and sorts them.
func (s *windowFields) arrange(r *run, in Docs) ([]placed, error) {
	var all []placed
	held := r.meter("$setWindowFields", windowTooLarge())
	for d, err := range in {
		if err == nil {
			err = held.add(d)
		}
		if err != nil {
			return nil, err
		}
		x := placed{d: d}
		if s.partition != nil {
			if x.partition, err = s.partition.Eval(r.base.On(d)); err != nil {
				return nil, err
			}
		}
		if _, isArray := x.partition.(bson.A); isArray {
			return nil, mongoerr.New(mongoerr.TypeMismatch, "An expression used to partition cannot evaluate to value of type array")
		}
		if bsonval.IsMissing(x.partition) {
			x.partition = nil
		}
		if s.sort != nil {
			x.key = s.sort.Key(d)
		}
		all = append(all, x)
	}
	err := interrupt.SortStable(r.watch, all, func(a, b placed) int {
		n := bsonval.Compare(a.partition, b.partition)
		if n == 0 && s.sort != nil {
			n = s.sort.CompareKeys(a.key, b.key)
		}
		return n
	})
	return all, err
}

// at is what the document so many places from the i-th gives, a missing value too.
func (x shift) at(r *run, all []placed, i int) (any, error) {
	j := int64(i) + x.by
	if j < 0 || j >= int64(len(all)) || bsonval.Compare(all[j].partition, all[i].partition) != 0 {
		return x.fallback, nil
	}
	return x.output.Eval(r.base.On(all[j].d))
}
