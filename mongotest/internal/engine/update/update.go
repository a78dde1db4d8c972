// Package update parses MongoDB's updates and applies them to documents. The manual's pages decide what they mean
// (https://www.mongodb.com/docs/manual/reference/mql/update/).
//
// The engine's commands update, bulkWrite and findAndModify call it, and package pipeline for $merge. It knows no
// collection: a caller finds the document, calls [Update.Apply], and stores the result.
//
// # Kinds
//
//	{$inc: {n: 1}, $push: {"a.$[x].b": 5}}   operators, with array filters such as [{"x.c": {$gt: 1}}]
//	[{$set: {n: {$add: ["$n", 1]}}}]         a pipeline of stages that change one document
//	{n: 1, a: []}                            a replacement: the new document, without its _id
//
// # An update by operators
//
//  1. [Parse] makes a change of each operator at each path. The operator's parser (field.go, number.go, array.go,
//     push.go) checks the argument, and returns an action: a function from the old value to the new one. Two changes
//     may not be on one path, or on a path and a part of it.
//  2. [Update.Apply] first expands paths by the document (apply.go): $ is the position by which the query matched, $[]
//     is each element of an array, $[x] each that the array filter x matches (filters.go).
//  3. The changes are sorted by path, because MongoDB adds new fields in this order, and applied one after the other.
//     An action says what happens where its path doesn't exist, or leads into a number.
//
// An upsert without a matching document calls [Update.Insert]. It begins with a document of the query's equalities.
//
// # What an update did
//
// A change event says which fields an update set and removed. [Applied] keeps an update with its input until somebody
// asks (describe_applied.go). For pipelines the documents before and after are compared (describe.go). A trail is a
// path with the knowledge which of its parts are places in arrays (trail.go).
//
// # Invariants
//
//   - Documents are immutable: an update copies the paths that it changes and shares the rest with the document to
//     which it was applied.
//   - A value that doesn't change is returned as it was. So a caller sees by bsonval.Equal that nothing was modified.
//   - bsonval.Missing stands for an absent value: an action gets it for a path that isn't there, and returns it to
//     remove a field.
//   - The _id never changes.
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
	kind        kind
	changes     []change                // of an update by operators, in the order in which they were given
	filters     map[string]*arrayFilter // of an update by operators, by the name in $[name]
	replacement bson.D                  // of a replacement
	stages      []stage                 // of a pipeline
	vars        map[string]any          // of a pipeline, by name without $$
	watch       *interrupt.Watch
}

// kind says in which of three ways an update is written.
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

// IsReplacement reports whether u is a replacement document rather than operators or a pipeline. Commands that allow
// only some of them call it before Parse.
func IsReplacement(u any) bool {
	d, ok := u.(bson.D)
	return ok && (len(d) == 0 || !strings.HasPrefix(d[0].Key, "$"))
}

// Parse parses an update: a document of operators, a pipeline or a replacement. arrayFilters are only for operators.
func Parse(u any, arrayFilters bson.A, opt Options) (*Update, error) {
	switch x := u.(type) {
	case bson.A:
		if len(arrayFilters) > 0 {
			return nil, mongoerr.New(mongoerr.FailedToParse,
				"arrayFilters may not be specified for pipeline-syle updates")
		}
		stages, err := parseStages(x, opt)
		if err != nil {
			return nil, err
		}
		return &Update{kind: pipeline, stages: stages, vars: opt.Vars, watch: opt.Watch}, nil
	case bson.D:
		if IsReplacement(u) {
			if len(arrayFilters) > 0 {
				return nil, mongoerr.New(mongoerr.FailedToParse,
					"arrayFilters may not be specified for replacement-style updates")
			}
			return ParseReplacement(x)
		}
		return parseOperators(x, arrayFilters, opt)
	}
	return nil, mongoerr.New(mongoerr.FailedToParse, "Update argument must be either an object or an array")
}

// ParseReplacement parses a replacement document. Fields within it may begin with $, those at the top may not.
func ParseReplacement(d bson.D) (*Update, error) {
	for _, f := range d {
		if strings.HasPrefix(f.Key, "$") {
			return nil, mongoerr.New(mongoerr.DollarPrefixedFieldName,
				"The dollar ($) prefixed field '%s' in '%s' is not allowed in the context of an update's "+
					"replacement document. Consider using an aggregation pipeline with $replaceWith.", f.Key, f.Key)
		}
	}
	return &Update{kind: replacement, replacement: d}, nil
}

// IsReplacement reports whether the update replaces the whole document.
func (u *Update) IsReplacement() bool { return u.kind == replacement }

// IsPipeline reports whether the update is a pipeline.
func (u *Update) IsPipeline() bool { return u.kind == pipeline }

// NeedsPosition reports whether the update uses the positional operator $, so that Input.Position counts.
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

// Apply returns the updated document. Nothing was modified if it is bsonval.Equal to doc. A change of the _id is the
// error ImmutableField (66).
func (u *Update) Apply(doc bson.D, in Input) (bson.D, error) {
	next, err := u.apply(doc, in)
	if err != nil {
		return nil, err
	}
	return u.keepID(doc, next)
}

// apply returns the updated document, whose _id may have changed or gone.
func (u *Update) apply(doc bson.D, in Input) (bson.D, error) {
	switch u.kind {
	case replacement:
		return u.replacement, nil
	case pipeline:
		return u.runStages(doc, in)
	}
	return u.applyChanges(doc, in)
}

// keepID refuses a changed _id. If a replacement or a pipeline left the _id out, keepID puts it back to the front.
func (u *Update) keepID(doc, next bson.D) (bson.D, error) {
	old, had := bsonval.Get(doc, "_id")
	id, has := bsonval.Get(next, "_id")
	switch {
	case !had: // an upsert, which may set it
		return next, nil
	// $unset of _id by operators is an error, below.
	case !has && u.kind != operators:
		return append(bson.D{{Key: "_id", Value: old}}, next...), nil
	case has && bsonval.Compare(old, id) == 0:
		return next, nil
	case u.kind == replacement:
		return nil, mongoerr.New(mongoerr.ImmutableField,
			"After applying the update, the (immutable) field '_id' was found to have been altered to _id: %s",
			show(id))
	}
	return nil, mongoerr.New(mongoerr.ImmutableField,
		"Performing an update on the path '_id' would modify the immutable field '_id'")
}

// Insert returns the document that an upsert inserts: the query's equality conditions (see
// query.Matcher.EqualityFields), changed by the update. newID makes an _id if neither has one. The _id comes first. The
// actions of $setOnInsert take part, whatever in says.
func (u *Update) Insert(equalities bson.D, in Input, newID func() any) (bson.D, error) {
	base, err := u.makeBase(equalities)
	if err != nil {
		return nil, err
	}
	in.IsInsert = true
	next, err := u.Apply(base, in)
	if err != nil {
		return nil, err
	}
	// A stage or $set may have put the _id behind other fields.
	switch at := bsonval.Index(next, "_id"); {
	case at < 0:
		return append(bson.D{{Key: "_id", Value: newID()}}, next...), nil
	case at > 0:
		return append(bson.D{next[at]}, bsonval.RemoveField(next, "_id")...), nil
	}
	return next, nil
}

// makeBase returns the document of the query's equalities, on which an upsert begins:
//
//	{"a.b": 1, n: {$eq: 2}, m: {$gt: 3}}   →   {a: {b: 1}, n: 2}
//
// The caller has found the equalities. A replacement only takes the _id of the query, which must be whole: "_id.a" is
// the error NotExactValueField (111).
func (u *Update) makeBase(equalities bson.D) (bson.D, error) {
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
		// The conditions are set as $set would, because they may be on paths.
		set := action{creates: true, apply: func(any, *state) (any, error) { return v, nil }}
		next, err := set.applyAt(doc, bsonval.ParsePath(f.Key), 0, &state{})
		if err != nil {
			return nil, err
		}
		doc = next
	}
	return doc.(bson.D), nil
}
