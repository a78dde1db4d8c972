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

// bound is what a filter says of one field: one of some values, or within a range. Nothing is said by neither.
type bound struct {
	points []bson.RawValue
	ranged bool
}

func (b bound) said() bool { return b.ranged || b.points != nil }

// a branch is what holds at once, of an $or.
type branch map[string]bound

// maxBranches is how many branches are followed; past them an $or says nothing.
const maxBranches = 1000

// branches are what a filter says of the key's fields. Nil is that it can't be read.
func (s *shard) branches(filter any, collated bool) []branch {
	raw, err := (*core.Codec)(nil).Document(filter)
	if err != nil {
		return nil
	}
	return s.read(raw, collated)
}

func (s *shard) read(filter bson.Raw, collated bool) []branch {
	out := []branch{{}}
	elements, err := filter.Elements()
	if err != nil {
		return nil
	}
	for _, e := range elements {
		var more []branch
		switch key := e.Key(); key {
		case "$and", "$or":
			more = s.list(key == "$or", e.Value(), collated)
		default:
			if b := s.condition(e.Value(), collated); b.said() && s.isField(key) {
				more = []branch{{key: b}}
			}
		}
		if len(more) > 0 && len(more)*len(out) <= maxBranches {
			out = cross(out, more)
		}
	}
	return out
}

// list reads an $and or $or; nil says nothing.
func (s *shard) list(or bool, v bson.RawValue, collated bool) (out []branch) {
	arr, ok := v.ArrayOK()
	if !ok {
		return nil
	}
	values, _ := arr.Values()
	for _, v := range values {
		doc, _ := v.DocumentOK()
		inner := s.read(doc, collated)
		switch {
		case len(inner) == 0 && or, len(out)+len(inner) > maxBranches && or:
			return nil
		case or:
			out = append(out, inner...)
		case out == nil:
			out = inner
		case len(inner) > 0 && len(inner)*len(out) <= maxBranches:
			out = cross(out, inner)
		}
	}
	return out
}

func (s *shard) isField(path string) bool {
	return path == "_id" || slices.Contains(s.paths(), path)
}

// cross is what holds when one branch of each does.
func cross(a, b []branch) []branch {
	out := make([]branch, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			z := branch{}
			for path, bound := range x {
				z[path] = bound
			}
			for path, bound := range y {
				z[path] = both(z[path], bound)
			}
			out = append(out, z)
		}
	}
	return out
}

// both is what two bounds say together.
func both(a, b bound) bound {
	switch {
	case a.points == nil:
		return bound{b.points, a.ranged || b.ranged}
	case b.points == nil:
		return a
	}
	return bound{points: slices.DeleteFunc(slices.Clone(a.points), func(v bson.RawValue) bool { return !holds(b.points, v) })}
}

func holds(list []bson.RawValue, v bson.RawValue) bool {
	return slices.ContainsFunc(list, func(w bson.RawValue) bool { return bsonval.CompareRaw(v, w) == 0 })
}

// condition is what a filter's value for a field says of it.
func (s *shard) condition(v bson.RawValue, collated bool) bound {
	doc, isDocument := v.DocumentOK()
	first, err := doc.IndexErr(0)
	if !isDocument || err != nil || !strings.HasPrefix(first.Key(), "$") {
		return operator("$eq", v, collated)
	}
	elements, _ := doc.Elements()
	out := bound{}
	for _, e := range elements {
		if e.Key() == "$regex" && len(elements) > 1 {
			continue // with $options, which may make it another
		}
		if b := operator(e.Key(), e.Value(), collated); b.said() {
			out = both(out, b)
		}
	}
	return out
}

func operator(op string, v bson.RawValue, collated bool) bound {
	switch op {
	case "$eq":
		if pattern, flags, ok := v.RegexOK(); ok {
			return bound{ranged: flags == "" && anchored(pattern)}
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
		return bound{ranged: canPoint(v, collated)}
	case "$exists":
		if exists, ok := v.BooleanOK(); ok && !exists {
			return bound{points: []bson.RawValue{{Type: bson.TypeNull}}}
		}
	case "$regex":
		if pattern, ok := v.StringValueOK(); ok {
			return bound{ranged: anchored(pattern)}
		}
		return operator("$eq", v, collated)
	}
	return bound{}
}

// canPoint reports whether a key is found by a value: not by an array, which is no key's, and with a collation not by what
// holds texts, for a key compares them bytewise.
func canPoint(v bson.RawValue, collated bool) bool {
	switch v.Type {
	case bson.TypeArray:
		return false
	case bson.TypeString, bson.TypeSymbol, bson.TypeEmbeddedDocument:
		return !collated
	}
	return true
}

// anchored reports whether a pattern begins with ^, at the beginning of the value and not of each line, and a text, so that it is a
// range.
func anchored(pattern string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || re.Op != syntax.OpConcat || len(re.Sub) < 2 {
		return false
	}
	return re.Sub[0].Op == syntax.OpBeginText && re.Sub[1].Op == syntax.OpLiteral && re.Sub[1].Flags&syntax.FoldCase == 0
}

// isCollated reports whether a query compares texts otherwise than bytewise.
func (s *shard) isCollated(c *options.Collation) bool {
	if c == nil {
		return s.spec.Collated
	}
	return c.Locale != "simple"
}

// filter tells where a query goes.
func (s *shard) filter(filter any, collation *options.Collation) Target {
	if filter == nil {
		filter = bson.D{}
	}
	return s.where(s.branches(filter, s.isCollated(collation)))
}

// where adds up the branches of a filter.
func (s *shard) where(list []branch) Target {
	t := Target{}
	if len(list) == 0 {
		return Target{Scope: AllShards, Why: "the filter can't be read"}
	}
	seen := map[string]bool{}
	for _, b := range list {
		if text, whole := s.text(b); whole && seen[text] {
			continue
		} else if whole {
			seen[text] = true
		}
		values, ranges, why := s.of(b)
		if values+ranges == 0 && why != "" {
			return Target{Scope: AllShards, Why: why}
		}
		t.Values, t.Ranges, t.Why = t.Values+values, t.Ranges+ranges, why
	}
	switch {
	case t.Values+t.Ranges == 0:
		return Target{Scope: NoShard, Why: "nothing can match: a field of the key would have to be none of its values, or two at once"}
	case t.Values == 1 && t.Ranges == 0:
		t.Scope, t.Why = OneShard, "the whole shard key "+s.String()+" is given"
	case t.Ranges == 0:
		t.Scope, t.Why = SomeShards, fmt.Sprintf("%d values of the shard key %s", t.Values, s)
	default:
		t.Scope = SomeShards
		if len(list) > 1 {
			t.Why = "the branches of $or, each by the shard key " + s.String()
		}
	}
	return t
}

// text is what a branch says of the key's fields; false where it isn't values of all.
func (s *shard) text(b branch) (string, bool) {
	var out strings.Builder
	for _, f := range s.key {
		if b[f.path].points == nil {
			return "", false
		}
		for _, v := range b[f.path].points {
			fmt.Fprintf(&out, "%c%x,", v.Type, v.Value)
		}
		out.WriteByte(';')
	}
	return out.String(), true
}

// of tells how many values or ranges of the key one branch gives, and why it isn't values.
func (s *shard) of(b branch) (values, ranges int, why string) {
	n := 1
	for i, f := range s.key {
		x := b[f.path]
		if x.points != nil {
			n *= len(x.points)
			if n == 0 {
				return 0, 0, ""
			}
			continue
		}
		reason := fmt.Sprintf("nothing is said of %s", f.path)
		switch {
		case x.ranged && f.hashed:
			reason = fmt.Sprintf("%s is hashed: a range of values is none of hashes", f.path)
		case x.ranged:
			return 0, n, fmt.Sprintf("a range of %s in the shard key %s", f.path, s)
		}
		if i == 0 {
			return 0, 0, reason + ", the first field of the shard key " + s.String()
		}
		return 0, n, fmt.Sprintf("the first %s of the shard key %s, and behind it %s", fields(i), s, reason)
	}
	return n, 0, ""
}

func fields(n int) string {
	if n == 1 {
		return "field"
	}
	return fmt.Sprintf("%d fields", n)
}

// byID reports whether a filter asks for one _id.
func byID(list []branch) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(b branch) bool { return len(b["_id"].points) != 1 })
}
