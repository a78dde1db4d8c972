package model

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Validation, set by [Validation.Ensure], makes the server validate new writes to a
// collection. To find existing invalid documents, use the check of a schema.Schema.
//
// On a live collection, begin with Action "warn" or Level "moderate".
//
// Source:
// https://www.mongodb.com/docs/manual/core/schema-validation/specify-validation-level/.
type Validation struct {
	Collection string
	Validator  bson.D // a filter for valid documents, or empty for no validation
	// Level "strict" or "" validates all writes. "moderate" allows any update of a
	// document that is already invalid. "off" validates nothing.
	Level string
	// Action "error" or "" refuses invalid writes (code 121). "warn" only logs them.
	Action string
}

func (v Validation) withDefaults() Validation {
	v.Level, v.Action = cmp.Or(v.Level, "strict"), cmp.Or(v.Action, "error")
	return v
}

func (v Validation) err() error {
	refuse := func(field string, value any, reason string) error {
		return &ValueError{Collection: v.Collection, Field: field, Value: value, Reason: reason}
	}
	switch v = v.withDefaults(); {
	case v.Collection == "":
		return refuse("Collection", nil, "a validation needs a collection")
	case !slices.Contains([]string{"strict", "moderate", "off"}, v.Level):
		return refuse("Level", v.Level, "must be strict, moderate or off")
	case !slices.Contains([]string{"error", "warn"}, v.Action):
		return refuse("Action", v.Action, "must be error or warn")
	}
	return nil
}

// command returns the command that sets the validator of a collection: create, or collMod for an existing one.
func (v Validation) command(name string) bson.D {
	v = v.withDefaults()
	validator := v.Validator
	if validator == nil {
		validator = bson.D{}
	}
	return bson.D{
		{Key: name, Value: v.Collection}, {Key: "validator", Value: validator},
		{Key: "validationLevel", Value: v.Level}, {Key: "validationAction", Value: v.Action},
	}
}

// String returns the command in mongosh syntax that replaces the validator of an existing
// collection.
func (v Validation) String() string {
	if err := v.err(); err != nil {
		return "// refused: " + err.Error()
	}
	return "db.runCommand(" + Shell(v.command("collMod")) + ")"
}
