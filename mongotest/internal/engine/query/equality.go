package query

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// EqualityFields returns the equality conditions that every match fulfills, in
// their order and with dotted names, as an upsert takes them over: of the
// top level and of $and, of $or, $in and $all with a single entry. A path that
// is matched twice, or with another below it, is an error of code
// NotSingleValueField.
func (m *Matcher) EqualityFields() (bson.D, error) {
	return m.equalityFields(func(string) bool { return true })
}

// EqualityID is EqualityFields for an upsert by a replacement, which takes over
// the _id alone.
func (m *Matcher) EqualityID() (bson.D, error) {
	return m.equalityFields(func(path string) bool { return path == "_id" || strings.HasPrefix(path, "_id.") })
}

func (m *Matcher) equalityFields(taken func(path string) bool) (bson.D, error) {
	var out bson.D
	equalities(m.root, &out)
	out = slices.DeleteFunc(out, func(f bson.E) bool { return !taken(f.Key) })
	for i, f := range out {
		for _, g := range out[:i] {
			switch {
			case f.Key == g.Key:
				return nil, mongoerr.New(mongoerr.NotSingleValueField,
					"cannot infer query fields to set, path '%s' is matched twice", f.Key)
			case strings.HasPrefix(f.Key, g.Key+"."), strings.HasPrefix(g.Key, f.Key+"."):
				return nil, mongoerr.New(mongoerr.NotSingleValueField,
					"cannot infer query fields to set, both paths '%s' and '%s' are matched", g.Key, f.Key)
			}
		}
	}
	return out, nil
}

func equalities(n node, out *bson.D) {
	switch n := n.(type) {
	case and:
		for _, x := range n {
			equalities(x, out)
		}
	case or:
		if len(n) == 1 {
			equalities(n[0], out)
		}
	case onPath:
		equalityAt(n.cond, n.name, out)
	}
}

func equalityAt(c cond, path string, out *bson.D) {
	switch c := c.(type) {
	case every:
		for _, x := range c {
			equalityAt(x, path, out)
		}
	case leaf:
		switch p := c.predicate.(type) {
		case equal:
			*out = append(*out, bson.E{Key: path, Value: p.v})
		case among:
			switch {
			case len(p.regexes) > 0:
			case len(p.sorted) == 1 && !p.null:
				*out = append(*out, bson.E{Key: path, Value: p.sorted[0]})
			case len(p.sorted) == 0 && p.null:
				*out = append(*out, bson.E{Key: path, Value: nil})
			}
		}
	}
}
