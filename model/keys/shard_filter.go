package keys

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// bound is the condition of a filter on one field: some values, or some ranges. The zero
// value is no condition.
type bound struct {
	points []bson.RawValue
	ranges int
}

func (b bound) said() bool { return b.ranges > 0 || b.points != nil }

// none reports whether no value meets the bound.
func (b bound) none() bool { return b.points != nil && len(b.points)+b.ranges == 0 }

// conditions are the conditions of a filter on the key's fields.
type conditions struct {
	fields map[string]bound
	equal  map[string][]bson.RawValue // values that the filter gives by equality, also of parents of the key's fields
}

// read reads a filter. It returns nil if it can't.
func (s *shard) read(filter any, collated bool) *conditions {
	raw, err := (*core.Codec)(nil).Document(filter)
	if err != nil || bson.Raw(raw).Validate() != nil {
		return nil
	}
	return s.conditions(raw, collated)
}

func (s *shard) conditions(filter bson.Raw, collated bool) *conditions {
	c := &conditions{map[string]bound{}, map[string][]bson.RawValue{}}
	var ors [][]bson.RawValue
	s.add(filter, collated, c, &ors)
	for _, branches := range ors {
		if s.bounds(c) {
			break // some servers ignore an $or beside conditions on the first field
		}
		if fields := s.union(branches, collated); fields != nil {
			c.fields = fields
		}
	}
	return c
}

// add adds conditions that are ANDed, and collects the branches of each $or. An $or with
// one branch counts as that branch.
func (s *shard) add(filter bson.Raw, collated bool, c *conditions, ors *[][]bson.RawValue) {
	elements, _ := filter.Elements()
	for _, e := range elements {
		key := e.Key()
		if key == "$and" || key == "$or" {
			arr, _ := e.Value().ArrayOK()
			values, _ := arr.Values()
			if key == "$or" && len(values) != 1 {
				*ors = append(*ors, values)
				continue
			}
			for _, v := range values {
				doc, _ := v.DocumentOK()
				s.add(doc, collated, c, ors)
			}
			continue
		}
		bound, equal := s.condition(key, e.Value(), collated)
		c.equal[key] = append(c.equal[key], equal...)
		if bound.said() && slices.Contains(s.paths(), key) {
			c.fields[key] = both(c.fields[key], bound)
		}
	}
}

// union combines the branches of an $or field by field, as mongos does. It returns nil
// for no condition.
func (s *shard) union(branches []bson.RawValue, collated bool) map[string]bound {
	var out map[string]bound
	for _, v := range branches {
		doc, _ := v.DocumentOK()
		c := s.conditions(doc, collated)
		if !s.bounds(c) {
			return nil
		}
		if s.nothing(c) {
			continue
		}
		if out == nil {
			out = c.fields
			continue
		}
		for path, a := range out {
			b := c.fields[path]
			if !b.said() {
				delete(out, path)
				continue
			}
			more := slices.DeleteFunc(slices.Clone(b.points), func(v bson.RawValue) bool { return holds(a.points, v) })
			out[path] = bound{slices.Concat(a.points, more), a.ranges + b.ranges}
		}
	}
	if out == nil && len(branches) > 0 {
		return map[string]bound{s.key[0].path: {points: []bson.RawValue{}}}
	}
	return out
}

// bounds reports whether there is a condition on the key's first field.
func (s *shard) bounds(c *conditions) bool { return s.places(s.key[0], c.fields[s.key[0].path]) }

// places reports whether a bound locates a field's values. A range doesn't locate hashes.
func (s *shard) places(f shardField, b bound) bool { return b.said() && !(f.hashed && b.ranges > 0) }

// nothing reports whether no document can match, because a field would need two values at
// once or has no possible value. mongos sees that only if the first field has a
// condition.
func (s *shard) nothing(c *conditions) bool {
	return s.bounds(c) && slices.ContainsFunc(s.key, func(f shardField) bool { return c.fields[f.path].none() })
}

func both(a, b bound) bound {
	switch {
	case a.points == nil && b.points == nil:
		return bound{ranges: max(a.ranges, b.ranges)}
	case a.points == nil:
		return bound{points: b.points}
	case b.points == nil:
		return bound{points: a.points}
	}
	points := slices.DeleteFunc(slices.Clone(a.points), func(v bson.RawValue) bool { return !holds(b.points, v) })
	return bound{points: points}
}

func holds(list []bson.RawValue, v bson.RawValue) bool {
	return slices.ContainsFunc(list, func(w bson.RawValue) bool { return bsonval.CompareRaw(v, w) == 0 })
}

// condition returns the bound of a filter's value for a field, and the values that it
// gives by equality.
func (s *shard) condition(path string, v bson.RawValue, collated bool) (out bound, equal []bson.RawValue) {
	doc, isDocument := v.DocumentOK()
	first, err := doc.IndexErr(0)
	if !isDocument || err != nil || !strings.HasPrefix(first.Key(), "$") {
		return operator("$eq", v, collated), []bson.RawValue{v}
	}
	elements, _ := doc.Elements()
	hashed := slices.Contains(s.key, shardField{path, true})
	for _, e := range elements {
		arr, _ := e.Value().ArrayOK()
		values, _ := arr.Values()
		switch {
		case e.Key() == "$regex" && len(elements) > 1, e.Key() == "$exists" && hashed:
			continue // $options can change the pattern; a hashed index isn't used for missing fields
		case e.Key() == "$eq":
			equal = append(equal, e.Value())
		case e.Key() == "$in" && len(values) == 1:
			equal = append(equal, values[0])
		}
		if b := operator(e.Key(), e.Value(), collated); b.said() {
			out = both(out, b)
		}
	}
	return out, equal
}

func operator(op string, v bson.RawValue, collated bool) bound {
	switch op {
	case "$eq":
		if pattern, flags, ok := v.RegexOK(); ok {
			return bound{ranges: one(flags == "" && anchored(pattern))}
		}
		if canPoint(v, collated) {
			return bound{points: []bson.RawValue{v}}
		}
	case "$in":
		arr, _ := v.ArrayOK()
		values, _ := arr.Values()
		points := make([]bson.RawValue, 0, len(values))
		for _, p := range values {
			if p.Type == bson.TypeRegex || !canPoint(p, collated) {
				return bound{}
			}
			if !holds(points, p) {
				points = append(points, p)
			}
		}
		return bound{points: points}
	case "$gt", "$gte", "$lt", "$lte":
		return bound{ranges: one(canPoint(v, collated))}
	case "$exists":
		if exists, ok := v.BooleanOK(); ok && !exists {
			return bound{points: []bson.RawValue{{Type: bson.TypeNull}}}
		}
	case "$regex":
		if pattern, ok := v.StringValueOK(); ok {
			return bound{ranges: one(anchored(pattern))}
		}
		return operator("$eq", v, collated)
	}
	return bound{}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// canPoint reports whether a value locates a key. An array doesn't. With a collation a
// value that contains text doesn't, because keys compare bytewise.
func canPoint(v bson.RawValue, collated bool) bool {
	switch v.Type {
	case bson.TypeArray:
		return false
	case bson.TypeString, bson.TypeSymbol, bson.TypeEmbeddedDocument:
		return !collated
	}
	return true
}

// anchored reports whether a pattern begins with ^ (not in multiline mode) and a literal
// text, so that it is a range.
func anchored(pattern string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || re.Op != syntax.OpConcat || len(re.Sub) < 2 {
		return false
	}
	return re.Sub[0].Op == syntax.OpBeginText && re.Sub[1].Op == syntax.OpLiteral && re.Sub[1].Flags&syntax.FoldCase == 0
}

// isCollated reports whether a query doesn't compare texts bytewise.
func (s *shard) isCollated(c *options.Collation) bool {
	if c == nil {
		return s.spec.Collated
	}
	return c.Locale != "simple"
}

func (s *shard) filter(filter any, collation *options.Collation) Target {
	t, _ := s.where(s.read(orEmpty(filter), s.isCollated(collation)), s.isCollated(collation))
	return t
}

// where returns where a filter goes, and whether it gives the whole key by equality.
func (s *shard) where(c *conditions, collated bool) (t Target, whole bool) {
	switch {
	case c == nil:
		return Target{Scope: AllShards, Why: "the filter can't be read"}, false
	case s.whole(c, collated) != nil:
		return Target{Scope: OneShard, Values: 1, Why: "the whole shard key " + s.String() + " is given"}, true
	case s.nothing(c):
		return Target{
			Scope: NoShard,
			Why:   "no document can match: a field of the shard key has an empty or contradictory condition",
		}, false
	}
	t = s.count(c)
	switch {
	case t.Values+t.Ranges == 0:
		t.Scope = AllShards
	case t.Values == 1 && t.Ranges == 0:
		t.Scope = OneShard
	default:
		t.Scope = SomeShards
	}
	return t, false
}

// whole returns the key's values if a filter gives each by equality, once; otherwise nil.
// A document that equals a parent of a key's field gives the field.
func (s *shard) whole(c *conditions, collated bool) []bson.RawValue {
	out := make([]bson.RawValue, len(s.key))
	for i, f := range s.key {
		list := c.equal[f.path]
		for path, values := range c.equal {
			if below, ok := strings.CutPrefix(f.path, path+"."); ok {
				for _, v := range values {
					doc, _ := v.DocumentOK()
					value, _ := core.ValueAt(doc, below)
					if value.Type == bson.TypeNull {
						value = bson.RawValue{} // treat null as missing
					}
					list = append(slices.Clip(list), value)
				}
			}
		}
		if len(list) != 1 || list[0].Type == 0 || list[0].Type == bson.TypeRegex || !canPoint(list[0], collated) {
			return nil
		}
		out[i] = list[0]
	}
	return out
}

// count returns how many values or ranges of the key the conditions request. The first
// field with several values or a range decides how many; mongos then reads everything
// from the least to the greatest value of the later fields. Null counts twice, because
// servers before MongoDB 8.0 look up undefined too.
func (s *shard) count(c *conditions) (t Target) {
	t.Values, t.Why = 1, "the shard key "+s.String()
	single := true
	widen := func(why string) {
		t.Ranges, t.Values, t.Why = t.Ranges+t.Values, 0, why
	}
	for i, f := range s.key {
		x := c.fields[f.path]
		points := len(x.points)
		if holds(x.points, bson.RawValue{Type: bson.TypeNull}) {
			points++
		}
		switch {
		case !s.places(f, x):
			reason := "the filter has no condition on " + f.path
			if x.said() {
				reason = fmt.Sprintf("%s is hashed, so a range of its values isn't a range of hashes", f.path)
			}
			if i == 0 {
				return Target{Scope: AllShards, Why: reason + ", the first field of the shard key " + s.String()}
			}
			if single = false; t.Values > 0 {
				widen(fmt.Sprintf("the first %s of the shard key %s; for the next field: %s", fields(i), s, reason))
			}
		case single && points == 1 && x.ranges == 0:
		case single:
			single = false
			t.Values, t.Ranges = points, x.ranges
			if t.Why = fmt.Sprintf("%d values of the shard key %s", points, s); x.ranges > 0 {
				t.Why = fmt.Sprintf("a range of %s in the shard key %s", f.path, s)
			}
		case points != 1 || x.ranges > 0:
			if t.Values > 0 {
				widen(fmt.Sprintf("several values of the shard key %s, combined with several values of %s", s, f.path))
			}
		}
	}
	return t
}

func fields(n int) string {
	if n == 1 {
		return "field"
	}
	return fmt.Sprintf("%d fields", n)
}

// byID reports whether a filter requests one _id.
func byID(c *conditions, collated bool) bool {
	return c != nil && len(c.equal["_id"]) == 1 && c.equal["_id"][0].Type != bson.TypeRegex &&
		canPoint(c.equal["_id"][0], collated)
}
