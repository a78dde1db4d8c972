package pipeline

// This file has $setWindowFields. Package window has its functions. The stage sorts the documents, cuts them into
// partitions, and sets the fields.

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

// windowFields is $setWindowFields: it sets fields of each document by functions over documents near it. The documents
// come out by partition, and in order within each partition.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/setWindowFields/
//
//	{$setWindowFields: {partitionBy: "$p", sortBy: {t: 1}, output: {sum: {$sum: "$n", window: {documents: [-1, 0]}}}}}
//
//	{p: 1, t: 1, n: 5}, {p: 1, t: 2, n: 7}, {p: 2, t: 1, n: 3}   gets   sum: 5, 12, 3
type windowFields struct {
	partition expr.Expr   // nil: all documents are one partition
	sort      *order.Sort // nil: the order of the input
	output    []windowField
}

// windowField is a field of the output.
type windowField struct {
	path     []string
	function window.Function
}

// parseWindowFields parses the stage. $fill calls it too.
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
			if by, err = readDocument("$setWindowFields", f); err == nil {
				s.sort, err = order.Parse(by)
				s.sort = p.scope.Collation().Sort(s.sort)
			}
		case "output":
			output, err = readDocument("$setWindowFields", f)
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
	// The functions may ask for the sort, which can stand behind the output in the document.
	for _, f := range output {
		if err := s.addField(f, window.Stage{Scope: p.scope, SortBy: by}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// addField parses one field of the output. sees is what the function needs to know of the stage. Two fields may not
// contain each other.
func (s *windowFields) addField(f bson.E, sees window.Stage) error {
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
	s.output = append(s.output, windowField{path: path, function: function})
	return err
}

// WindowFunctions returns the names of the functions of $setWindowFields, sorted. Package operators tests each.
func WindowFunctions() []string { return window.Functions() }

// windowItem is a document with the values by which it is sorted. The partition comes before the key.
type windowItem struct {
	partition any
	key       bson.A
	d         bson.D
}

// run cuts the sorted documents into partitions, and computes one after the other.
func (s *windowFields) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		all, err := s.collectItems(r, in)
		if err != nil {
			yield(nil, err)
			return
		}
		for len(all) > 0 {
			n := 1
			for n < len(all) && r.by.Compare(all[n].partition, all[0].partition) == 0 {
				n++
			}
			if !s.computePartition(r, all[:n], yield) {
				return
			}
			all = all[n:]
		}
	}
}

// computePartition sets the fields of a partition's documents, and yields them. It returns false if no more are wanted.
// The functions see the documents as they came, without the fields that others have set.
func (s *windowFields) computePartition(r *run, all []windowItem, yield func(bson.D, error) bool) bool {
	p := &window.Partition{Docs: make([]bson.D, len(all)), Context: r.base}
	for i, x := range all {
		p.Docs[i] = x.d
	}
	// $rank asks whether two documents are equal in the order.
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
			d = setThroughArrays(d, o.path, v)
		}
		if !yield(d, nil) {
			return false
		}
	}
	return true
}

// setThroughArrays returns a copy of d with the value at the path. It sets the rest of the path in each element of an
// array on the way, as $addFields does. setPath would replace the array.
func setThroughArrays(d bson.D, path []string, v any) bson.D {
	if len(path) == 1 {
		return setPath(d, path, v)
	}
	old, _ := bsonval.Get(d, path[0])
	return bsonval.SetField(d, path[0], setInValue(old, path[1:], v))
}

// setInValue is setThroughArrays for a value on the way. A value that is no document is replaced by one.
func setInValue(old any, path []string, v any) any {
	switch x := old.(type) {
	case bson.A:
		out := make(bson.A, len(x))
		for i, e := range x {
			out[i] = setInValue(e, path, v)
		}
		return out
	case bson.D:
		return setThroughArrays(x, path, v)
	}
	return setThroughArrays(nil, path, v)
}

// collectItems reads all documents, and sorts them by partition and key. An array can't be a partition.
func (s *windowFields) collectItems(r *run, in Docs) ([]windowItem, error) {
	var all []windowItem
	held := r.newMeter("$setWindowFields", newWindowMemoryError())
	for d, err := range in {
		if err == nil {
			err = held.add(d)
		}
		if err != nil {
			return nil, err
		}
		x := windowItem{d: d}
		if s.partition != nil {
			if x.partition, err = s.partition.Eval(r.base.ForDocument(d)); err != nil {
				return nil, err
			}
		}
		if _, isArray := x.partition.(bson.A); isArray {
			return nil, mongoerr.New(mongoerr.TypeMismatch,
				"An expression used to partition cannot evaluate to value of type array")
		}
		// Documents without a value are in the partition of null.
		if bsonval.IsMissing(x.partition) {
			x.partition = nil
		}
		if s.sort != nil {
			x.key = s.sort.Key(d)
		}
		all = append(all, x)
	}
	compare := func(a, b windowItem) int {
		n := r.by.Compare(a.partition, b.partition)
		if n == 0 && s.sort != nil {
			n = s.sort.CompareKeys(a.key, b.key)
		}
		return n
	}
	return all, interrupt.SortStable(r.watch, all, compare)
}
