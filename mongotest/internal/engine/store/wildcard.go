package store

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Wildcard says which paths a wildcard index has keys of
// (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-wildcard/). Its keys are a path and a value that
// a document has there: a scalar, an empty document, or an array within an array. The elements of an array are at the
// array's path.
type Wildcard struct {
	Paths    []string // those that are in, or that are out if Excludes
	Excludes bool
	ID       bool // _id is in
}

// WildcardFields are the fields of a wildcard index's keys.
func WildcardFields(desc bool) []Field {
	return []Field{{Path: []string{"$_path"}, Name: "$_path"}, {Path: []string{"$**"}, Name: "$**", Desc: desc}}
}

// Has reports whether the index has every value at a path and below.
func (w *Wildcard) Has(path string) bool {
	if path == "_id" || strings.HasPrefix(path, "_id.") {
		return w.ID
	}
	if w.Excludes {
		return !slices.ContainsFunc(w.Paths, func(p string) bool { return under(path, p) || under(p, path) })
	}
	return slices.ContainsFunc(w.Paths, func(p string) bool { return under(path, p) })
}

// under reports whether a path is another, or below it.
func under(path, top string) bool {
	return path == top || strings.HasPrefix(path, top) && path[len(top)] == '.'
}

// enters reports whether there may be keys below a path, and whether the path has keys of its own.
func (w *Wildcard) enters(path string) (below, itself bool) {
	if path == "_id" || strings.HasPrefix(path, "_id.") {
		return w.ID, w.ID
	}
	if w.Excludes {
		out := slices.ContainsFunc(w.Paths, func(p string) bool { return under(path, p) })
		return !out, !out
	}
	itself = slices.ContainsFunc(w.Paths, func(p string) bool { return under(path, p) })
	return itself || slices.ContainsFunc(w.Paths, func(p string) bool { return under(p, path) }), itself
}

// keys appends the keys of a document at a path.
func (w *Wildcard) keys(keys []Key, doc bson.D, at string) (_ []Key, multikey bool) {
	for _, e := range doc {
		path := e.Key
		if at != "" {
			path = at + "." + e.Key
		}
		below, itself := w.enters(path)
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
			keys, many = w.keys(keys, v, path)
		case bson.A:
			many = itself || len(v) > 0
			if len(v) == 0 {
				add(bson.Undefined{})
			}
			for _, x := range v {
				if d, ok := x.(bson.D); ok && len(d) > 0 {
					keys, _ = w.keys(keys, d, path)
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
