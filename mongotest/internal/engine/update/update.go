// Package update parses MongoDB updates and applies them to documents:
// operators with positional paths and array filters, pipelines, replacements.
//
// The manual's pages on update operators decide what they mean
// (https://www.mongodb.com/docs/manual/reference/mql/update/). An operator that
// isn't here is an error that names it.
//
// Documents are immutable: an update copies the paths that it changes and
// shares the rest with the document it was applied to.
package update

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// Update is a parsed update. It is immutable and safe for concurrent use.
type Update struct {
	changes     []change // of an update by operators
	filters     map[string]*arrayFilter
	replacement bson.D
	stages      []stage
	kind        kind
	vars        map[string]any
	watch       *interrupt.Watch
}

type kind uint8

const (
	operators kind = iota
	replacement
	pipeline
)

// Options is what an update may refer to beside the document.
type Options struct {
	Vars  map[string]any   // variables of a pipeline: the command's c, or $merge's let
	Watch *interrupt.Watch // ends the loops of Apply
	// Collation is what operators, array filters and a pipeline compare under.
	Collation *collation.Collator
}

// Input is what an update needs to know of the document it is applied to.
type Input struct {
	Position int       // the array position by which the query matched, -1 for none; see query.Matcher.MatchArrayIndex
	IsInsert bool      // the document is being inserted by an upsert
	Now      time.Time // for $currentDate and $$NOW
}

// IsReplacement reports whether u is a replacement document rather than
// operators or a pipeline.
func IsReplacement(u any) bool {
	d, ok := u.(bson.D)
	return ok && (len(d) == 0 || !strings.HasPrefix(d[0].Key, "$"))
}

// Parse parses an update: a document of operators, a pipeline or a replacement
// (see [IsReplacement], for a command that refuses one of them).
func Parse(u any, arrayFilters bson.A, opt Options) (*Update, error) {
	switch x := u.(type) {
	case bson.A:
		if len(arrayFilters) > 0 {
			return nil, mongoerr.New(mongoerr.FailedToParse, "arrayFilters may not be specified for pipeline-syle updates")
		}
		stages, err := parseStages(x, opt)
		if err != nil {
			return nil, err
		}
		return &Update{kind: pipeline, stages: stages, vars: opt.Vars, watch: opt.Watch}, nil
	case bson.D:
		if IsReplacement(u) {
			if len(arrayFilters) > 0 {
				return nil, mongoerr.New(mongoerr.FailedToParse, "arrayFilters may not be specified for replacement-style updates")
			}
			return ParseReplacement(x)
		}
		return parseOperators(x, arrayFilters, opt)
	}
	return nil, mongoerr.New(mongoerr.FailedToParse, "Update argument must be either an object or an array")
}

// ParseReplacement parses a replacement document.
func ParseReplacement(d bson.D) (*Update, error) {
	for _, f := range d {
		if strings.HasPrefix(f.Key, "$") {
			return nil, mongoerr.New(mongoerr.DollarPrefixedFieldName,
				"The dollar ($) prefixed field '%s' in '%s' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.", f.Key, f.Key)
		}
	}
	return &Update{kind: replacement, replacement: d}, nil
}

// IsReplacement reports whether the update replaces the whole document.
func (u *Update) IsReplacement() bool { return u.kind == replacement }

// IsPipeline reports whether the update is a pipeline.
func (u *Update) IsPipeline() bool { return u.kind == pipeline }

// NeedsPosition reports whether the update uses the positional operator, so
// that Input.Position counts.
func (u *Update) NeedsPosition() bool {
	for _, c := range u.changes {
		for _, f := range c.path {
			if f.Name == "$" {
				return true
			}
		}
	}
	return false
}

// Apply returns the updated document. Nothing was modified when it is
// bsonval.Equal to doc. The _id can't change.
func (u *Update) Apply(doc bson.D, in Input) (bson.D, error) {
	next, err := u.apply(doc, in)
	if err != nil {
		return nil, err
	}
	return u.keepID(doc, next)
}

func (u *Update) apply(doc bson.D, in Input) (bson.D, error) {
	switch u.kind {
	case replacement:
		return u.replacement, nil
	case pipeline:
		return u.runStages(doc, in)
	}
	return u.applyChanges(doc, in)
}

// keepID refuses a changed _id and, when a replacement or a pipeline left it
// out, puts it back to the front.
func (u *Update) keepID(doc, next bson.D) (bson.D, error) {
	old, had := bsonval.Get(doc, "_id")
	id, has := bsonval.Get(next, "_id")
	switch {
	case !had:
		return next, nil
	case !has && u.kind != operators:
		return append(bson.D{{Key: "_id", Value: old}}, next...), nil
	case has && bsonval.Compare(old, id) == 0:
		return next, nil
	case u.kind == replacement:
		return nil, mongoerr.New(mongoerr.ImmutableField,
			"After applying the update, the (immutable) field '_id' was found to have been altered to _id: %s", show(id))
	}
	return nil, mongoerr.New(mongoerr.ImmutableField,
		"Performing an update on the path '_id' would modify the immutable field '_id'")
}

// Insert returns the document that an upsert inserts: the query's equality
// conditions (see query.Matcher.EqualityFields), then the update. newID gives
// an _id when neither has one; the _id comes first.
func (u *Update) Insert(equalities bson.D, in Input, newID func() any) (bson.D, error) {
	base, err := u.base(equalities)
	if err != nil {
		return nil, err
	}
	in.IsInsert = true
	next, err := u.Apply(base, in)
	if err != nil {
		return nil, err
	}
	switch at := bsonval.Index(next, "_id"); {
	case at < 0:
		return append(bson.D{{Key: "_id", Value: newID()}}, next...), nil
	case at > 0:
		return append(bson.D{next[at]}, bsonval.Without(next, "_id")...), nil
	}
	return next, nil
}

// base is what the query says of the document to insert.
func (u *Update) base(equalities bson.D) (bson.D, error) {
	var doc any = bson.D{}
	for _, f := range equalities {
		if u.kind == replacement && f.Key != "_id" {
			if strings.HasPrefix(f.Key, "_id.") {
				return nil, mongoerr.New(mongoerr.NotExactValueField,
					"field at '_id' must be exactly specified, field at sub-path '%s'found", f.Key)
			}
			continue
		}
		v := f.Value
		set := action{creates: true, apply: func(any, *state) (any, error) { return v, nil }}
		next, err := set.at(doc, bsonval.ParsePath(f.Key), 0, &state{})
		if err != nil {
			return nil, err
		}
		doc = next
	}
	return doc.(bson.D), nil
}
