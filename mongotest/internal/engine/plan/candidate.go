package plan

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// candidate is one index as a way to run a query.
type candidate struct {
	scan    *Scan
	bounded bool // the filter bounds its first field
	sorted  bool // it delivers the order asked for
	left    float64
	foreign bool // its collation isn't the query's: its keys say nothing of strings
}

// bestFor returns the best candidate of a collection's indexes, or nil. filter
// is what partial indexes are held against; nil rules them out.
func bestFor(coll *store.Collection, filter bson.D, m *query.Matcher, sort bson.D) *candidate {
	wide, tight, elements, by := m.Bounds(), m.TightBounds(), m.ElementBounds(), m.Collation()
	var best *candidate
	for _, x := range coll.Indexes {
		if x.Spec.Derive != nil && !x.Spec.Hidden {
			if c := regionFor(x, filter, m); c != nil && (best == nil || c.left < best.left) {
				best = c
			}
			continue
		}
		if x.Spec.Hidden || !x.Spec.Ordered() && !x.Spec.Hashed() {
			continue
		}
		if x.Spec.Wild != nil {
			if c := bestWild(x, filter, wide, tight, sort, by); c != nil && (best == nil || c.left < best.left) {
				best = c
			}
			continue
		}
		c := newCandidate(x, wide, tight, ofOneElement(x, elements), sort, by)
		if x.Spec.Hashed() && !c.points() {
			continue
		}
		if !c.bounded && !c.sorted || !complete(x, filter, wide, by) {
			continue
		}
		if best == nil || c.left < best.left {
			best = c
		}
	}
	return best
}

// ofOneElement returns the bounds that bound most fields of the index by one
// $elemMatch, if they bound two at least.
func ofOneElement(x *store.Index, elements []map[string][]query.Interval) (most map[string][]query.Interval) {
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

// newCandidate lays the bounds of a filter on an index; those of one element
// hold together.
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
	reverse, sorted := c.order(sort)
	sorted = sorted && x.Spec.Ordered()
	c.sorted = sorted && len(sort) > 0
	c.scan.Reverse = reverse && c.sorted
	if c.sorted {
		c.left *= 0.5
	}
	for i := range c.scan.bounds {
		c.scan.bounds[i].turn(x.Spec.Fields[i].Desc != c.scan.Reverse)
	}
	return c
}

// points reports whether the filter bounds the first field to single values.
func (c *candidate) points() bool {
	b := c.scan.bounds[0]
	return c.bounded && !slices.ContainsFunc(b.list, func(i query.Interval) bool { return !i.IsPoint() })
}

// sharesArray reports whether an earlier bounded field of a multikey index may
// run through the same array as the i-th: conditions on both may then be met
// by different elements, whose keys are in different entries; but not those
// that are asked of one.
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

// turn puts the intervals in the order in which a scan in that direction
// meets them.
func (b *bounds) turn(down bool) {
	b.down = down
	if down {
		b.list = slices.Clone(b.list)
		slices.Reverse(b.list)
	}
}

// estimate guesses the part of the keys that the bounds of a field leave.
// Bounds behind a field without any spare fewer keys, only documents.
func estimate(b bounds, prefix bool) float64 {
	if b.free {
		return 1
	}
	left := 0.0
	for _, i := range b.list {
		switch {
		case i.IsPoint(), bsonval.IsNullish(i.Hi):
			left += 0.01
		case narrow(i):
			left += 0.1
		default:
			left += 0.3
		}
	}
	left = min(left, 0.4)
	if !prefix {
		left = 0.9 + left/10
	}
	return left
}

// narrow reports whether an interval has two ends of one type, so that neither
// is likely to be its type's.
func narrow(i query.Interval) bool {
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

// order says whether the index delivers the documents in the order asked for,
// walked forward or in reverse. Fields bound to one value don't matter, but
// that alone makes no index worth walking.
func (c *candidate) order(sort bson.D) (reverse, ok bool) {
	fields := c.scan.Index.Spec.Fields
	at, decided := 0, false
	for _, key := range sort {
		direction, _ := bsonval.Int64(key.Value)
		for at < len(fields) && fields[at].Name != key.Key && c.point(at) {
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
		if !c.constant(at) {
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

// point reports whether the scan reads one value of the i-th field, so that it is in the order of the fields behind. A
// document of which an array is indexed there can have other values as well.
func (c *candidate) point(i int) bool {
	b := c.scan.bounds[i]
	return !b.free && len(b.list) == 1 && b.list[0].IsPoint()
}

// constant reports whether all documents of the scan have the same value in the i-th field.
func (c *candidate) constant(i int) bool { return c.point(i) && c.scan.Index.Multikey&(1<<i) == 0 }

func (c *candidate) isConstant(name string) bool {
	for i, f := range c.scan.Index.Spec.Fields {
		if f.Name == name {
			return c.constant(i)
		}
	}
	return false
}

// complete reports whether the index has every document that the filter
// matches. A nil filter is not known: then the bounds alone tell.
func complete(x *store.Index, filter bson.D, wide map[string][]query.Interval, by *collation.Collator) bool {
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

// implies reports whether documents that match the filter are sure to match
// the partial index's filter too: each of its conditions is among the
// filter's, or contains what the filter bounds the path to. A condition on strings doesn't count if the index has
// another collation than the filter.
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
		if !same && !contained(wide, want, by) {
			return false
		}
	}
	return true
}

// comparesStrings reports whether a condition of a partial index depends on the collation.
func comparesStrings(condition any) bool {
	ops, ok := condition.(bson.D)
	if !ok || len(ops) == 0 || !strings.HasPrefix(ops[0].Key, "$") {
		return collation.Applies(condition)
	}
	return slices.ContainsFunc(ops, func(op bson.E) bool {
		return op.Key != "$exists" && op.Key != "$type" && collation.Applies(op.Value)
	})
}

// flatten returns the conditions of a filter, those of $and and the operators
// on one path each by itself.
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

// contained reports whether a condition on one path holds for every key that
// the filter bounds the path to.
func contained(wide map[string][]query.Interval, want bson.E, by *collation.Collator) bool {
	have, ok := wide[want.Key]
	if !ok {
		return false
	}
	if ops, ok := want.Value.(bson.D); ok && len(ops) == 1 && ops[0].Key == "$exists" {
		return bsonval.Equal(ops[0].Value, true) &&
			!slices.ContainsFunc(have, func(i query.Interval) bool { return i.Contains(nil) })
	}
	m, err := query.Parse(bson.D{want}, query.Options{Collation: by})
	if err != nil || !exact(want.Value) {
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

// exact reports whether a condition is one whose bounds say all of it.
func exact(v any) bool {
	ops, ok := v.(bson.D)
	if !ok || len(ops) == 0 || !strings.HasPrefix(ops[0].Key, "$") {
		return true
	}
	return len(ops) == 1 && slices.Contains([]string{"$eq", "$gt", "$gte", "$lt", "$lte", "$in"}, ops[0].Key)
}

func covers(outer, inner query.Interval) bool {
	lo, hi := bsonval.Compare(outer.Lo, inner.Lo), bsonval.Compare(outer.Hi, inner.Hi)
	return (lo < 0 || lo == 0 && (outer.LoInc || !inner.LoInc)) && (hi > 0 || hi == 0 && (outer.HiInc || !inner.HiInc))
}
