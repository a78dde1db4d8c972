// These tests run plans whose commands a server interrupts or refuses.

package model_test

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// interruptions are what a server answers that stops in the middle of a command.
var interruptions = []int32{11601, 50, 11602, 11600, 189, 91, 10107, 13435, 262, 24, 1, 8}

func noRetries() mongotest.Option {
	return mongotest.Settings{Client: options.Client().SetRetryWrites(false)}
}

// What an interrupted server answers says nothing of the statements that it has done: their status is unknown.
func TestInterruptedIsUnknown(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	faults := mongotest.NewFaults()
	three := model.NewPlan(insertDoc(d("_id", 1)), insertDoc(d("_id", 2)), insertDoc(d("_id", 3)))
	many := model.NewPlan(model.Write{
		Collection: "parts",
		Model:      &mongo.UpdateManyModel{Filter: bson.D{}, Update: d("$set", d("n", 1))},
	})
	merge := model.NewPlan(model.MergeInto{
		Collection: "parts", Idempotent: true,
		Pipeline: mongo.Pipeline{d("$set", d("m", 1)), d("$merge", "parts")},
	})
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		for _, code := range interruptions {
			for name, p := range map[string]model.Plan{"inserts": three, "an update of many": many, "$merge": merge} {
				if name != "inserts" && code != 11601 && code != 50 {
					continue
				}
				faults.Reset()
				if _, err := db.Collection("parts").DeleteMany(ctx, bson.D{}); err != nil {
					t.Fatal(err)
				}
				if name != "inserts" {
					if _, err := three.Run(ctx, db); err != nil {
						t.Fatal(err)
					}
				}
				faults.Reset()
				faults.On(mongotest.Writes, 1, mongotest.FailInside(2, code))
				r, err := p.Run(ctx, db)
				var server mongo.ServerError
				if !errors.As(err, &server) || !server.HasErrorCode(int(code)) {
					t.Fatalf("%s, %d: %v", name, code, err)
				}
				for i, s := range r.Steps {
					if s.Status != model.Unknown {
						t.Errorf("%s, %d: step %d is %s", name, code, i, s.Status)
					}
				}
			}
		}
	}, noRetries(), faults)
}

// A command that the server refuses before it executes anything was not sent, as far as its documents are concerned.
func TestRefusedIsNotSent(t *testing.T) {
	faults := mongotest.NewFaults()
	p := model.NewPlan(insertDoc(d("_id", 1)), insertDoc(d("_id", 2)))
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, fault := range []mongotest.Action{
			mongotest.Fail(13), mongotest.Fail(59), mongotest.Fail(9), mongotest.Fail(73),
			mongotest.Fail(91, "NoWritesPerformed"),
		} {
			faults.Reset()
			faults.On(mongotest.Writes, 1, fault)
			r, err := p.Run(context.Background(), db)
			if err == nil || r.Steps[0].Status != model.NotSent || r.Steps[1].Status != model.NotSent {
				t.Errorf("%v: %v", err, r.Steps)
			}
		}
	}, noRetries(), faults)
}

// A statement that writes many documents and fails at one of them has written others.
func TestHalfDoneStatement(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		if _, err := db.Collection("parts").
			InsertMany(ctx, []any{d("_id", 1, "n", 1), d("_id", 2, "n", "a string"), d("_id", 3, "n", 3)}); err != nil {
			t.Fatal(err)
		}
		p := model.NewPlan(model.Write{
			Collection: "parts", Idempotent: true,
			Model: &mongo.UpdateManyModel{Filter: bson.D{}, Update: d("$inc", d("n", 1))},
		})
		r, err := p.Run(ctx, db)
		if err == nil || r.Steps[0].Status != model.Unknown {
			t.Errorf("%v: %v", err, r.Steps)
		}
	})
}
