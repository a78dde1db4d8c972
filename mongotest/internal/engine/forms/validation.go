package forms

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

// Validation is what a collection's documents must match
// (https://www.mongodb.com/docs/manual/core/schema-validation/): strictly all that are inserted or changed; moderately
// not those that didn't match before their change. A validation that warns lets everything through, for there is no
// log.
type Validation struct {
	Given         bson.D // the options, as create or collMod got them
	validator     bson.D
	level, action string              // "" if they aren't given: "strict" and "error"
	matcher       *query.Matcher      // nil without a validator
	by            *collation.Collator // the collection's
}

var validationOptions = []string{"validator", "validationLevel", "validationAction"}

// ReadValidation reads the options of a command, or those that a collection has. by is the collection's collation.
func ReadValidation(a *args.Reader, by *collation.Collator) (Validation, error) {
	v := Validation{
		validator: a.Document("validator"), level: a.Text("validationLevel"),
		action: a.Text("validationAction"), by: by,
	}
	for _, name := range validationOptions {
		if x, ok := a.Get(name); ok {
			v.Given = append(v.Given, bson.E{Key: name, Value: x})
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
		err = mongoerr.Convert(err).Prefix("Parsing of collection validator failed :: caused by :: ")
	}
	return v, err
}

// Merge returns the validation with a collection's options for what the command doesn't change.
func (v Validation) Merge(options bson.D, by *collation.Collator) (Validation, error) {
	merged := slices.Clone(v.Given)
	for _, name := range validationOptions {
		if x, ok := bsonval.Get(options, name); ok && bsonval.Index(merged, name) < 0 {
			merged = append(merged, bson.E{Key: name, Value: x})
		}
	}
	return ReadValidation(&args.Reader{Place: "collMod", Doc: merged}, by)
}

// Replace returns a collection's options with this validation in place of the old one. As collMod writes them, they
// have the level and the action, and no empty validator.
func (v Validation) Replace(old bson.D) bson.D {
	out := RemoveOptions(old, validationOptions...)
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

// NewCheck returns the function that the store calls before it stores a document, nil if every document is valid.
func (v Validation) NewCheck() store.Check {
	if v.matcher == nil || v.level == "off" || v.action == "warn" {
		return nil
	}
	// old is nil for an insert.
	return func(w *interrupt.Watch, old, next bson.D) error {
		m := v.matcher.BindWatch(w)
		passes := func(doc bson.D) (bool, error) { // a document on which an expression fails doesn't pass
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
			WithExtra(bson.E{Key: "errInfo", Value: v.explainFailure(next)})
	}
}

// explainFailure returns the errInfo of a refused document. It leaves out details that are too large, as MongoDB does.
func (v Validation) explainFailure(doc bson.D) bson.D {
	id, _ := bsonval.Get(doc, "_id")
	head := bson.D{{Key: "failingDocumentId", Value: id}}
	details := query.Explain(v.validator, doc, v.by)
	if whole := append(head[:1:1], bson.E{Key: "details", Value: details}); bsonval.Size(whole) <= maxErrorInfo {
		return whole
	}
	short := append(head[:1:1], bson.E{Key: "truncated", Value: true},
		bson.E{Key: "details", Value: removeFields(details, "specifiedAs", "consideredValue", "consideredValues")})
	if bsonval.Size(short) <= maxErrorInfo {
		return short
	}
	return append(head, bson.E{Key: "note", Value: "detailed error was too large"})
}

// maxErrorInfo is how many bytes of details a refusal may have: a reply has at most 16 MB.
const maxErrorInfo = 12 << 20

// removeFields returns a value without the fields of the names, at any depth.
func removeFields(v any, names ...string) any {
	switch v := v.(type) {
	case bson.D:
		out := bson.D{}
		for _, e := range v {
			if !slices.Contains(names, e.Key) {
				out = append(out, bson.E{Key: e.Key, Value: removeFields(e.Value, names...)})
			}
		}
		return out
	case bson.A:
		out := make(bson.A, len(v))
		for i, x := range v {
			out[i] = removeFields(x, names...)
		}
		return out
	}
	return v
}
