package plan

// This file lays the conditions of a query on one index: does it fit, is it complete, how much does it leave.

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// candidate is one index as a way to run a query. left is the part of the keys that it is estimated to read.
type candidate struct {
	scan *Scan
	// bounded is set if the filter bounds the index's first field.
	bounded bool
	// sorted is set if the index delivers the order asked for.
	sorted bool
	left   float64
	// foreign is set if the index's collation isn't the query's: its keys say nothing of strings.
	foreign bool
}

// findBest returns the best candidate of a collection's indexes, or nil. filter
// is what partial indexes are held against; nil rules them out.
func findBest(coll *store.Collection, filter bson.D, m *query.Matcher, sort bson.D) *candidate {
	wide, tight, elements, by := m.Bounds(), m.TightBounds(), m.ElementBounds(), m.Collation()
	var best *candidate
	for _, x := range coll.Indexes {
		// Geospatial and text indexes make keys of their own: intervals of values say nothing about these.
		if x.Spec.Derive != nil && !x.Spec.Hidden {
			if c := findRegion(x, filter, m); c != nil && (best == nil || c.left < best.left) {
				best = c
			}
			continue
		}
		// A hidden index is kept up to date, and never chosen.
		if x.Spec.Hidden || !x.Spec.IsOrdered() && !x.Spec.IsHashed() {
			continue
		}
		if x.Spec.Wild != nil {
			if c := findBestWild(x, filter, wide, tight, sort, by); c != nil && (best == nil || c.left < best.left) {
				best = c
			}
			continue
		}
		c := newCandidate(x, wide, tight, boundsOfOneElement(x, elements), sort, by)
		if x.Spec.IsHashed() && !c.hasPoints() {
			continue
		}
		// An index that neither bounds nor sorts would only be a longer way to read all documents.
		if !c.bounded && !c.sorted || !isComplete(x, filter, wide, by) {
			continue
		}
		if best == nil || c.left < best.left {
			best = c
		}
	}
	return best
}

// boundsOfOneElement returns the bounds that bound most fields of the index by one $elemMatch, if they bound two at
// least. Conditions on one element may be combined where conditions on different ones must not.
func boundsOfOneElement(x *store.Index, elements []map[string][]query.Interval) (most map[string][]query.Interval) {
	n := 1
	for _, e := range elements {
		fields := 0
		for _, f := range x.Spec.Fields {
			if _, ok := e[f.Name]; ok {
				fields++
			}
		}
		if fields > n {
			most, n = e, fields
		}
	}
	return most
}

// newCandidate lays the bounds of a filter on an index; those of one element hold together. wide are bounds that hold
// for some element of an array, tight those that hold if the field is no array: a field that is multikey needs the
// former.
func newCandidate(
	x *store.Index, wide, tight, element map[string][]query.Interval, sort bson.D, by *collation.Collator,
) *candidate {
	c := &candidate{
		foreign: !collation.IsSame(x.Spec.Collation, by),
		scan:    &Scan{Index: x, bounds: make([]bounds, len(x.Spec.Fields))},
		left:    1,
	}
	prefix := true // all fields so far are bounded
	for i, f := range x.Spec.Fields {
		b := &c.scan.bounds[i]
		list, ok := tight[f.Name]
		if x.Multikey&(1<<i) != 0 {
			if list, ok = element[f.Name]; !ok {
				list, ok = wide[f.Name]
			}
			ok = ok && !c.sharesArray(i, element)
		}
		// Keys of strings under another collation are in another order than the query compares.
		if c.foreign && slices.ContainsFunc(list, query.Interval.HasStrings) {
			ok, list = false, nil
		}
		b.free, b.list = !ok, list
		if ok && i == 0 {
			c.bounded = true
		}
		c.left *= estimate(*b, prefix)
		prefix = prefix && ok
	}
	reverse, sorted := c.findOrder(sort)
	sorted = sorted && x.Spec.IsOrdered()
	c.sorted = sorted && len(sort) > 0
	c.scan.Reverse = reverse && c.sorted
	// A sort that is saved is worth half of the keys.
	if c.sorted {
		c.left *= 0.5
	}
	for i := range c.scan.bounds {
		c.scan.bounds[i].turn(x.Spec.Fields[i].Desc != c.scan.Reverse)
	}
	return c
}

// hasPoints reports whether the filter bounds the first field to single values. A hashed index serves no others: the
// order of hashes says nothing about values.
func (c *candidate) hasPoints() bool {
	b := c.scan.bounds[0]
	return c.bounded && !slices.ContainsFunc(b.list, func(i query.Interval) bool { return !i.IsPoint() })
}

// sharesArray reports whether an earlier bounded field of a multikey index may run through the same array as the
// i-th: conditions on both may then be met by different elements, whose keys are in different entries; but not those
// that are asked of one element. MongoDB's manual calls it compounding bounds
// (https://www.mongodb.com/docs/manual/core/multikey-index-bounds/).
func (c *candidate) sharesArray(i int, element map[string][]query.Interval) bool {
	fields := c.scan.Index.Spec.Fields
	_, ofOne := element[fields[i].Name]
	for k := range i {
		if _, both := element[fields[k].Name]; ofOne && both {
			continue
		}
		if !c.scan.bounds[k].free && c.scan.Index.Multikey&(1<<k) != 0 && fields[k].Path[0] == fields[i].Path[0] {
			return true
		}
	}
	return false
}

// turn puts the intervals in the order in which a scan in that direction meets them. It copies the list, which
// belongs to the matcher.
func (b *bounds) turn(down bool) {
	b.down = down
	if down {
		b.list = slices.Clone(b.list)
		slices.Reverse(b.list)
	}
}

// estimate guesses the part of the keys that the bounds of a field leave. Bounds behind a field without any spare fewer
// keys, only documents. A point counts as 1 % of the keys, two ends of a type as 10 %, anything wider as 30 %, and all
// intervals together as 40 % at most.
func estimate(b bounds, prefix bool) float64 {
	if b.free {
		return 1
	}
	left := 0.0
	for _, i := range b.list {
		switch {
		case i.IsPoint(), bsonval.IsNullish(i.Hi):
			left += 0.01
		case isNarrow(i):
			left += 0.1
		default:
			left += 0.3
		}
	}
	left = min(left, 0.4)
	// Such bounds leave between 90 and 94 % of the keys.
	if !prefix {
		left = 0.9 + left/10
	}
	return left
}

// isNarrow reports whether an interval has two ends of one type, so that neither is likely to be its type's. {$gt: 5}
// has one end of the filter, and the greatest number as the other.
func isNarrow(i query.Interval) bool {
	if bsonval.Type(i.Lo) != bsonval.Type(i.Hi) {
		return false
	}
	switch i.Lo.(type) {
	case bson.DateTime:
		return i.Lo != bson.DateTime(-1<<63) && i.Hi != bson.DateTime(1<<63-1)
	case bson.Timestamp:
		return i.Lo != bson.Timestamp{} || i.Hi != bson.Timestamp{T: 1<<32 - 1, I: 1<<32 - 1}
	case bool:
		return false
	}
	return true
}

// findOrder says whether the index delivers the documents in the order asked for, walked forward or in reverse.
// Fields bound to one value don't matter, but that alone makes no index worth walking. A multikey field gives no
// order, since a document may come by any of its keys.
func (c *candidate) findOrder(sort bson.D) (reverse, ok bool) {
	fields := c.scan.Index.Spec.Fields
	at, decided := 0, false
	for _, key := range sort {
		direction, _ := bsonval.Int64(key.Value)
		// Fields with one value don't disturb the order of those behind them.
		for at < len(fields) && fields[at].Name != key.Key && c.isPoint(at) {
			at++
		}
		if at == len(fields) || fields[at].Name != key.Key {
			if c.isConstant(key.Key) {
				continue
			}
			return false, false
		}
		if c.scan.Index.Multikey&(1<<at) != 0 || c.foreign && c.scan.bounds[at].free {
			return false, false
		}
		if !c.isConstantAt(at) {
			// All fields must agree on the direction of the walk.
			back := fields[at].Desc != (direction < 0)
			if decided && back != reverse {
				return false, false
			}
			reverse, decided = back, true
		}
		at++
	}
	return reverse, decided || c.bounded
}

// isPoint reports whether the scan reads one value of the i-th field, so that it is in the order of the fields
// behind. A document of which an array is indexed there can have other values as well.
func (c *candidate) isPoint(i int) bool {
	b := c.scan.bounds[i]
	return !b.free && len(b.list) == 1 && b.list[0].IsPoint()
}

// isConstantAt reports whether all documents of the scan have the same value in the i-th field.
func (c *candidate) isConstantAt(i int) bool {
	return c.isPoint(i) && c.scan.Index.Multikey&(1<<i) == 0
}

// isConstant reports whether all documents of the scan have the same value in the field of that name. Sorting by it
// changes nothing.
func (c *candidate) isConstant(name string) bool {
	for i, f := range c.scan.Index.Spec.Fields {
		if f.Name == name {
			return c.isConstantAt(i)
		}
	}
	return false
}

// isComplete reports whether the index has every document that the filter matches. A nil filter is not known: then
// the bounds alone tell. A sparse index lacks documents without any of its fields.
func isComplete(x *store.Index, filter bson.D, wide map[string][]query.Interval, by *collation.Collator) bool {
	if x.Spec.Sparse {
		some := false
		for _, f := range x.Spec.Fields {
			list, ok := wide[f.Name]
			some = some || ok && !slices.ContainsFunc(list, func(i query.Interval) bool { return i.Contains(nil) })
		}
		if !some {
			return false
		}
	}
	return x.Spec.Partial == nil || implies(filter, wide, x.Spec, by)
}

// implies reports whether documents that match the filter are sure to match the partial index's filter too: each of
// its conditions is among the filter's, or contains what the filter bounds the path to. A condition on strings
// doesn't count if the index has another collation than the filter. A no may be wrong: the index isn't used then.
func implies(filter bson.D, wide map[string][]query.Interval, spec *store.IndexSpec, by *collation.Collator) bool {
	conditions := flatten(filter)
	foreign := !collation.IsSame(spec.Collation, by)
	for _, want := range flatten(spec.Partial) {
		if foreign && comparesStrings(want.Value) {
			return false
		}
		same := slices.ContainsFunc(conditions, func(have bson.E) bool {
			return have.Key == want.Key && bsonval.Equal(have.Value, want.Value)
		})
		if !same && !impliesCondition(wide, want, by) {
			return false
		}
	}
	return true
}

// comparesStrings reports whether a condition of a partial index depends on the collation. $exists and $type don't
// compare values.
func comparesStrings(condition any) bool {
	ops, ok := condition.(bson.D)
	if !ok || len(ops) == 0 || !strings.HasPrefix(ops[0].Key, "$") {
		return collation.Applies(condition)
	}
	return slices.ContainsFunc(ops, func(op bson.E) bool {
		return op.Key != "$exists" && op.Key != "$type" && collation.Applies(op.Value)
	})
}

// flatten returns the conditions of a filter, those of $and and the operators on one path each by itself. {a: {$eq:
// 1}} is written as {a: 1}, so that both forms are compared as equal.
func flatten(filter bson.D) []bson.E {
	var list []bson.E
	for _, e := range filter {
		branches, isList := e.Value.(bson.A)
		ops, isDoc := e.Value.(bson.D)
		switch {
		case e.Key == "$and" && isList:
			for _, b := range branches {
				if d, ok := b.(bson.D); ok {
					list = append(list, flatten(d)...)
				}
			}
		case isDoc && len(ops) > 0 && strings.HasPrefix(ops[0].Key, "$"):
			for _, op := range ops {
				if op.Key == "$eq" {
					list = append(list, bson.E{Key: e.Key, Value: op.Value})
					continue
				}
				list = append(list, bson.E{Key: e.Key, Value: bson.D{op}})
			}
		default:
			list = append(list, e)
		}
	}
	return list
}

// impliesCondition reports whether a condition on one path holds for every key that the filter bounds the path to.
func impliesCondition(wide map[string][]query.Interval, want bson.E, by *collation.Collator) bool {
	have, ok := wide[want.Key]
	if !ok {
		return false
	}
	// A key that isn't null belongs to a field that exists.
	if ops, ok := want.Value.(bson.D); ok && len(ops) == 1 && ops[0].Key == "$exists" {
		return bsonval.Equal(ops[0].Value, true) &&
			!slices.ContainsFunc(have, func(i query.Interval) bool { return i.Contains(nil) })
	}
	m, err := query.Parse(bson.D{want}, query.Options{Collation: by})
	if err != nil || !isExact(want.Value) {
		return false
	}
	around := m.Bounds()[want.Key]
	for _, i := range have {
		inside := slices.ContainsFunc(around, func(o query.Interval) bool { return covers(o, i) })
		if !inside {
			return false
		}
	}
	return len(around) > 0
}

// isExact reports whether a condition is one whose bounds say all of it. Of others, such as $regex, the bounds have
// more than what matches.
func isExact(v any) bool {
	ops, ok := v.(bson.D)
	if !ok || len(ops) == 0 || !strings.HasPrefix(ops[0].Key, "$") {
		return true
	}
	return len(ops) == 1 && slices.Contains([]string{"$eq", "$gt", "$gte", "$lt", "$lte", "$in"}, ops[0].Key)
}

// covers reports whether an interval has all of another one in it.
func covers(outer, inner query.Interval) bool {
	lo, hi := bsonval.Compare(outer.Lo, inner.Lo), bsonval.Compare(outer.Hi, inner.Hi)
	return (lo < 0 || lo == 0 && (outer.LoInc || !inner.LoInc)) && (hi > 0 || hi == 0 && (outer.HiInc || !inner.HiInc))
}
