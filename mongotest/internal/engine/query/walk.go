package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// onPath is a condition on what a document has at a path.
type onPath struct {
	path bsonval.Path
	name string // the path with dots
	cond cond
}

func (n onPath) match(c *expr.Context, d bson.D, rec *int) (bool, error) {
	list, ok := n.cond.(every)
	if !ok || c == nil || len(list) < longList {
		return n.cond.onPath(n.path, d, rec), nil
	}
	for _, x := range list {
		if err := c.Watch.Steps(longList); err != nil {
			return false, err
		}
		if !x.onPath(n.path, d, rec) {
			return false, nil
		}
	}
	return true, nil
}

// longList is from how many conditions on a path each of them is a reason to look whether the
// command is over, as a long array may be at the path.
const longList = 64

// cond is a condition on a value, or on the values that a path leads to.
type cond interface {
	// onPath reports whether what d has at the path fulfills the condition.
	onPath(p bsonval.Path, d bson.D, rec *int) bool
	// onValue reports whether v does, without looking into it when it is an array.
	onValue(v any, rec *int) bool
}

// predicate is a test of one value.
type predicate interface {
	// test reports whether the value passes. rec is nil, or receives an array position.
	test(v any, rec *int) bool
	// whole says that an array is tested as such, and its elements are not.
	whole() bool
}

// leaf is a predicate as a condition: some value at the path passes.
type leaf struct{ predicate }

func (l leaf) onValue(v any, rec *int) bool { return l.test(v, rec) }

func (l leaf) onPath(p bsonval.Path, d bson.D, rec *int) bool {
	w := walker{path: p, leaf: l, elements: !l.whole(), rec: rec}
	return w.document(d, 0, -1)
}

// every holds when all conditions do, each by a value of its own.
type every []cond

func (e every) onValue(v any, rec *int) bool {
	for _, c := range e {
		if !c.onValue(v, rec) {
			return false
		}
	}
	return true
}

func (e every) onPath(p bsonval.Path, d bson.D, rec *int) bool {
	for _, c := range e {
		if !c.onPath(p, d, rec) {
			return false
		}
	}
	return true
}

// never holds for nothing.
type never struct{}

func (never) onValue(any, *int) bool                 { return false }
func (never) onPath(bsonval.Path, bson.D, *int) bool { return false }

// not holds when the condition doesn't.
type not struct{ c cond }

func (n not) onValue(v any, _ *int) bool                   { return !n.c.onValue(v, nil) }
func (n not) onPath(p bsonval.Path, d bson.D, _ *int) bool { return !n.c.onPath(p, d, nil) }

// walker finds the values at a path, through arrays on the way: each document
// in an array is followed, and a number names an array's position as well as a
// document's field. A path that ends in an array leads to its elements, when
// elements is set, and to the array itself. One that ends early, but not in
// an array, leads to a missing value.
type walker struct {
	path     bsonval.Path
	leaf     leaf
	elements bool
	rec      *int
}

// found tests a value; at is the outermost array position that led to it, or -1.
func (w *walker) found(v any, at int) bool {
	if !w.leaf.test(v, w.rec) {
		return false
	}
	if at >= 0 && w.rec != nil {
		*w.rec = at
	}
	return true
}

func (w *walker) document(d bson.D, i, at int) bool {
	v, _ := bsonval.Get(d, w.path[i].Name)
	for i++; i < len(w.path); i++ {
		switch x := v.(type) {
		case bson.D:
			v, _ = bsonval.Get(x, w.path[i].Name)
		case bson.A:
			return w.array(x, i, at)
		default:
			return w.found(bsonval.Missing, at)
		}
	}
	if a, ok := v.(bson.A); ok && w.elements {
		for k, x := range a {
			if w.found(x, outer(at, k)) {
				return true
			}
		}
	}
	return w.found(v, at)
}

// array follows the path from its i-th component within an array.
func (w *walker) array(a bson.A, i, at int) bool {
	for k, x := range a {
		d, isDocument := x.(bson.D)
		if isDocument && w.document(d, i, outer(at, k)) {
			return true
		}
		if w.path[i].Index != k {
			continue
		}
		if i == len(w.path)-1 {
			if w.found(x, outer(at, k)) {
				return true
			}
			continue
		}
		switch x := x.(type) {
		case bson.D:
			if w.document(x, i+1, at) {
				return true
			}
		case bson.A:
			if w.array(x, i+1, at) {
				return true
			}
		}
	}
	return false
}

func outer(at, k int) int {
	if at >= 0 {
		return at
	}
	return k
}

// collector notes the values at a path, and passes for none so that all are found.
type collector struct {
	values bson.A
	ended  bool // by a missing value, after which MongoDB considers none
}

func (*collector) whole() bool { return true }

func (n *collector) test(v any, _ *int) bool {
	n.ended = n.ended || bsonval.IsMissing(v)
	if !n.ended {
		n.values = append(n.values, v)
	}
	return false
}
