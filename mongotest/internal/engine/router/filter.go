package router

// This file reads from a filter what it says of the key: the whole key by equality, or intervals field by field.

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// conjuncts are the conditions that a filter is an $and of. An $or of one branch is that branch.
func conjuncts(filter bson.D) (out []bson.E) {
	for _, e := range filter {
		list, _ := e.Value.(bson.A)
		// Their conditions all hold, as those beside them do.
		if e.Key == "$and" || e.Key == "$or" && len(list) == 1 {
			for _, v := range list {
				d, _ := v.(bson.D)
				out = append(out, conjuncts(d)...)
			}
			continue
		}
		out = append(out, e)
	}
	return out
}

// equalities are the values that a filter gives for fields by equality: by the value, by $eq, or
// by $in with one value.
func equalities(filter bson.D) map[string][]any {
	out := map[string][]any{}
	for _, e := range conjuncts(filter) {
		out[e.Key] = append(out[e.Key], equalValues(e.Value)...)
	}
	return out
}

// equalValues are the values that a condition on one path gives by equality.
func equalValues(v any) (out []any) {
	d, ok := v.(bson.D)
	if !ok || !isOperators(d) {
		return []any{v}
	}
	for _, op := range d {
		list, _ := op.Value.(bson.A)
		switch {
		case op.Key == "$eq":
			out = append(out, op.Value)
		case op.Key == "$in" && len(list) == 1:
			out = append(out, list[0])
		}
	}
	return out
}

// isOperators reports whether a document has operators rather than being a value.
func isOperators(d bson.D) bool { return len(d) > 0 && strings.HasPrefix(d[0].Key, "$") }

// readWhole returns the shard key that a filter gives by equality, false if it doesn't give all of it, or a field
// twice. A document that a field above the key equals has the key's field in it.
func (k Key) readWhole(filter bson.D) ([]any, bool) {
	given := equalities(filter)
	out := make([]any, len(k))
	for i, f := range k {
		list := given[f.name]
		for path, values := range given {
			if below, ok := strings.CutPrefix(f.name, path+"."); ok {
				list = append(list, valuesBelow(values, below)...)
			}
		}
		// Two values for one field can't both be the key's, and an array or a pattern is none.
		if len(list) != 1 || !storable(list[0]) {
			return nil, false
		}
		out[i] = list[0]
	}
	return out, true
}

// valuesBelow are what values have at a path below them, an array for what doesn't give a key.
func valuesBelow(values []any, path string) []any {
	out := make([]any, len(values))
	for i, v := range values {
		d, _ := v.(bson.D)
		below, ok := valueAt(d, path)
		if !ok || below == nil {
			below = bson.A{}
		}
		out[i] = below
	}
	return out
}

// storable reports whether a value may be one of a shard key.
func storable(v any) bool {
	switch v := v.(type) {
	case bson.A, bson.Regex:
		return false
	case bson.D:
		return !isOperators(v)
	}
	return true
}

// hasText reports whether a collation can matter for a value. It doesn't for a pattern.
func hasText(v any) bool {
	switch v := v.(type) {
	case string, bson.Symbol:
		return true
	case bson.A:
		return slices.ContainsFunc(v, hasText)
	case bson.D:
		return !isOperators(v) ||
			slices.ContainsFunc(v, func(e bson.E) bool {
				return e.Key != "$regex" && e.Key != "$options" && hasText(e.Value)
			})
	}
	return false
}

// bounds are the intervals that a filter asks for in the fields of the key, nil for a field of
// which it says nothing. ok is false if it says nothing of the first: the filter then needs all.
func (c *Collection) bounds(filter bson.D, collated bool) (list [][]query.Interval, ok bool) {
	var plain, ors []bson.E
	for _, e := range conjuncts(filter) {
		switch {
		// A text search says nothing of the key, and any shard may have the words.
		case e.Key == "$text":
			return nil, false
		case e.Key == "$or":
			ors = append(ors, e)
		// Texts that compare by a collation may equal other texts, whose chunks are elsewhere.
		case !collated || !hasText(e.Value):
			plain = append(plain, e)
		}
	}
	if list = c.intersectConditions(plain); list[0] != nil {
		return list, true
	}
	for _, e := range ors {
		if list, ok = c.joinBranches(e, collated); ok {
			return list, true
		}
	}
	return nil, false
}

// joinBranches is what the branches of an $or ask for, field by field. A field that one branch doesn't bind isn't
// bound.
func (c *Collection) joinBranches(or bson.E, collated bool) ([][]query.Interval, bool) {
	branches, _ := or.Value.(bson.A)
	out := make([][]query.Interval, len(c.Key))
	first := true
	for _, v := range branches {
		d, _ := v.(bson.D)
		list, ok := c.bounds(d, collated)
		if !ok {
			return nil, false
		}
		if slices.ContainsFunc(list, isNone) {
			continue // nothing matches the branch
		}
		for i := range out {
			switch {
			case first:
				out[i] = list[i]
			case out[i] == nil || list[i] == nil:
				out[i] = nil
			default:
				out[i] = joinIntervals(out[i], list[i])
			}
		}
		first = false
	}
	if first {
		out[0] = []query.Interval{}
	}
	return out, len(branches) > 0
}

// isNone reports whether a field is bound to no value at all, so that nothing matches. Nil is a field that isn't
// bound.
func isNone(list []query.Interval) bool { return list != nil && len(list) == 0 }

// joinIntervals is the union of two lists, each of them sorted. What overlaps stays apart: it touches the
// same chunks.
func joinIntervals(a, b []query.Interval) []query.Interval {
	out := slices.Concat(a, b)
	slices.SortFunc(out, func(x, y query.Interval) int {
		if c := bsonval.Compare(x.Lo, y.Lo); c != 0 {
			return c
		}
		return bsonval.Compare(x.Hi, y.Hi)
	})
	return slices.CompactFunc(out, func(x, y query.Interval) bool {
		return x.IsPoint() && y.IsPoint() && bsonval.Compare(x.Lo, y.Lo) == 0
	})
}

// intersectConditions is what conditions that all hold ask for, field by field. Conditions that package query can't
// parse here, such as $near, say nothing of a key.
func (c *Collection) intersectConditions(conditions []bson.E) [][]query.Interval {
	var all bson.A
	missing := map[string]bool{}
	for _, e := range conditions {
		d := bson.D{e}
		if _, err := query.Parse(d, query.Options{}); err != nil {
			continue // such as $near, which says nothing of a key
		}
		all = append(all, d)
		ops, _ := e.Value.(bson.D)
		if v, ok := bsonval.Get(ops, "$exists"); ok && bsonval.Compare(v, false) == 0 {
			missing[e.Key] = true
		}
	}
	out := make([][]query.Interval, len(c.Key))
	var found map[string][]query.Interval
	if len(all) > 0 {
		found = query.MustParse(bson.D{{Key: "$and", Value: all}}).TightBounds()
	}
	for i, f := range c.Key {
		list, ok := found[f.name]
		if f.hashed {
			list, ok = pointsOfHashed(all, f.name)
		}
		if missing[f.name] && !f.hashed {
			out[i] = []query.Interval{}
			if !ok || slices.ContainsFunc(list, func(x query.Interval) bool { return x.Contains(nil) }) {
				out[i] = append(out[i], query.Point(nil)) // not as undefined
			}
			continue
		}
		if ok {
			out[i] = c.asStored(f, list)
		}
	}
	return out
}

// pointsOfHashed are the values that conditions ask for in a hashed field, false if none of them asks for values.
// Ranges say nothing of hashes.
func pointsOfHashed(conditions bson.A, name string) (out []query.Interval, ok bool) {
	for _, v := range conditions {
		list, said := query.MustParse(v.(bson.D)).TightBounds()[name]
		values := !slices.ContainsFunc(list, func(x query.Interval) bool { return !x.IsPoint() && !isNull(x) })
		switch {
		case !said || !values:
		case !ok:
			out, ok = list, true
		default:
			out = slices.DeleteFunc(slices.Clone(out), func(x query.Interval) bool {
				return !slices.ContainsFunc(list, func(y query.Interval) bool { return y.Contains(x.Hi) })
			})
		}
	}
	return out, ok
}

// isNull reports whether an interval is that of null and missing fields.
func isNull(x query.Interval) bool { return bsonval.IsNullish(x.Lo) && bsonval.IsNullish(x.Hi) }

// asStored are the intervals as the chunks have them. Null stands for a missing field; before MongoDB 8.0 it is
// looked for as undefined, too. Hashes come in another order than values, so they are sorted anew.
func (c *Collection) asStored(f field, list []query.Interval) []query.Interval {
	out := make([]query.Interval, 0, len(list))
	for _, x := range list {
		switch {
		case isNull(x):
			if c.before71 {
				out = append(out, c.makePoint(f, bson.Undefined{}))
			}
			out = append(out, c.makePoint(f, nil))
		case f.hashed:
			out = append(out, c.makePoint(f, x.Lo))
		default:
			out = append(out, x)
		}
	}
	if f.hashed && len(out) > 0 {
		return joinIntervals(out, nil)
	}
	return out
}

// makePoint is the interval of one value, which is hashed if the field is.
func (c *Collection) makePoint(f field, v any) query.Interval {
	if f.hashed {
		v = hashValue(v)
	}
	return query.Point(v)
}
