package store

import (
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Keys returns the keys that doc has in an index of this spec, in order and without repetition. Bit i of multikey says
// that the path of field i went through an array. Fields whose paths go through different arrays are the error
// CannotIndexParallelArrays (171).
//
//	{a: 1, "b.c": 1} of {a: 5, b: [{c: 1}, {c: 2}]}   →   [5, 1], [5, 2]; multikey 0b10
//	{a: 1, "b.c": 1} of {}                            →   [null, null]; no key if the index is sparse
func (s *IndexSpec) Keys(doc bson.D) (keys []Key, multikey uint64, err error) {
	if s.Covers != nil {
		covered, err := s.Covers(doc)
		if err != nil || !covered {
			return nil, 0, err
		}
	}
	if s.Wild != nil {
		keys, multi := s.Wild.appendKeys(nil, doc, "")
		if multi {
			multikey = 1 << 1
		}
		return s.distinct(keys), multikey, nil
	}
	if s.Derive != nil {
		return s.deriveKeys(doc)
	}
	// The usual index, on one field at the top that has no array.
	if len(s.Fields) == 1 && len(s.Fields[0].Path) == 1 {
		v, ok := bsonval.Get(doc, s.Fields[0].Path[0])
		if _, isArray := v.(bson.A); !isArray {
			if !ok {
				if s.Sparse {
					return nil, 0, nil
				}
				v = nil
			}
			return []Key{{s.Collation.Index(v)}}, 0, nil
		}
	}
	g := keyGen{spec: s}
	rest := make([][]string, len(s.Fields))
	for i, f := range s.Fields {
		rest[i] = f.Path
	}
	if err := g.walk(doc, rest, make(Key, len(s.Fields))); err != nil {
		return nil, 0, err
	}
	return s.distinct(g.keys), g.multikey, nil
}

// distinct sorts keys and removes repetitions.
func (s *IndexSpec) distinct(keys []Key) []Key {
	if len(keys) < 2 {
		return keys
	}
	slices.SortFunc(keys, s.Compare)
	return slices.CompactFunc(keys, func(a, b Key) bool { return s.Compare(a, b) == 0 })
}

// deriveKeys returns the keys of an index with Derive. Several keys make the index multikey, though not by an array.
func (s *IndexSpec) deriveKeys(doc bson.D) (keys []Key, multikey uint64, err error) {
	list, err := s.Derive(doc)
	if err != nil {
		return nil, 0, err
	}
	if len(list) > 1 {
		multikey = 1
	}
	for _, v := range list {
		keys = append(keys, Key{v})
	}
	return keys, multikey, nil
}

// keyGen collects the keys of one document.
type keyGen struct {
	spec     *IndexSpec
	keys     []Key
	multikey uint64
}

// walk follows the paths from obj until each has arrived at a value, and goes through at most one array, whose elements
// it walks in turn. rest[i] is what is left of the i-th path, nil once fixed[i] is its value. It may change both.
func (g *keyGen) walk(obj bson.D, rest [][]string, fixed Key) error {
	var array bson.A
	var through []string // the path from obj to the array
	var hit uint64
	for i, path := range rest {
		if path == nil {
			continue
		}
		v, left := follow(obj, path)
		a, ok := v.(bson.A)
		if !ok {
			fixed[i], rest[i] = v, nil
			continue
		}
		taken := path[:len(path)-len(left)]
		switch {
		case hit == 0:
			array, through = a, taken
		case !slices.Equal(taken, through):
			return mongoerr.New(mongoerr.CannotIndexParallelArrays,
				"cannot index parallel arrays [%s] [%s]", taken[len(taken)-1], through[len(through)-1])
		}
		if g.spec.Fields[i].Kind == Hashed {
			return mongoerr.New(16766, "Error: hashed indexes do not currently support array values")
		}
		hit |= 1 << i
		rest[i] = left
	}
	g.multikey |= hit
	switch {
	case hit == 0:
		g.emit(fixed)
		return nil
	case len(array) == 0:
		for i := range rest {
			if hit&(1<<i) != 0 {
				// An empty array is undefined in an index. What would be within its elements is missing.
				fixed[i] = bsonval.Missing
				if len(rest[i]) == 0 {
					fixed[i] = bson.Undefined{}
				}
			}
		}
		g.emit(fixed)
		return nil
	}
	for _, element := range array {
		if err := g.element(element, rest, fixed, hit); err != nil {
			return err
		}
	}
	return nil
}

// element goes on with one element of the array at which the fields in hit have arrived. Bit i of hit is field i.
func (g *keyGen) element(element any, rest [][]string, fixed Key, hit uint64) error {
	rest, fixed = slices.Clone(rest), slices.Clone(fixed)
	obj, isDoc := element.(bson.D)
	for i := range rest {
		switch {
		case hit&(1<<i) == 0:
		case len(rest[i]) == 0:
			fixed[i], rest[i] = element, nil
		case !isDoc:
			fixed[i], rest[i] = bsonval.Missing, nil
		}
	}
	return g.walk(obj, rest, fixed)
}

// emit adds a key whose values are all known. bsonval.Missing becomes null.
func (g *keyGen) emit(fixed Key) {
	key := slices.Clone(fixed)
	found := false
	for i, v := range key {
		if bsonval.IsMissing(v) {
			key[i] = nil
			continue
		}
		found = true
		key[i] = g.spec.Collation.Index(v)
	}
	if found || !g.spec.Sparse {
		g.keys = append(g.keys, key)
	}
}

// follow goes along path until it is used up or an array is in the way, and returns where it arrived with what is left
// of the path. A part of the path that is a number goes to that element of an array, and follow goes on.
func follow(obj bson.D, path []string) (v any, left []string) {
	v = obj
	for len(path) > 0 {
		switch container := v.(type) {
		case bson.D:
			v, _ = bsonval.Get(container, path[0])
		case bson.A:
			i, err := strconv.Atoi(path[0])
			if err != nil || i < 0 || i >= len(container) {
				return container, path
			}
			v = container[i]
		default:
			return bsonval.Missing, nil
		}
		path = path[1:]
	}
	return v, path
}
