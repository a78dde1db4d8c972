// Package projection parses and applies projections: those of find, and the
// stages of an aggregation or a pipeline update that work on one document's
// fields ($project, $addFields, $unset).
//
// The manual's pages on projecting fields
// (https://www.mongodb.com/docs/manual/tutorial/project-fields-from-query-results/)
// and on $project decide
// (https://www.mongodb.com/docs/manual/reference/operator/aggregation/project/).
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

// Projection is a parsed find projection. It is immutable and safe for concurrent use.
type Projection struct {
	fields     *Fields
	positional bsonval.Path // the path before ".$", nil when there is none
	matcher    *query.Matcher
	base       *expr.Context
	scored     bool // the matcher has a text search
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
	b := builder{find: true, root: &node{}, scope: expr.NewScope(slices.Collect(maps.Keys(vars))...).Under(m.Collation())}
	if m != nil && m.Text(false) != nil {
		b.scope = b.scope.Scored()
	}
	if err := b.document("", spec); err != nil {
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

// Apply returns the projected document, which shares what it can with doc.
func (p *Projection) Apply(doc bson.D) (bson.D, error) {
	c := p.base.On(doc)
	if p.scored {
		score := p.matcher.TextScore(doc)
		c = c.Scored(&score)
	}
	out, err := p.fields.Apply(c, doc)
	if err != nil || p.positional == nil {
		return out, err
	}
	_, index, err := p.matcher.MatchArrayIndex(doc)
	if err != nil {
		return nil, err
	}
	v, err := pick(out, p.positional, index)
	if err != nil {
		return nil, err
	}
	return v.(bson.D), nil
}

// pick replaces the first array along the path by the array of its index-th element.
func pick(v any, path bsonval.Path, index int) (any, error) {
	switch x := v.(type) {
	case bson.A:
		switch {
		case index < 0:
			return nil, mongoerr.New(51246,
				"Executor error during find command :: caused by :: positional operator '.$' couldn't find a matching element in the array")
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
		next, err := pick(inner, path[1:], index)
		if err != nil {
			return nil, err
		}
		return bsonval.With(x, path[0].Name, next), nil
	}
	return v, nil
}

// Fields is a parsed projection of fields: inclusion or exclusion, with computed fields.
type Fields struct {
	root    *node
	include bool // keep what is named, rather than what isn't
	noID    bool // inclusion without _id
}

// ParseProject parses the argument of $project.
func ParseProject(spec bson.D, s expr.Scope) (*Fields, error) {
	if len(spec) == 0 {
		return nil, mongoerr.New(51272,
			"Invalid $project :: caused by :: projection specification must have at least one field")
	}
	b := builder{root: &node{}, scope: s}
	if err := b.document("", spec); err != nil {
		return nil, mongoerr.From(err).Prefix("Invalid $project :: caused by :: ")
	}
	return b.build(), nil
}

// ParseAddFields parses the argument of $addFields or $set.
func ParseAddFields(name string, spec bson.D, s expr.Scope) (*Fields, error) {
	if len(spec) == 0 {
		return nil, mongoerr.New(40177, "Invalid %s :: caused by :: specification must have at least one field", name)
	}
	b := builder{root: &node{}, scope: s, add: true}
	if err := b.document("", spec); err != nil {
		return nil, mongoerr.From(err).Prefix("Invalid %s :: caused by :: ", name)
	}
	return b.build(), nil
}

// ParseUnset parses the argument of $unset: a path or an array of paths.
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
			return nil, mongoerr.New(31120, "$unset specification must be a string or an array containing only string values")
		}
		if err := b.field(s, int32(0)); err != nil {
			return nil, mongoerr.From(err).Prefix("Invalid $unset :: caused by :: ")
		}
	}
	return b.build(), nil
}
