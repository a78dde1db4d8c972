package plan

// This file has wildcard indexes, whose keys begin with a path
// (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-wildcard/).

import (
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// findBestWild returns the best way in which a wildcard index serves a query, or nil: by the bounds of one field, as
// long as they are of scalars, which alone have keys. Paths are tried in order, so that of two equal ones the same is
// chosen each time.
func findBestWild(
	x *store.Index, filter bson.D, wide, tight map[string][]query.Interval, sort bson.D, by *collation.Collator,
) (best *candidate) {
	// A wildcard index of the engine has no collation.
	if by != nil || x.Spec.Partial != nil && !implies(filter, wide, x.Spec, by) {
		return nil
	}
	paths := make([]string, 0, len(wide))
	for path := range wide {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		// A multikey index doesn't say which paths have arrays, so all of them may.
		list := tight[path]
		if x.IsMultikey() || list == nil {
			list = wide[path]
		}
		if !x.Spec.Wild.Includes(path) || namesElement(path) || slices.ContainsFunc(list, beyondScalars) {
			continue
		}
		c := &candidate{scan: &Scan{Index: x, bounds: make([]bounds, 2), path: path}, bounded: true}
		c.scan.bounds[0] = bounds{list: []query.Interval{query.Point(path)}}
		c.scan.bounds[1] = bounds{list: list}
		c.left = estimate(c.scan.bounds[1], true)
		if len(sort) == 1 && sort[0].Key == path && !x.IsMultikey() {
			direction, _ := bsonval.Int64(sort[0].Value)
			c.sorted = direction == 1 || direction == -1
			c.scan.Reverse = c.sorted && (direction < 0) != x.Spec.Fields[1].Desc
		}
		for i := range c.scan.bounds {
			c.scan.bounds[i].turn(x.Spec.Fields[i].Desc != c.scan.Reverse)
		}
		if best == nil || c.left < best.left {
			best = c
		}
	}
	return best
}

// beyondScalars reports whether an interval may hold what has no key, or not only one: nothing, documents and arrays.
func beyondScalars(i query.Interval) bool {
	if i.Contains(nil) || i.Contains(bson.Undefined{}) {
		return true
	}
	hi := bsonval.Compare(i.Hi, bson.D{})
	return bsonval.Compare(i.Lo, bson.Binary{}) < 0 && (hi > 0 || hi == 0 && i.HiInc)
}

// namesElement reports whether a path may name an element of an array, whose keys are at the array's path.
func namesElement(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "."), func(name string) bool {
		_, err := strconv.Atoi(name)
		return err == nil
	})
}

// KeyPattern is the key of the index as explain shows it: that of a wildcard index has the path that the scan is
// about.
func (s *Scan) KeyPattern() bson.D {
	if s.path == "" {
		return s.Index.Spec.Key
	}
	return bson.D{{Key: "$_path", Value: int32(1)}, {Key: s.path, Value: s.Index.Spec.Key[0].Value}}
}

// nameOf is what explain calls the i-th field of the index.
func (s *Scan) nameOf(i int) string {
	if s.path != "" && i == 1 {
		return s.path
	}
	return s.Index.Spec.Fields[i].Name
}
