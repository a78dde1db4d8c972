package pipeline

// This file has $unwind, and getPath and setPath, by which many stages read and set a field at a path.

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// unwind is $unwind: a document for each element of an array, with the element in the array's place.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/unwind/
//
//	{$unwind: "$tags"}   {_id: 1, tags: ["a", "b"]}   gives   {_id: 1, tags: "a"}, {_id: 1, tags: "b"}
//
// A document whose field is missing, null or an empty array gives no document.
type unwind struct {
	path     []string // of the array
	index    []string // the path at which an element's position is stored, nil: it isn't
	preserve bool     // preserveNullAndEmptyArrays: a document without elements gives itself
}

// parseUnwind parses {$unwind: "$a"}, and {$unwind: {path: "$a", preserveNullAndEmptyArrays: true, includeArrayIndex:
// "i"}}.
func parseUnwind(_ *parser, _ string, arg any) (stage, error) {
	var path string
	s := &unwind{}
	switch x := arg.(type) {
	case string:
		path = x
	case bson.D:
		for _, f := range x {
			var ok bool
			switch f.Key {
			case "path":
				if path, ok = f.Value.(string); !ok {
					return nil, mongoerr.New(28808, "expected a string as the path for $unwind stage, got %s",
						bsonval.TypeName(f.Value))
				}
			case "preserveNullAndEmptyArrays":
				if s.preserve, ok = f.Value.(bool); !ok {
					return nil, mongoerr.New(28809,
						"expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got %s",
						bsonval.TypeName(f.Value))
				}
			case "includeArrayIndex":
				name, ok := f.Value.(string)
				switch {
				case !ok || name == "":
					return nil, mongoerr.New(28810,
						"expected a non-empty string for the includeArrayIndex option to $unwind stage, got %s",
						bsonval.TypeName(f.Value))
				case strings.HasPrefix(name, "$"):
					return nil, mongoerr.New(28822,
						"includeArrayIndex option to $unwind stage should not be prefixed with a '$': %s", name)
				}
				if err := expr.CheckPath(name); err != nil {
					return nil, err
				}
				s.index = strings.Split(name, ".")
			default:
				return nil, mongoerr.New(28811, "unrecognized option to $unwind stage: %s", f.Key)
			}
		}
	default:
		return nil, mongoerr.New(15981,
			"expected either a string or an object as specification for $unwind stage, got %s", bsonval.TypeName(arg))
	}
	if path == "" {
		return nil, mongoerr.New(28812, "no path specified to $unwind stage")
	}
	// The path is a field path, with $, as in expressions.
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return nil, mongoerr.New(28818, "path option to $unwind stage should be prefixed with a '$': %s", path)
	}
	if err := expr.CheckPath(rest); err != nil {
		return nil, err
	}
	s.path = strings.Split(rest, ".")
	return s, nil
}

// run yields the documents of each input document before it takes the next one.
func (s *unwind) run(_ *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		for d, err := range in {
			if err != nil {
				yield(nil, err)
				return
			}
			if !s.unwindDocument(d, func(d bson.D) bool { return yield(d, nil) }) {
				return
			}
		}
	}
}

// unwindDocument passes on the documents that one document becomes. It returns false if no more are wanted. With
// includeArrayIndex: "i" they are:
//
//	{a: [5, 6]}               {a: 5, i: 0}, {a: 6, i: 1}
//	{a: 5}                    {a: 5, i: null}
//	{a: []}                   no document, or with preserve {i: null}
//	{a: null} and {}          no document, or with preserve {a: null, i: null} and {i: null}
func (s *unwind) unwindDocument(d bson.D, yield func(bson.D) bool) bool {
	v := getPath(d, s.path)
	a, isArray := v.(bson.A)
	switch {
	case isArray && len(a) > 0:
		for i, x := range a {
			if !yield(s.setIndex(setPath(d, s.path, x), int64(i))) {
				return false
			}
		}
		return true
	case !isArray && !bsonval.IsNullish(v):
		return yield(s.setIndex(d, nil))
	// The array is empty, or there is none.
	case !s.preserve:
		return true
	case isArray:
		return yield(s.setIndex(setPath(d, s.path, bsonval.Missing), nil))
	}
	return yield(s.setIndex(d, nil))
}

// setIndex stores an element's position if the stage asks for it: a long, or null.
func (s *unwind) setIndex(d bson.D, index any) bson.D {
	if s.index == nil {
		return d
	}
	return setPath(d, s.index, index)
}

// getPath returns the value at a path that leads through documents only. It is Missing if an array or another value is
// on the way.
func getPath(d bson.D, path []string) any {
	for i, name := range path {
		v, _ := bsonval.Get(d, name)
		if i == len(path)-1 {
			return v
		}
		next, ok := v.(bson.D)
		if !ok {
			break
		}
		d = next
	}
	return bsonval.Missing
}

// setPath returns a copy of d with the value at the path. A value on the way that isn't a document is replaced by one.
// The value Missing removes the field. setThroughArrays is for stages that go through arrays.
func setPath(d bson.D, path []string, v any) bson.D {
	if len(path) > 1 {
		old, _ := bsonval.Get(d, path[0])
		inner, _ := old.(bson.D)
		v = setPath(inner, path[1:], v)
	}
	if bsonval.IsMissing(v) {
		if d == nil {
			return bson.D{}
		}
		return bsonval.RemoveField(d, path[0])
	}
	return bsonval.SetField(d, path[0], v)
}
