package query

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// EqualityFields returns the equality conditions that every match fulfills, in their order and with dotted names. An
// upsert that finds no document begins its new document with them:
//
//	{sku: "x", "size.w": {$in: [5]}, n: {$gt: 1}, $and: [{a: {$eq: 2}}]}   gives   {sku: "x", "size.w": 5, a: 2}
//
// Conditions count at the top and in $and, and in an $or, $in or $all with a single entry. A path that is matched
// twice, or that is a part of another, is an error of code NotSingleValueField.
// https://www.mongodb.com/docs/manual/reference/method/db.collection.updateOne/
func (m *Matcher) EqualityFields() (bson.D, error) {
	return m.listEqualities(func(string) bool { return true })
}

// EqualityID is EqualityFields for an upsert by a replacement, which takes over the _id alone. Other conditions aren't
// checked for paths that are matched twice.
func (m *Matcher) EqualityID() (bson.D, error) {
	return m.listEqualities(func(path string) bool { return path == "_id" || strings.HasPrefix(path, "_id.") })
}

// listEqualities returns the equalities of the paths that taken accepts.
func (m *Matcher) listEqualities(taken func(path string) bool) (bson.D, error) {
	var out bson.D
	collectEqualities(m.root, &out)
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

// collectEqualities appends the equalities of a node to out. A branch of an $or has equalities only if it is
// the only one.
func collectEqualities(n node, out *bson.D) {
	switch n := n.(type) {
	case and:
		for _, x := range n {
			collectEqualities(x, out)
		}
	case or:
		if len(n) == 1 {
			collectEqualities(n[0], out)
		}
	case onPath:
		collectEqualitiesAt(n.cond, n.name, out)
	}
}

// collectEqualitiesAt appends the equalities of a condition on one path to out. The condition of $all is an every. The
// value is the filter's own, not its key under the collation.
func collectEqualitiesAt(c cond, path string, out *bson.D) {
	switch c := c.(type) {
	case every:
		for _, x := range c {
			collectEqualitiesAt(x, path, out)
		}
	case leaf:
		switch p := c.predicate.(type) {
		case equal:
			*out = append(*out, bson.E{Key: path, Value: p.v})
		case inList:
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
