package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Level says which writes a validation looks at.
type Level string

const (
	Strict   Level = "strict"   // all inserts and changes; the zero Level is this one
	Moderate Level = "moderate" // inserts, and changes of documents that conform
	Off      Level = "off"      // none
)

// An Action says what becomes of a write that doesn't conform.
type Action string

const (
	Refuse Action = "error" // the server refuses it with code 121; the zero Action is this one
	Warn   Action = "warn"  // the server stores it, and logs it
)

// A Validation is what a server validates a collection's documents by. [Schema.Enforced] makes one; the fields may be set by hand,
// for a validator from elsewhere or combined by [model.And]. It does nothing until Ensure runs it.
//
// A server checks what is written from then on, not what is there: see [Schema.Nonconforming]. To bring one into use on a live
// collection, begin with [Warn], or with [Moderate], which lets documents be changed that were wrong before.
//
// Source: https://www.mongodb.com/docs/manual/core/schema-validation/specify-validation-level/.
type Validation struct {
	Collection string
	Validator  bson.D // a filter; empty means that nothing is validated
	Level      Level
	Action     Action
}

func (v Validation) withDefaults() Validation {
	if v.Level == "" {
		v.Level = Strict
	}
	if v.Action == "" {
		v.Action = Refuse
	}
	return v
}

func (v Validation) err() error {
	refuse := func(field string, value any, reason string) error {
		return &model.ValueError{Collection: v.Collection, Field: field, Value: value, Reason: reason}
	}
	switch v = v.withDefaults(); {
	case v.Collection == "":
		return refuse("Collection", nil, "a validation needs a collection")
	case !slices.Contains([]Level{Strict, Moderate, Off}, v.Level):
		return refuse("Level", string(v.Level), "is none of strict, moderate, off")
	case !slices.Contains([]Action{Refuse, Warn}, v.Action):
		return refuse("Action", string(v.Action), "is none of error, warn")
	}
	return nil
}

// Create returns the command that creates the collection with the validation.
func (v Validation) Create() bson.D { return v.command("create") }

// CollMod returns the command that gives the collection, which must exist, the validation in the place of the one it has.
func (v Validation) CollMod() bson.D { return v.command("collMod") }

func (v Validation) command(name string) bson.D {
	v = v.withDefaults()
	validator := v.Validator
	if validator == nil {
		validator = bson.D{}
	}
	return bson.D{
		{Key: name, Value: v.Collection}, {Key: "validator", Value: validator},
		{Key: "validationLevel", Value: string(v.Level)}, {Key: "validationAction", Value: string(v.Action)},
	}
}

// String is the command that changes the collection, as in mongosh.
func (v Validation) String() string {
	if err := v.err(); err != nil {
		return "// refused: " + err.Error()
	}
	return "db.runCommand(" + model.Shell(v.CollMod()) + ")"
}

// Ensure brings the validation into place: it creates the collection, or changes what it is validated by if that differs. Running
// it again changes nothing. Two programs that ensure different validations take turns; the last one wins.
//
// Cost: one listCollections command, one more if something differs, and two more if the collection is new, for there are servers
// that forget the validator of a create command. No document is read or written.
func (v Validation) Ensure(ctx context.Context, db *mongo.Database) error {
	diff, err := v.Diff(ctx, db)
	if err != nil || diff.Empty() {
		return err
	}
	if diff.Missing {
		err = db.RunCommand(ctx, v.Create()).Err()
		var cmd mongo.CommandError
		if !errors.As(err, &cmd) || cmd.Code != 48 { // NamespaceExists: somebody else created it
			if err != nil {
				return v.failed(err)
			}
			if diff, err = v.Diff(ctx, db); err != nil || diff.Empty() { // some servers forget it
				return err
			}
		}
	}
	return v.failed(db.RunCommand(ctx, v.CollMod()).Err())
}

func (v Validation) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("docmodel: validation of %s: %w", v.Collection, err)
}

// A ValidationDiff says how what a collection is validated by differs from a [Validation].
type ValidationDiff struct {
	Missing   bool // the collection doesn't exist
	Validator bool // the validator differs
	Level     bool
	Action    bool
	Have      Validation // what the collection has
}

// Empty reports whether nothing differs.
func (d ValidationDiff) Empty() bool { return !d.Missing && !d.Validator && !d.Level && !d.Action }

// String names what differs: "validator, validationLevel".
func (d ValidationDiff) String() string {
	var out []string
	for _, x := range []struct {
		is   bool
		name string
	}{{d.Missing, "collection"}, {d.Validator, "validator"}, {d.Level, "validationLevel"}, {d.Action, "validationAction"}} {
		if x.is {
			out = append(out, x.name)
		}
	}
	return strings.Join(out, ", ")
}

// Diff compares the validation with what the collection has: one listCollections command. It changes nothing. A validator differs
// when its bytes do, in order too.
func (v Validation) Diff(ctx context.Context, db *mongo.Database) (ValidationDiff, error) {
	if err := cmp.Or(v.err(), model.CheckRun(ctx, db)); err != nil {
		return ValidationDiff{}, err
	}
	list, err := db.ListCollectionSpecifications(ctx, bson.D{{Key: "name", Value: v.Collection}})
	if err != nil {
		return ValidationDiff{}, v.failed(err)
	}
	if len(list) == 0 {
		return ValidationDiff{Missing: true}, nil
	}
	var have struct {
		Validator bson.D `bson:"validator"`
		Level     Level  `bson:"validationLevel"`
		Action    Action `bson:"validationAction"`
	}
	if err := bson.Unmarshal(list[0].Options, &have); err != nil {
		return ValidationDiff{}, v.failed(err)
	}
	d := ValidationDiff{Have: Validation{v.Collection, have.Validator, have.Level, have.Action}.withDefaults()}
	want := v.withDefaults()
	same, err := sameDocument(want.Validator, have.Validator)
	d.Validator, d.Level, d.Action = !same, want.Level != d.Have.Level, want.Action != d.Have.Action
	return d, err
}

func sameDocument(a, b bson.D) (bool, error) {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b), nil
	}
	x, err := bson.Marshal(a)
	if err != nil {
		return false, err
	}
	y, err := bson.Marshal(b)
	return string(x) == string(y), err
}
