// Package projection parses and applies projections: the projection of find, and the stages of an aggregation or a
// pipeline update that work on one document's fields ($project, $addFields, $unset, $replaceRoot).
//
// The manual's pages on projecting fields
// (https://www.mongodb.com/docs/manual/tutorial/project-fields-from-query-results/) and on $project decide
// (https://www.mongodb.com/docs/manual/reference/operator/aggregation/project/).
//
// A projection, the tree that it becomes, and what it does:
//
//	{a: 1, "b.c": 1, "b.d": {$add: ["$x", 1]}}
//
//	root ─┬─ _id  (kept unless it is excluded)
//	      ├─ a    named
//	      └─ b    inner ─┬─ c  named
//	                     └─ d  computed: $add
//
//	{_id: 1, a: 2, b: {c: 3, e: 4}, x: 5}  →  {_id: 1, a: 2, b: {c: 3, d: 6}}
//
// The steps:
//
//  1. A builder reads the fields one by one, puts each into the tree, and refuses what MongoDB refuses, with its
//     codes (parse.go). find has operators of its own: $elemMatch, $slice and a path that ends with ".$"
//     (array.go).
//  2. When all are read, the builder knows whether the projection includes or excludes: the first field other than
//     _id decides.
//  3. [Fields.Apply] goes through a document and the tree together: it keeps or drops fields, and then sets
//     computed ones (apply.go).
//  4. The positional operator comes last, since it needs the array element that the query matched.
//
// Invariants:
//
//   - A parsed projection never changes. Several goroutines may apply it.
//   - The document that is projected isn't changed; the result shares with it what it can.
//   - A path goes through arrays: each element that is a document is projected by itself.
//   - Included fields stay in the document's order. Computed fields that the document lacks come behind, in the
//     projection's order.
//   - Expressions see the whole document as it was, not what earlier fields of the projection computed.
//
// find, findAndModify and the stages of package pipeline call this package. It calls expr for expressions, and query
// for $elemMatch and ".$".
package projection

import (
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// Projection is a parsed find projection. It is immutable and safe for concurrent use: each Apply makes a context of
// its own from base.
type Projection struct {
	fields *Fields
	// positional is the path before ".$", nil when there is none; matcher is the query that says which element stays.
	positional bsonval.Path
	matcher    *query.Matcher
	// base is the context of expressions: $$NOW, variables and the watch of the command.
	base *expr.Context
	// scored is set if the matcher has a text search: {$meta: "textScore"} needs the score of each document then.
	scored bool
}

// Parse parses a find projection. m is the query it belongs to, which the
// positional operator needs; it may be nil otherwise.
func Parse(spec bson.D, m *query.Matcher) (*Projection, error) {
	return ParseAt(spec, m, time.Time{})
}

// ParseAt is Parse for expressions that use $$NOW. They see the variables and the watch
// that the query was parsed with, and compare under its collation.
func ParseAt(spec bson.D, m *query.Matcher, now time.Time) (*Projection, error) {
	var vars map[string]any
	if m != nil {
		vars = m.Vars()
	}
	b := builder{
		find: true, root: &node{},
		scope: expr.NewScope(slices.Collect(maps.Keys(vars))...).WithCollation(m.Collation()),
	}
	if m != nil && m.FindText(false) != nil {
		b.scope = b.scope.WithScore()
	}
	if err := b.addDocument("", spec); err != nil {
		return nil, err
	}
	if b.positional != nil && m == nil {
		return nil, mongoerr.New(51246, "positional operator '.$' couldn't find a matching element in the array")
	}
	var watch *interrupt.Watch
	if m != nil {
		watch = m.Watch()
	}
	base := expr.NewContext(nil, now, watch, vars)
	return &Projection{
		fields: b.build(), positional: b.positional, matcher: m, base: base, scored: b.scope.IsScored(),
	}, nil
}

// Apply returns the projected document, which shares what it can with doc. The positional operator works on the
// result, in which its array is still whole: a path that ends with ".$" is an inclusion.
func (p *Projection) Apply(doc bson.D) (bson.D, error) {
	c := p.base.ForDocument(doc)
	if p.scored {
		score := p.matcher.TextScore(doc)
		c = c.WithScore(&score)
	}
	out, err := p.fields.Apply(c, doc)
	if err != nil || p.positional == nil {
		return out, err
	}
	_, index, err := p.matcher.MatchArrayIndex(doc)
	if err != nil {
		return nil, err
	}
	v, err := pickElement(out, p.positional, index)
	if err != nil {
		return nil, err
	}
	return v.(bson.D), nil
}

// pickElement replaces the first array along the path by the array of its index-th element. The index is that of the
// array element by which the query matched, in whichever field: see MatchArrayIndex of package query.
func pickElement(v any, path bsonval.Path, index int) (any, error) {
	switch x := v.(type) {
	case bson.A:
		switch {
		case index < 0:
			return nil, mongoerr.New(51246,
				"Executor error during find command :: caused by :: positional operator '.$' couldn't find a "+
					"matching element in the array")
		case index >= len(x):
			return nil, mongoerr.New(51247,
				"Executor error during find command :: caused by :: positional operator '.$' element mismatch")
		}
		return bson.A{x[index]}, nil
	case bson.D:
		if len(path) == 0 {
			return v, nil
		}
		inner, ok := bsonval.Get(x, path[0].Name)
		if !ok {
			return v, nil
		}
		next, err := pickElement(inner, path[1:], index)
		if err != nil {
			return nil, err
		}
		return bsonval.SetField(x, path[0].Name, next), nil
	}
	return v, nil
}

// Fields is a parsed projection of fields: inclusion or exclusion, with computed fields. An aggregation's stage has
// nothing else; find's [Projection] adds the positional operator.
type Fields struct {
	root    *node
	include bool // keep what is named, rather than what isn't
	// noID is set for an inclusion without _id. An exclusion has _id in its tree instead.
	noID bool
}

// ParseProject parses the argument of $project. Errors begin with the stage's name, as MongoDB's do.
func ParseProject(spec bson.D, s expr.Scope) (*Fields, error) {
	if len(spec) == 0 {
		return nil, mongoerr.New(51272,
			"Invalid $project :: caused by :: projection specification must have at least one field")
	}
	b := builder{root: &node{}, scope: s}
	if err := b.addDocument("", spec); err != nil {
		return nil, mongoerr.Convert(err).Prefix("Invalid $project :: caused by :: ")
	}
	return b.build(), nil
}

// ParseAddFields parses the argument of $addFields or $set. Every value is an expression, and everything else is
// kept.
func ParseAddFields(name string, spec bson.D, s expr.Scope) (*Fields, error) {
	if len(spec) == 0 {
		return nil, mongoerr.New(40177, "Invalid %s :: caused by :: specification must have at least one field", name)
	}
	b := builder{root: &node{}, scope: s, add: true}
	if err := b.addDocument("", spec); err != nil {
		return nil, mongoerr.Convert(err).Prefix("Invalid %s :: caused by :: ", name)
	}
	return b.build(), nil
}

// ParseUnset parses the argument of $unset: a path or an array of paths. It is an exclusion of these.
func ParseUnset(arg any) (*Fields, error) {
	a, ok := arg.(bson.A)
	if s, isString := arg.(string); isString {
		a, ok = bson.A{s}, true
	}
	if !ok {
		return nil, mongoerr.New(31002, "$unset specification must be a string or an array")
	}
	if len(a) == 0 {
		return nil, mongoerr.New(31119, "$unset specification must be a string or an array with at least one field")
	}
	b := builder{root: &node{}}
	for _, v := range a {
		s, ok := v.(string)
		if !ok {
			return nil, mongoerr.New(31120,
				"$unset specification must be a string or an array containing only string values")
		}
		if err := b.addField(s, int32(0)); err != nil {
			return nil, mongoerr.Convert(err).Prefix("Invalid $unset :: caused by :: ")
		}
	}
	return b.build(), nil
}
