package model

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Validation is what a server validates the documents of a collection by. [Model.Validations] returns those of a model; the
// fields may be set by hand, for a validator from elsewhere or combined by [And]. It does nothing until Ensure runs it.
//
// A server checks what is written from then on, not what is there: the check of a schema.Schema finds that. To bring a validation into
// use on a live collection, begin with the Action "warn", or with the Level "moderate", which lets documents be changed that were
// wrong before.
//
// Source: https://www.mongodb.com/docs/manual/core/schema-validation/specify-validation-level/.
type Validation struct {
	Collection string
	Validator  bson.D // a filter that documents must match; empty means that nothing is validated
	Level      string // "strict": all inserts and updates. "moderate": inserts, and updates of documents that conform. "off". "" means "strict"
	Action     string // "error": the server refuses the write with code 121. "warn": the server stores and logs it. "" means "error"
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
		{Key: "validationLevel", Value: v.Level}, {Key: "validationAction", Value: v.Action},
	}
}

// String is the command that changes the collection, as in mongosh.
func (v Validation) String() string {
	if err := v.err(); err != nil {
		return "// refused: " + err.Error()
	}
	return "db.runCommand(" + Shell(v.CollMod()) + ")"
}

// Ensure brings the validation into place: it creates the collection, or changes what it is validated by if that differs. Running
// it again changes nothing. Two programs that ensure different validations take turns; the last one wins.
//
// Cost: one listCollections command, one more if something differs, and two more if the collection is new, for there are servers
// that forget the validator of a create command. No document is read or written.
func (v Validation) Ensure(ctx context.Context, db DB) error {
	_, differs, err := v.Diff(ctx, db)
	if err != nil || len(differs) == 0 {
		return err
	}
	if differs[0] == "collection" {
		err = core.Database(db).RunCommand(ctx, v.command("create")).Err()
		var cmd mongo.CommandError
		if !errors.As(err, &cmd) || cmd.Code != 48 { // NamespaceExists: somebody else created it
			if err != nil {
				return v.failed(err)
			}
			if _, differs, err = v.Diff(ctx, db); err != nil || len(differs) == 0 { // some servers forget it
				return err
			}
		}
	}
	return v.failed(core.Database(db).RunCommand(ctx, v.CollMod()).Err())
}

func (v Validation) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("docmodel: validation of %s: %w", v.Collection, err)
}

// Diff tells what the collection is validated by, and names how that differs from the validation: "collection" if there is none,
// "validator", "validationLevel", "validationAction". It is one listCollections command, and changes nothing. A validator differs
// when its bytes do, in order too.
func (v Validation) Diff(ctx context.Context, db DB) (have Validation, differs []string, err error) {
	if err := cmp.Or(v.err(), core.CheckRun(ctx, db)); err != nil {
		return have, nil, err
	}
	list, err := core.Database(db).ListCollectionSpecifications(ctx, bson.D{{Key: "name", Value: v.Collection}})
	if err != nil {
		return have, nil, v.failed(err)
	}
	if len(list) == 0 {
		return have, []string{"collection"}, nil
	}
	var held struct {
		Validator bson.D `bson:"validator"`
		Level     string `bson:"validationLevel"`
		Action    string `bson:"validationAction"`
	}
	if err := bson.Unmarshal(list[0].Options, &held); err != nil {
		return have, nil, v.failed(err)
	}
	have, want := Validation{v.Collection, held.Validator, held.Level, held.Action}.withDefaults(), v.withDefaults()
	same, err := sameBytes(want.Validator, held.Validator)
	if !same {
		differs = append(differs, "validator")
	}
	if want.Level != have.Level {
		differs = append(differs, "validationLevel")
	}
	if want.Action != have.Action {
		differs = append(differs, "validationAction")
	}
	return have, differs, err
}

func sameBytes(a, b bson.D) (bool, error) {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b), nil
	}
	x, err := bson.Marshal(a)
	if err != nil {
		return false, err
	}
	y, err := bson.Marshal(b)
	return bytes.Equal(x, y), err
}

// Validations returns the validation of each collection of which a technique knows what documents must look like: a schema.Schema, a
// denorm.Bounded, a denorm.Bucket. Several of one collection are combined by [And]. Run [Validation.Ensure] of each, after the checks of
// the model found nothing; change their Level and Action before if need be.
func (m *Model) Validations() (out []Validation) {
	for _, t := range m.techniques {
		x, ok := t.(interface{ Validation() Validation })
		if !ok {
			continue
		}
		v := x.Validation()
		i := slices.IndexFunc(out, func(o Validation) bool { return o.Collection == v.Collection })
		if i < 0 {
			out = append(out, v)
			continue
		}
		out[i].Validator = And(out[i].Validator, v.Validator)
	}
	return out
}
