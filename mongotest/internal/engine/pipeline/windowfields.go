package pipeline

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/window"
)

// windowFields is $setWindowFields. Its documents come out by partition, and in order within each.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/setWindowFields/
type windowFields struct {
	partition expr.Expr // nil: all are one
	sort      *order.Sort
	output    []windowField
}

// windowField is a field of the output.
type windowField struct {
	path     []string
	function window.Function
}

func parseWindowFields(p *parser, name string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(mongoerr.FailedToParse, "the %s stage specification must be an object, found %s",
			name, bsonval.TypeName(arg))
	}
	s := &windowFields{}
	var by, output bson.D
	for _, f := range d {
		var err error
		switch f.Key {
		case "partitionBy":
			s.partition, err = expr.Parse(f.Value, p.scope)
		case "sortBy":
			if by, err = windowDocument(f); err == nil {
				s.sort, err = order.Parse(by)
				s.sort = p.scope.Collation().Sort(s.sort)
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
		if err := s.add(f, window.Stage{Scope: p.scope, SortBy: by}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func windowDocument(f bson.E) (bson.D, error) {
	d, ok := f.Value.(bson.D)
	if !ok {
		return nil, mongoerr.New(mongoerr.TypeMismatch,
			"BSON field '$setWindowFields.%s' is the wrong type '%s', expected type 'object'", f.Key, bsonval.TypeName(f.Value))
	}
	if d == nil {
		d = bson.D{}
	}
	return d, nil
}

// add parses one field of the output.
func (s *windowFields) add(f bson.E, sees window.Stage) error {
	if err := expr.CheckPath(f.Key); err != nil {
		return err
	}
	path := strings.Split(f.Key, ".")
	for _, o := range s.output {
		if n := min(len(o.path), len(path)); slices.Equal(o.path[:n], path[:n]) {
			return mongoerr.New(6307900, "$setWindowFields 'output' specification contains two conflicting paths")
		}
	}
	d, ok := f.Value.(bson.D)
	if !ok {
		return mongoerr.New(mongoerr.FailedToParse, "The field '%s' must be an object", f.Key)
	}
	function, err := window.Parse(d, sees)
	s.output = append(s.output, windowField{path, function})
	return err
}

// WindowFunctions returns the names of the functions of $setWindowFields, sorted.
func WindowFunctions() []string { return window.Functions() }

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
		for len(all) > 0 {
			n := 1
			for n < len(all) && r.by.Compare(all[n].partition, all[0].partition) == 0 {
				n++
			}
			if !s.compute(r, all[:n], yield) {
				return
			}
			all = all[n:]
		}
	}
}

// compute sets the fields of a partition's documents.
func (s *windowFields) compute(r *run, all []placed, yield func(bson.D, error) bool) bool {
	p := &window.Partition{Docs: make([]bson.D, len(all)), Context: r.base}
	for i, x := range all {
		p.Docs[i] = x.d
	}
	p.Same = func(i, j int) bool { return s.sort.CompareKeys(all[i].key, all[j].key) == 0 }
	values := make([]window.Values, len(s.output))
	for i, o := range s.output {
		values[i] = o.function.StartPartition(p)
	}
	for i, d := range p.Docs {
		for k, o := range s.output {
			v, err := values[k](i)
			if err != nil {
				yield(nil, err)
				return false
			}
			d = setWithin(d, o.path, v)
		}
		if !yield(d, nil) {
			return false
		}
	}
	return true
}

// setWithin is setPath, but sets the rest of the path in each element of an array on the way, as $addFields does.
func setWithin(d bson.D, path []string, v any) bson.D {
	if len(path) == 1 {
		return setPath(d, path, v)
	}
	old, _ := bsonval.Get(d, path[0])
	return bsonval.SetField(d, path[0], setInside(old, path[1:], v))
}

func setInside(old any, path []string, v any) any {
	switch x := old.(type) {
	case bson.A:
		out := make(bson.A, len(x))
		for i, e := range x {
			out[i] = setInside(e, path, v)
		}
		return out
	case bson.D:
		return setWithin(x, path, v)
	}
	return setWithin(nil, path, v)
}

// arrange reads all documents, and sorts them.
func (s *windowFields) arrange(r *run, in Docs) ([]placed, error) {
	var all []placed
	held := r.newMeter("$setWindowFields", newWindowError())
	for d, err := range in {
		if err == nil {
			err = held.add(d)
		}
		if err != nil {
			return nil, err
		}
		x := placed{d: d}
		if s.partition != nil {
			if x.partition, err = s.partition.Eval(r.base.ForDocument(d)); err != nil {
				return nil, err
			}
		}
		if _, isArray := x.partition.(bson.A); isArray {
			return nil, mongoerr.New(mongoerr.TypeMismatch,
				"An expression used to partition cannot evaluate to value of type array")
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
		n := r.by.Compare(a.partition, b.partition)
		if n == 0 && s.sort != nil {
			n = s.sort.CompareKeys(a.key, b.key)
		}
		return n
	})
	return all, err
}
