package model

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Ensure creates the collection with this validation, or replaces the collection's
// validation if it differs.
//
// On a database of [Model.On], the rule for an _id that carries a tenant allows the stored
// form: see [Write].Keyed.
//
// Cost: one listCollections command, and one command for a change. A new collection costs
// up to two more commands.
func (v Validation) Ensure(ctx context.Context, db DB) error {
	v = v.rewriteFor(db)
	_, differs, err := v.diff(ctx, db)
	if err != nil || len(differs) == 0 {
		return err
	}
	if differs[0] == "collection" {
		err = core.Database(db).RunCommand(ctx, v.command("create")).Err()
		var cmd mongo.CommandError
		if !errors.As(err, &cmd) || cmd.Code != 48 { // NamespaceExists: another client created it
			if err != nil {
				return v.failed(err)
			}
			if _, differs, err = v.diff(ctx, db); err != nil || len(differs) == 0 { // some servers ignore it
				return err
			}
		}
	}
	return v.failed(core.Database(db).RunCommand(ctx, v.command("collMod")).Err())
}

func (v Validation) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("docmodel: validation of %s: %w", v.Collection, err)
}

// Diff returns the validator that the collection has, and the names of the parts that
// differ from v: "validator", "validationLevel" and "validationAction", or "collection"
// if the collection doesn't exist.
//
// Cost: one listCollections command.
func (v Validation) Diff(ctx context.Context, db DB) (have Validation, differs []string, err error) {
	return v.rewriteFor(db).diff(ctx, db)
}

func (v Validation) diff(ctx context.Context, db DB) (have Validation, differs []string, err error) {
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

// rewriteFor returns the validation under the scopes of a database.
func (v Validation) rewriteFor(db DB) Validation {
	if w := rewriterOf(db); w != nil {
		return w.validation(v)
	}
	return v
}
