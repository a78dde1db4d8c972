package core

import (
	"fmt"
	"reflect"
	"strings"
)

// A target is what a query or an update can meet at one path. It differs from a [Field], which
// is for the paths that a technique is declared with: the path of a target may have indexes and
// positional operators ("items.0.n", "items.$[x].n"), and a query meets both an array and its
// elements. For example, with the field Tags []string:
//
//	path     holds           element   depth
//	tags     strs | arrays   strs      1
//	tags.0   strs            strs      0
//
// CheckFilter, CheckSort and CheckUpdate ask for targets (filter.go, update.go).
type target struct {
	holds   typeSet      // the types that a query can meet there: an array's elements, and the array
	element typeSet      // the types of an array's elements, for other values the same as holds
	depth   int          // of arrays in each other: 0 for a value that is no array, 2 for an array of arrays
	docs    *Layout      // of the documents at the path, or in the array there, or nil
	typ     reflect.Type // of the value without arrays and pointers, for texts
}

// opaque is the target of paths of which nothing is known. Callers compare with it and then
// skip their checks.
var opaque = &target{holds: anyType, element: anyType, depth: 1}

// lookUpTarget looks up a path of a query or update, with indexes and positional operators in
// arrays. Below an open value every path exists. It computes the target once for each path of
// the type. Paths with an index, and paths below open values, aren't kept: callers could make
// any number of them.
func (l *Layout) lookUpTarget(path string, c *Codec) (*target, error) {
	if q, ok := l.paths.Load(path); ok {
		return q.(*target), nil
	}
	q, indexed, err := l.resolveTarget(path, c)
	if err == nil && !indexed && q != opaque {
		l.paths.Store(path, q)
	}
	return q, err
}

// resolveTarget is lookUpTarget without the cache. indexed reports whether a part of the path
// was an index or a positional operator.
func (l *Layout) resolveTarget(path string, c *Codec) (q *target, indexed bool, err error) {
	var (
		elem reflect.Type
		left int // arrays that no index was given for
		k    = document
	)
	// at is where part begins in path. Each round takes the part within the value that the
	// round before found: elem, which is within left arrays.
	for rest, at := path, 0; ; {
		part, after, more := strings.Cut(rest, ".")
		switch {
		case left > 0 && isIndex(part):
			left, indexed = left-1, true // a name of digits below an array is an index, as for a server
		case k == open:
			return opaque, indexed, nil
		case k == scalar:
			return nil, indexed, refuseNameBelow(path[:at-1], elem, part)
		default:
			if elem != nil { // nil in the first round: l is then the whole document's
				if l, err = LayoutOf(elem, c); err != nil {
					return nil, indexed, err
				}
			}
			m := l.fields[part]
			switch {
			case m == nil && l.Open:
				return opaque, indexed, nil
			case m == nil:
				return nil, indexed, l.refuseName(part)
			}
			elem, left, k = takeArrays(m.typ)
		}
		at += len(part) + 1
		if rest = after; !more {
			break
		}
	}
	if k == open {
		return opaque, indexed, nil
	}
	q = &target{holds: typesOf(elem, k), depth: left, typ: elem}
	if q.element = q.holds; left > 0 {
		q.holds |= arrays
	}
	if left > 1 { // the elements are arrays, and a query meets the innermost values too
		q.element = q.holds
	}
	if k == document {
		q.docs, err = LayoutOf(elem, c)
	}
	return q, indexed, err
}

// isIndex reports whether a part of a path stands for elements of an array: a number, or a
// positional operator ($, $[], $[name]).
func isIndex(part string) bool {
	if strings.HasPrefix(part, "$") {
		return true
	}
	for i := range len(part) {
		if part[i] < '0' || part[i] > '9' {
			return false
		}
	}
	return part != ""
}

// refuseNameBelow returns the error for a name below a scalar, which has no fields.
func refuseNameBelow(path string, t reflect.Type, name string) error {
	return fmt.Errorf("%q is of type %s, which has no field %q", path, t, name)
}
