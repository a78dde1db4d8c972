// Package order parses MongoDB sort documents and compares documents by them. The manual's page on sort decides
// (https://www.mongodb.com/docs/manual/reference/method/cursor.sort/).
//
// The engine sorts by it: find, $sort, $push, $sortArray and the accumulators such as $top. Package relate reads by it
// how a join sorts. So both have the same order.
//
// # What a document sorts by
//
// A sort {a: 1, "b.c": -1} has two keys. A document sorts by one value for each key:
//
//	{a: [3, 1], b: {c: 5}}   1, 5       an array counts as its least element, or its greatest if the key is descending
//	{a: [], b: [{c: 7}]}     undefined, 7    an empty array is before null
//	{}                       null, null      a missing field counts as null
//
// # How to sort
//
//   - [Sort.Compare] compares two documents.
//   - [Sort.Key] and [Sort.CompareKeys] compute the values of each document once, which is faster for many documents.
//   - [Sort.CompareElements] is for the elements of an array, in which an array is a whole value.
//   - [Sort.As] makes a sort under a collation: strings become the collation's keys.
//
// A stable sort keeps the order of documents that compare as equal. An empty sort compares all as equal.
package order

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Sort is a parsed sort document. It is immutable and safe for concurrent use.
type Sort struct{ keys []key }

// key is one field of a sort.
type key struct {
	score bool // the text score, the greatest first
	name  string
	path  bsonval.Path
	desc  bool
	as    func(v any) any // what is compared in the place of v; nil means v itself
}

// Parse parses a sort document: field names with 1 or -1. An empty one
// compares all documents as equal. {$meta: …} is refused.
func Parse(spec bson.D) (*Sort, error) { return ParseScored(spec, false) }

// ParseScored is Parse. If scored is true, documents have a score in a text search, by which {$meta: "textScore"}
// sorts. Otherwise $meta is refused.
func ParseScored(spec bson.D, scored bool) (*Sort, error) {
	s := &Sort{keys: make([]key, 0, len(spec))}
	for i, f := range spec {
		if d, ok := f.Value.(bson.D); ok {
			if len(d) == 1 && d[0].Key == "$meta" {
				if err := checkMeta(d[0].Value, scored); err != nil {
					return nil, err
				}
				s.keys = append(s.keys, key{name: f.Key, score: true})
				continue
			}
			return nil, mongoerr.New(15974, "Illegal key in $sort specification: %s: %s", f.Key, bsonval.Show(f.Value))
		}
		if !bsonval.IsNumber(f.Value) {
			return nil, mongoerr.New(15974, "Illegal key in $sort specification: %s: %s", f.Key, bsonval.Show(f.Value))
		}
		direction, ok := bsonval.Int64(f.Value)
		if !ok || (direction != 1 && direction != -1) {
			return nil, mongoerr.New(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
		}
		if err := checkName(f.Key); err != nil {
			return nil, err
		}
		if bsonval.Index(spec[:i], f.Key) >= 0 {
			return nil, mongoerr.New(7472500, "duplicate sort key: %s", f.Key)
		}
		s.keys = append(s.keys, key{name: f.Key, path: bsonval.ParsePath(f.Key), desc: direction < 0})
	}
	if len(s.keys) > 32 {
		return nil, mongoerr.New(13103, "too many compound keys")
	}
	return s, nil
}

// checkMeta checks what a {$meta: …} sorts by.
func checkMeta(what any, scored bool) error {
	switch {
	case what != "textScore":
		return mongoerr.New(mongoerr.NotImplemented,
			"$meta: %s in a sort isn't implemented by the embedded engine", bsonval.Show(what))
	case !scored:
		return mongoerr.New(40218, "query requires text score metadata, but it is not available")
	}
	return nil
}

// UsesScore reports whether documents are sorted by their text score.
func (s *Sort) UsesScore() bool {
	return s != nil && slices.ContainsFunc(s.keys, func(k key) bool { return k.score })
}

// ScoredKey is Key for a document with a text score.
func (s *Sort) ScoredKey(doc bson.D, score float64) bson.A {
	out := make(bson.A, len(s.keys))
	for i := range s.keys {
		if s.keys[i].score {
			out[i] = -score
			continue
		}
		out[i] = s.keys[i].readDocument(doc)
	}
	return out
}

// checkName refuses a path that isn't one of a field.
func checkName(name string) error {
	for part := range strings.SplitSeq(name, ".") {
		switch {
		case name == "":
			return mongoerr.New(40352, "FieldPath cannot be constructed with empty string")
		case part == "":
			return mongoerr.New(15998, "FieldPath field names may not be empty strings.")
		case strings.HasPrefix(part, "$"):
			return mongoerr.New(16410,
				"FieldPath field names may not start with '$'. Consider using $getField or $setField.")
		}
	}
	return nil
}

// As returns the sort by what f makes of the values at the keys' paths, as a collation does, instead of these
// themselves.
func (s *Sort) As(f func(v any) any) *Sort {
	next := &Sort{keys: slices.Clone(s.keys)}
	for i := range next.keys {
		next.keys[i].as = f
	}
	return next
}

// IsEmpty reports whether there is no key to sort by.
func (s *Sort) IsEmpty() bool { return s == nil || len(s.keys) == 0 }

// Compare returns how a sorts against b: negative before, positive after. A
// stable sort keeps the order of documents that compare as 0.
func (s *Sort) Compare(a, b bson.D) int {
	for i := range s.keys {
		k := &s.keys[i]
		if c := k.compare(k.readDocument(a), k.readDocument(b)); c != 0 {
			return c
		}
	}
	return 0
}

// CompareElements returns how an element of an array sorts against another, in $push and $sortArray: by the whole
// values at the keys' paths, in which an array is an array; an element that is no document has null at all of them.
func (s *Sort) CompareElements(a, b any) int {
	for i := range s.keys {
		k := &s.keys[i]
		if c := k.compare(k.readElement(a), k.readElement(b)); c != 0 {
			return c
		}
	}
	return 0
}

// readElement returns the value at the key's path in an element, null where there is none. A number in the path is a
// position in an array.
func (k *key) readElement(v any) any {
	if _, isDoc := v.(bson.D); !isDoc {
		return nil
	}
	for _, step := range k.path {
		switch x := v.(type) {
		case bson.D:
			v, _ = bsonval.Get(x, step.Name)
		case bson.A:
			if step.Index < 0 || step.Index >= len(x) {
				return nil
			}
			v = x[step.Index]
		default:
			return nil
		}
	}
	return k.convertValue(v)
}

// Key returns the values that doc sorts by, one for each key, for CompareKeys:
// computing them once for each document spares a sort the repetition.
func (s *Sort) Key(doc bson.D) bson.A {
	out := make(bson.A, len(s.keys))
	for i := range s.keys {
		out[i] = s.keys[i].readDocument(doc)
	}
	return out
}

// CompareKeys compares two results of Key.
func (s *Sort) CompareKeys(a, b bson.A) int {
	for i := range s.keys {
		if c := s.keys[i].compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// compare compares two values in the key's direction.
func (k *key) compare(a, b any) int {
	c := bsonval.Compare(a, b)
	if k.desc {
		return -c
	}
	return c
}

// readDocument returns the value by which the document sorts: of several values, as in an array, the one that is first
// in the key's direction.
func (k *key) readDocument(d bson.D) any {
	if len(k.path) == 1 {
		v, _ := bsonval.Get(d, k.path[0].Name)
		if _, isArray := v.(bson.A); !isArray {
			return k.convertValue(v)
		}
	}
	best, found := any(nil), false
	Keys(d, k.path, func(v any) {
		v = k.convertValue(v)
		if !found || k.compare(v, best) < 0 {
			best, found = v, true
		}
	})
	return best
}

// convertValue returns what is compared in the place of a value: null if it is missing, a collation's key.
func (k *key) convertValue(v any) any {
	switch {
	case bsonval.IsMissing(v):
		return nil
	case k.as != nil:
		return k.as(v)
	}
	return v
}

// Keys calls f with each key that an index on the path has for the document:
// the value, each element of an array, undefined for an empty array, null
// where the path leads nowhere. At least one.
func Keys(d bson.D, path bsonval.Path, f func(v any)) {
	v, _ := bsonval.Get(d, path[0].Name)
	callBelow(v, path[1:], f)
}

// callBelow is Keys for a value and the rest of the path below it.
func callBelow(v any, rest bsonval.Path, f func(v any)) {
	a, isArray := v.(bson.A)
	switch {
	case isArray && len(a) == 0 && len(rest) == 0:
		f(bson.Undefined{})
	case isArray && len(a) == 0:
		f(nil)
	case isArray && len(rest) == 0:
		for _, x := range a {
			f(x)
		}
	case isArray:
		if i := rest[0].Index; i >= 0 && !anyHas(a, rest[0].Name) {
			if i < len(a) {
				callBelow(a[i], rest[1:], f)
			} else {
				f(nil)
			}
			return
		}
		for _, x := range a {
			if d, ok := x.(bson.D); ok {
				Keys(d, rest, f)
			} else {
				f(nil)
			}
		}
	case len(rest) == 0:
		if bsonval.IsMissing(v) {
			v = nil
		}
		f(v)
	default:
		d, ok := v.(bson.D)
		if !ok {
			f(nil)
			return
		}
		Keys(d, rest, f)
	}
}

// anyHas reports whether a document in the array has a field of that name.
func anyHas(a bson.A, name string) bool {
	for _, x := range a {
		if d, ok := x.(bson.D); ok && bsonval.Index(d, name) >= 0 {
			return true
		}
	}
	return false
}
