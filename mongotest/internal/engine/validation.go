package engine

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// validation is what a collection's documents must match
// (https://www.mongodb.com/docs/manual/core/schema-validation/): strictly all that are inserted or changed; moderately
// not those that didn't match before their change. A validation that warns lets everything through, for there is no
// log.
type validation struct {
	given         bson.D // the options, as create or collMod got them
	validator     bson.D
	level, action string
	matcher       *query.Matcher      // nil without a validator
	by            *collation.Collator // the collection's
}

var validationOptions = []string{"validator", "validationLevel", "validationAction"}

// readValidation reads the options of a command, or those that a collection has, whose documents match under its
// collation.
func readValidation(a *args.Reader, by *collation.Collator) (validation, error) {
	v := validation{
		validator: a.Document("validator"), level: a.Text("validationLevel"), action: a.Text("validationAction"), by: by,
	}
	for _, name := range validationOptions {
		if x, ok := a.Get(name); ok {
			v.given = append(v.given, bson.E{Key: name, Value: x})
		}
	}
	for _, x := range []struct {
		name, got string
		known     []string
	}{
		{"validationLevel", v.level, []string{"", "off", "strict", "moderate"}},
		{"validationAction", v.action, []string{"", "error", "warn"}},
	} {
		if !slices.Contains(x.known, x.got) {
			a.Fail(mongoerr.New(mongoerr.BadValue, "Enumeration value '%s' for field '%s.%s' is not a valid value.",
				x.got, a.Place, x.name))
		}
	}
	if a.Err != nil || len(v.validator) == 0 {
		return v, a.Err
	}
	var err error
	if v.matcher, err = query.Parse(v.validator, query.Options{Stored: true, Collation: by}); err != nil {
		err = mongoerr.From(err).Prefix("Parsing of collection validator failed :: caused by :: ")
	}
	return v, err
}

// over is the validation with what it doesn't say taken from a collection's options.
func (v validation) over(options bson.D, by *collation.Collator) (validation, error) {
	merged := slices.Clone(v.given)
	for _, name := range validationOptions {
		if x, ok := bsonval.Get(options, name); ok && bsonval.Index(merged, name) < 0 {
			merged = append(merged, bson.E{Key: name, Value: x})
		}
	}
	return readValidation(&args.Reader{Place: "collMod", Doc: merged}, by)
}

// options are a collection's options with this validation in the place of the one before, as collMod writes them: with
// the level and the action, and without a validator that is empty.
func (v validation) options(old bson.D) bson.D {
	out := without(old, validationOptions...)
	if len(v.validator) > 0 {
		out = append(out, bson.E{Key: "validator", Value: v.validator})
	}
	level, action := v.level, v.action
	if level == "" {
		level = "strict"
	}
	if action == "" {
		action = "error"
	}
	return append(out, bson.E{Key: "validationLevel", Value: level}, bson.E{Key: "validationAction", Value: action})
}

// check is what the store asks before it stores a document; nil lets everything through.
func (v validation) check() store.Check {
	if v.matcher == nil || v.level == "off" || v.action == "warn" {
		return nil
	}
	return func(w *interrupt.Watch, old, next bson.D) error {
		m := v.matcher.Watched(w)
		passes := func(doc bson.D) (bool, error) { // an expression that fails doesn't
			ok, err := m.Match(doc)
			if err != nil && interrupt.Ends(mongoerr.CodeOf(err)) {
				return false, err
			}
			return ok && err == nil, nil
		}
		ok, err := passes(next)
		if !ok && err == nil && old != nil && v.level == "moderate" {
			ok, err = passes(old)
			ok = !ok
		}
		if ok || err != nil {
			return err
		}
		return mongoerr.New(mongoerr.DocumentValidationFailure, "Document failed validation").
			WithExtra(bson.E{Key: "errInfo", Value: v.explain(next)})
	}
}

// explain says why a document was refused, without the details of which MongoDB says that they are too large.
func (v validation) explain(doc bson.D) bson.D {
	id, _ := bsonval.Get(doc, "_id")
	head := bson.D{{Key: "failingDocumentId", Value: id}}
	details := query.Explain(v.validator, doc, v.by)
	if whole := append(head[:1:1], bson.E{Key: "details", Value: details}); bsonval.Size(whole) <= maxErrorInfo {
		return whole
	}
	short := append(head[:1:1], bson.E{Key: "truncated", Value: true},
		bson.E{Key: "details", Value: withoutFields(details, "specifiedAs", "consideredValue", "consideredValues")})
	if bsonval.Size(short) <= maxErrorInfo {
		return short
	}
	return append(head, bson.E{Key: "note", Value: "detailed error was too large"})
}

const maxErrorInfo = 12 << 20

// withoutFields is a value without the fields of those names, at any depth.
func withoutFields(v any, names ...string) any {
	switch v := v.(type) {
	case bson.D:
		out := bson.D{}
		for _, e := range v {
			if !slices.Contains(names, e.Key) {
				out = append(out, bson.E{Key: e.Key, Value: withoutFields(e.Value, names...)})
			}
		}
		return out
	case bson.A:
		out := make(bson.A, len(v))
		for i, x := range v {
			out[i] = withoutFields(x, names...)
		}
		return out
	}
	return v
}
