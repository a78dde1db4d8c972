package store

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Wildcard says which paths a wildcard index has keys of
// (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-wildcard/). Its keys are a path and a value that
// a document has there: a scalar, an empty document, or an array within an array. The elements of an array are at the
// array's path:
//
//	{a: {b: 1, c: [2, 3]}, d: {}}   →   ["a.b", 1], ["a.c", 2], ["a.c", 3], ["d", {}]
type Wildcard struct {
	Paths    []string // those that are in, or that are out if Excludes
	Excludes bool
	ID       bool // _id is in
}

// WildcardFields are the fields of a wildcard index's keys.
func WildcardFields(desc bool) []Field {
	return []Field{{Path: []string{"$_path"}, Name: "$_path"}, {Path: []string{"$**"}, Name: "$**", Desc: desc}}
}

// Includes reports whether the index has every value at a path and below, so that a query on the path can use it.
func (w *Wildcard) Includes(path string) bool {
	if path == "_id" || strings.HasPrefix(path, "_id.") {
		return w.ID
	}
	if w.Excludes {
		return !slices.ContainsFunc(w.Paths, func(p string) bool { return isWithin(path, p) || isWithin(p, path) })
	}
	return slices.ContainsFunc(w.Paths, func(p string) bool { return isWithin(path, p) })
}

// isWithin reports whether a path is top, or below it.
func isWithin(path, top string) bool {
	return path == top || strings.HasPrefix(path, top) && path[len(top)] == '.'
}

// checkEntry reports whether there may be keys below a path, and whether the path has keys of its own. With Paths a.b,
// the path a has keys below it and none itself.
func (w *Wildcard) checkEntry(path string) (below, itself bool) {
	if path == "_id" || strings.HasPrefix(path, "_id.") {
		return w.ID, w.ID
	}
	if w.Excludes {
		out := slices.ContainsFunc(w.Paths, func(p string) bool { return isWithin(path, p) })
		return !out, !out
	}
	itself = slices.ContainsFunc(w.Paths, func(p string) bool { return isWithin(path, p) })
	return itself || slices.ContainsFunc(w.Paths, func(p string) bool { return isWithin(p, path) }), itself
}

// appendKeys appends the keys of a document that is at a path, "" for a whole document. multikey says that an array was
// met.
func (w *Wildcard) appendKeys(keys []Key, doc bson.D, at string) (_ []Key, multikey bool) {
	for _, e := range doc {
		path := e.Key
		if at != "" {
			path = at + "." + e.Key
		}
		below, itself := w.checkEntry(path)
		if !below {
			continue
		}
		add := func(v any) {
			if itself {
				keys = append(keys, Key{path, v})
			}
		}
		many := false
		switch v := e.Value.(type) {
		case bson.D:
			if len(v) == 0 {
				add(v)
				continue
			}
			keys, many = w.appendKeys(keys, v, path)
		case bson.A:
			many = itself || len(v) > 0
			if len(v) == 0 {
				add(bson.Undefined{})
			}
			for _, x := range v {
				if d, ok := x.(bson.D); ok && len(d) > 0 {
					keys, _ = w.appendKeys(keys, d, path)
					continue
				}
				add(x)
			}
		default:
			add(v)
		}
		multikey = multikey || many
	}
	return keys, multikey
}
