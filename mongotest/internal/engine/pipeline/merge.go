package pipeline

// This file has $merge. It decides what becomes of each document of the target. The engine finds and writes
// the document (Env.MergeOne).

import (
	"errors"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/update"
)

// merge is $merge: it writes each document of its input into a collection, where it may meet a document with the same
// values of some fields. https://www.mongodb.com/docs/manual/reference/operator/aggregation/merge/
//
//	{$merge: {into: "totals", on: "_id", whenMatched: "replace", whenNotMatched: "insert"}}
//	{$merge: {into: "totals", whenMatched: [{$set: {n: {$add: ["$n", "$$new.n"]}}}]}}
//
// What happens if a document matches (whenMatched):
//
//	merge          the fields of the new document are set in it (the default)
//	replace        the new document takes its place, with the same _id
//	keepExisting   it stays as it is
//	fail           the stage fails
//	[stages]       the stages change it, as an update by a pipeline does ($$new is the new document)
//
// If no document matches (whenNotMatched), the new document is inserted or dropped (discard), or the stage fails.
type merge struct {
	db, coll   string     // the target, see parseTarget
	on         []string   // the fields by which a document matches another one; a unique index must have them
	matched    string     // whenMatched: replace, keepExisting, merge, fail, or "pipeline"
	list       bson.A     // the pipeline of whenMatched, nil without one
	notMatched string     // whenNotMatched: insert, discard or fail
	let        []variable // variables of the pipeline; their expressions see the new document
	by         *collation.Collator
}

// parseMerge parses {$merge: "c"} and the form with options.
func parseMerge(p *parser, name string, arg any) (stage, error) {
	s := &merge{by: p.scope.Collation(), on: []string{"_id"}, matched: "merge", notMatched: "insert"}
	d, ok := arg.(bson.D)
	if into, isString := arg.(string); isString {
		d, ok = bson.D{{Key: "into", Value: into}}, true
	}
	if !ok {
		return nil, mongoerr.New(mongoerr.TypeMismatch,
			"$merge requires a string or object argument, but found %s", bsonval.TypeName(arg))
	}
	// Without a let, a pipeline sees the new document as $$new.
	let := bson.D{{Key: "new", Value: "$$ROOT"}}
	for _, f := range d {
		var err error
		switch f.Key {
		case "into":
			s.db, s.coll, err = parseTarget(name, f.Value)
		case "on":
			err = s.parseOn(f.Value)
		case "let":
			if let, ok = f.Value.(bson.D); !ok {
				err = mongoerr.New(mongoerr.TypeMismatch,
					"BSON field '$merge.let' is the wrong type '%s', expected type 'object'",
					bsonval.TypeName(f.Value))
			}
		case "whenMatched":
			err = s.parseMatched(f.Value)
		case "whenNotMatched":
			s.notMatched, _ = f.Value.(string)
		default:
			err = mongoerr.New(mongoerr.IDLUnknownField, "BSON field '$merge.%s' is an unknown field.", f.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, s.parseRest(p, d, let)
}

// parseRest checks the options together, and parses the variables and the pipeline. d has the options, and let the
// variables as they were given, or $$new. The pipeline is parsed only for its mistakes: mergeOne parses it again with
// the values of the variables.
func (s *merge) parseRest(p *parser, d, let bson.D) error {
	if s.coll == "" {
		return mongoerr.New(mongoerr.IDLFailedToParse, "BSON field '$merge.into' is missing but a required field")
	}
	switch {
	case strings.HasPrefix(s.coll, "system."):
		return mongoerr.New(31319, "Cannot $merge to special collection: %s", s.coll)
	case slices.Contains(internalDatabases, s.db):
		return mongoerr.New(31320, "Cannot $merge to internal database: %s", s.db)
	}
	if !slices.Contains([]string{"insert", "discard", "fail"}, s.notMatched) {
		v, _ := bsonval.Get(d, "whenNotMatched")
		return mongoerr.New(mongoerr.BadValue,
			"Enumeration value '%v' for field '$merge.whenNotMatched' is not a valid value.", v)
	}
	if (s.matched == "keepExisting" || s.matched == "fail") && s.notMatched != "insert" {
		return mongoerr.New(51181,
			"Combination of $merge modes 'whenMatched: %s' and 'whenNotMatched: %s' is not supported",
			s.matched, s.notMatched)
	}
	if _, said := bsonval.Get(d, "let"); said {
		if s.list == nil {
			return mongoerr.New(51199, "Cannot use 'let' variables with 'whenMatched: %s' mode", s.matched)
		}
		// $$new is always there. A let may repeat it, but not define something else.
		if bsonval.Index(let, "new") < 0 {
			let = append(slices.Clone(let), bson.E{Key: "new", Value: "$$ROOT"})
		} else if v, _ := bsonval.Get(let, "new"); v != "$$ROOT" {
			return mongoerr.New(51273,
				"'let' may not define a value for the reserved 'new' variable other than '$$ROOT'")
		}
	}
	if s.list == nil {
		return nil
	}
	var err error
	if s.let, err = parseLet(p, let); err != nil {
		return err
	}
	if err := p.checkNames(s.list); err != nil {
		return err
	}
	// Their values come with the documents.
	names := map[string]any{}
	for _, v := range s.let {
		names[v.name] = nil
	}
	_, err = update.Parse(s.list, nil, update.Options{Vars: names, Collation: p.scope.Collation()})
	return err
}

// parseOn parses one field, or a list of fields.
func (s *merge) parseOn(v any) error {
	switch x := v.(type) {
	case string:
		s.on = []string{x}
		return nil
	case bson.A:
		s.on = nil
		for _, item := range x {
			name, ok := item.(string)
			if !ok {
				return mongoerr.New(51134,
					"$merge 'on' array elements must be strings, but found %s", bsonval.TypeName(item))
			}
			if slices.Contains(s.on, name) {
				return mongoerr.New(31465, "Found a duplicate field '%s'", name)
			}
			s.on = append(s.on, name)
		}
		if len(s.on) == 0 {
			return mongoerr.New(51187, "If explicitly specifying $merge 'on', must include at least one field")
		}
		return nil
	}
	return mongoerr.New(51186,
		"$merge 'on' field must be either a string or an array of strings, but found %s", bsonval.TypeName(v))
}

// parseMatched parses whenMatched: a mode, or a pipeline.
func (s *merge) parseMatched(v any) error {
	switch x := v.(type) {
	case string:
		if slices.Contains([]string{"replace", "keepExisting", "merge", "fail"}, x) {
			s.matched = x
			return nil
		}
	case bson.A:
		s.matched, s.list = "pipeline", x
		return nil
	}
	return mongoerr.New(mongoerr.BadValue,
		"Enumeration value '%v' for field '$merge.whenMatched' is not a valid value.", v)
}

// run writes when it is ranged over, and gives no documents.
func (s *merge) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		if err := s.mergeDocs(r, in); err != nil {
			yield(nil, err)
		}
	}
}

// mergeDocs writes all documents, one after the other. If one fails, the documents before it stay written.
func (s *merge) mergeDocs(r *run, in Docs) error {
	unique, err := r.env.IsUnique(s.db, s.coll, s.on)
	if err != nil {
		return err
	}
	if !unique {
		return mongoerr.New(51183, "Cannot find index to verify that join fields will be unique")
	}
	for d, err := range in {
		if err != nil {
			return err
		}
		// A new _id matches no document, and the insert stores it.
		if slices.Contains(s.on, "_id") {
			d = addID(d, r.env.Now())
		}
		for _, name := range s.on {
			v := getPath(d, strings.Split(name, "."))
			if _, isArray := v.(bson.A); isArray || bsonval.IsNullish(v) {
				return mongoerr.New(51132,
					"$merge write error: 'on' field cannot be missing, null, undefined or an array")
			}
		}
		err = r.env.MergeOne(s.db, s.coll, s.on, d, func(old bson.D) (bson.D, Action, error) {
			return s.mergeOne(r.base.ForDocument(d), d, old)
		})
		if err != nil {
			return s.addContext(err)
		}
	}
	return nil
}

// addContext returns the error of a write with MongoDB's words for what it means to $merge.
func (s *merge) addContext(err error) error {
	var context string
	var e *mongoerr.Error
	switch {
	// Errors of the stage itself have its name already.
	case !errors.As(err, &e) || strings.HasPrefix(e.Message, "$merge "):
		return err
	case e.Code == mongoerr.ImmutableField:
		context = "$merge failed to update the matching document, did you attempt to modify the _id or the shard key?"
	case e.Code == mongoerr.DuplicateKey && s.matched == "fail" && s.isOnFields(e):
		context = "$merge with whenMatched: fail found an existing document with the same values for the 'on' fields"
	case e.Code == mongoerr.DuplicateKey:
		context = "$merge failed due to a DuplicateKey error"
	default:
		return err
	}
	in := *e
	in.Message = context + " :: caused by :: " + e.Message
	return &in
}

// isOnFields reports whether a duplicate key is that of the index on the fields by which documents match. A duplicate
// in another unique index is another error.
func (s *merge) isOnFields(e *mongoerr.Error) bool {
	v, _ := bsonval.Get(e.Extra, "keyPattern")
	pattern, _ := v.(bson.D)
	return len(pattern) == len(s.on) &&
		!slices.ContainsFunc(pattern, func(f bson.E) bool { return !slices.Contains(s.on, f.Key) })
}

// makeInserted returns the document that is inserted for d. MongoDB runs the modes merge and keepExisting as an upsert
// with $set or $setOnInsert. The upsert begins with the fields of the filter, and adds the others in the order of their
// names.
func (s *merge) makeInserted(d bson.D, now time.Time) (bson.D, error) {
	if s.matched != "merge" && s.matched != "keepExisting" {
		return addID(d, now), nil
	}
	u, err := update.Parse(bson.D{{Key: "$set", Value: d}}, nil, update.Options{})
	if err != nil {
		return nil, err
	}
	var filter bson.D
	for _, name := range s.on {
		filter = append(filter, bson.E{Key: name, Value: getPath(d, strings.Split(name, "."))})
	}
	newID := func() any { return bson.NewObjectIDFromTimestamp(now) }
	return u.Insert(filter, update.Input{Position: -1, Now: now}, newID)
}

// addID returns the document with a new _id as its first field, if it has none.
func addID(d bson.D, now time.Time) bson.D {
	if bsonval.Index(d, "_id") >= 0 {
		return d
	}
	return append(bson.D{{Key: "_id", Value: bson.NewObjectIDFromTimestamp(now)}}, d...)
}

// mergeOne decides what becomes of a document of the target. d is the new document, and old the one that matches it,
// nil if there is none. c has d for the expressions of let. Env.MergeOne calls it.
func (s *merge) mergeOne(c *expr.Context, d, old bson.D) (bson.D, Action, error) {
	// In the mode fail, MongoDB inserts a document that matches one, too: the unique index refuses it.
	if old == nil || s.matched == "fail" {
		switch {
		case old != nil:
		case s.notMatched == "discard":
			return nil, Keep, nil
		case s.notMatched == "fail":
			return nil, Keep, mongoerr.New(13113,
				"$merge could not find a matching document in the target collection for at least one document in the "+
					"source collection")
		}
		d, err := s.makeInserted(d, c.Now)
		return d, Insert, err
	}
	// A document matches. The change is an update of it: a replacement, a $set or a pipeline.
	var change any
	var action Action
	vars := map[string]any{}
	switch s.matched {
	case "keepExisting":
		return nil, Keep, nil
	case "replace":
		change, action = d, Replace
	case "merge":
		change, action = bson.D{{Key: "$set", Value: d}}, Update
	default:
		change, action = s.list, Transform
		for _, v := range s.let {
			x, err := v.e.Eval(c)
			if err != nil {
				return nil, Keep, err
			}
			vars[v.name] = x
		}
	}
	u, err := update.Parse(change, nil, update.Options{Vars: vars, Watch: c.Watch, Collation: s.by})
	if err != nil {
		return nil, Keep, err
	}
	next, err := u.Apply(old, update.Input{Position: -1, Now: c.Now})
	return next, action, err
}
