package query

// This file has the conditions on a path, and the walker that finds the values at a path through arrays. All operators
// on a field's value stand on it.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// onPath is a condition on the values that a document has at a path, such as {"a.b": {$gt: 1}}.
type onPath struct {
	path bsonval.Path
	name string // the path with dots
	cond cond
}

func (n onPath) match(c *expr.Context, d bson.D, rec *int) (bool, error) {
	list, ok := n.cond.(every)
	if !ok || c == nil || len(list) < longList {
		return n.cond.matchPath(n.path, d, rec), nil
	}
	for _, x := range list {
		if err := c.Watch.Steps(longList); err != nil {
			return false, err
		}
		if !x.matchPath(n.path, d, rec) {
			return false, nil
		}
	}
	return true, nil
}

// longList is the number of conditions on one path from which the watch is asked before each condition. A long $all on
// a long array would otherwise run on after its command has ended. Each condition counts as longList steps, because it
// may go through the whole array.
const longList = 64

// cond is a condition on a value, or on the values that a path leads to. rec is as in [node].
type cond interface {
	// matchPath reports whether the values that d has at the path fulfill the condition.
	matchPath(p bsonval.Path, d bson.D, rec *int) bool
	// matchValue reports whether v itself fulfills the condition. If v is an array, its elements don't count. Only
	// $elemMatch calls it, with an element.
	matchValue(v any, rec *int) bool
}

// predicate is a test of one value. Operators such as $eq, $size and $type are predicates.
type predicate interface {
	// test reports whether the value passes. It gets bsonval.Missing for a path that leads nowhere. rec is nil, or
	// receives an array position.
	test(v any, rec *int) bool
	// takesArrays reports whether an array at the end of the path is tested only as a whole, as by $size. Otherwise its
	// elements are tested first, and then the array.
	takesArrays() bool
}

// leaf is a predicate as a condition: some value at the path passes.
type leaf struct{ predicate }

func (l leaf) matchValue(v any, rec *int) bool { return l.test(v, rec) }

func (l leaf) matchPath(p bsonval.Path, d bson.D, rec *int) bool {
	w := walker{path: p, leaf: l, elements: !l.takesArrays(), rec: rec}
	return w.walkDocument(d, 0, -1)
}

// every matches if all conditions match. Each condition may match by another value: {a: {$gt: 5, $lt: 3}} matches
// {a: [1, 9]}.
type every []cond

func (e every) matchValue(v any, rec *int) bool {
	for _, c := range e {
		if !c.matchValue(v, rec) {
			return false
		}
	}
	return true
}

func (e every) matchPath(p bsonval.Path, d bson.D, rec *int) bool {
	for _, c := range e {
		if !c.matchPath(p, d, rec) {
			return false
		}
	}
	return true
}

// never matches nothing. It is the condition of {$all: []}.
type never struct{}

func (never) matchValue(any, *int) bool                 { return false }
func (never) matchPath(bsonval.Path, bson.D, *int) bool { return false }

// not matches if the condition doesn't, so {$not: {$gt: 1}} also matches a missing field and an array without such an
// element. It sets no position.
type not struct{ c cond }

func (n not) matchValue(v any, _ *int) bool                   { return !n.c.matchValue(v, nil) }
func (n not) matchPath(p bsonval.Path, d bson.D, _ *int) bool { return !n.c.matchPath(p, d, nil) }

// walker tests the values at a path until one passes. It goes through arrays on the way:
//
//	"a.b"     {a: [{b: 1}, {b: 2}, 3]}   1 and 2: each document of an array is followed, other elements aren't
//	"a.b"     {a: [[{b: 1}]]}            no value: an array in an array isn't followed
//	"a.0.b"   {a: [{b: 1}, {b: 2}]}      1: a number is a position of an array
//	"a.0.b"   {a: [{0: {b: 3}}]}         3: a number is also a field's name, in the documents of the array
//	"a"       {a: [1, 2]}                1, 2 and [1, 2]
//	"a.b"     {a: 5}                     Missing
//
// The manual describes this in https://www.mongodb.com/docs/manual/tutorial/query-array-of-documents/.
type walker struct {
	path     bsonval.Path
	leaf     leaf
	elements bool // test the elements of an array at the end of the path, and not only the array
	rec      *int // as in node
}

// testValue tests a value. at is the position in the outermost array on the way to it, or -1.
func (w *walker) testValue(v any, at int) bool {
	if !w.leaf.test(v, w.rec) {
		return false
	}
	// The outermost position takes the place of the one that the predicate may have set.
	if at >= 0 && w.rec != nil {
		*w.rec = at
	}
	return true
}

// walkDocument follows the path from its i-th component in a document.
func (w *walker) walkDocument(d bson.D, i, at int) bool {
	v, _ := bsonval.Get(d, w.path[i].Name)
	for i++; i < len(w.path); i++ {
		switch x := v.(type) {
		case bson.D:
			v, _ = bsonval.Get(x, w.path[i].Name)
		case bson.A:
			return w.walkArray(x, i, at)
		default:
			return w.testValue(bsonval.Missing, at)
		}
	}
	if a, ok := v.(bson.A); ok && w.elements {
		for k, x := range a {
			if w.testValue(x, keepOuter(at, k)) {
				return true
			}
		}
	}
	return w.testValue(v, at)
}

// walkArray follows the path from its i-th component in an array.
func (w *walker) walkArray(a bson.A, i, at int) bool {
	for k, x := range a {
		d, isDocument := x.(bson.D)
		if isDocument && w.walkDocument(d, i, keepOuter(at, k)) {
			return true
		}
		if w.path[i].Index != k {
			continue
		}
		if i == len(w.path)-1 {
			// An element that the path names is tested alone: {"a.0": 1} doesn't match {a: [[1, 2]]}.
			if w.testValue(x, keepOuter(at, k)) {
				return true
			}
			continue
		}
		// The path itself names this position, so it isn't the one that "$" asks for.
		switch x := x.(type) {
		case bson.D:
			if w.walkDocument(x, i+1, at) {
				return true
			}
		case bson.A:
			if w.walkArray(x, i+1, at) {
				return true
			}
		}
	}
	return false
}

// keepOuter returns the position of the outermost array: at if there was an array before, else k.
func keepOuter(at, k int) int {
	if at >= 0 {
		return at
	}
	return k
}

// collector is a predicate that collects the values at a path. No value passes, so that the walker goes on to the last.
// Explain and distances of geometries use it. An array at the end of the path is one value.
type collector struct {
	values bson.A
	ended  bool // a value was missing; MongoDB's explanations leave out all values after it
}

func (*collector) takesArrays() bool { return true }

func (n *collector) test(v any, _ *int) bool {
	n.ended = n.ended || bsonval.IsMissing(v)
	if !n.ended {
		n.values = append(n.values, v)
	}
	return false
}
