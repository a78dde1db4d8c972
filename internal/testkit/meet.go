package testkit

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Written is a write or a plan.
type Written interface {
	Run(context.Context, model.DB) (model.Result, error)
}

// Doing returns a function that runs a write or a plan.
func Doing(w Written) DBFunc {
	return func(ctx context.Context, db *mongo.Database) error { _, err := w.Run(ctx, db); return err }
}

// Planned returns an operation without reads.
func Planned(name string, w Written) Operation {
	return Operation{
		Name: name,
		Run:  func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error { return Doing(w)(ctx, db) },
	}
}

// Meet runs two operations concurrently, in every order of their commands. Their tokens
// are 1 and 2.
func Meet(t *testing.T, a, b Operation, c modeltest.InterleaveCase) {
	t.Run(a.Name+" | "+b.Name, func(t *testing.T) {
		Parallel(t)
		c.A = func(ctx context.Context, db *mongo.Database) error { return a.Run(ctx, db, Token(1)) }
		c.B = func(ctx context.Context, db *mongo.Database) error { return b.Run(ctx, db, Token(2)) }
		modeltest.Interleave(t, c)
	})
}

// Pairs returns the pairs of operations that meet.
func Pairs(ops []Operation) (out [][2]Operation) {
	for i, a := range ops {
		for j, b := range ops {
			if EveryPair || i == j || j == i+1 {
				out = append(out, [2]Operation{a, b})
			}
		}
	}
	return out
}

// MeetAll lets operations meet in pairs. The only error allowed is ErrStale.
func MeetAll(t *testing.T, ops []Operation, seed DBFunc, check func(t testing.TB, db *mongo.Database, pair string)) {
	for _, pair := range Pairs(ops) {
		Meet(t, pair[0], pair[1], modeltest.InterleaveCase{
			Sample: 3, Seed: seed,
			Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
				StaleOrNil(t, errA, errB)
				check(t, db, pair[0].Name+" | "+pair[1].Name)
			},
		})
	}
}

// StaleOrNil tests that each error is ErrStale or nil.
func StaleOrNil(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil && !errors.Is(err, model.ErrStale) {
			t.Errorf("want nil or ErrStale, got %v", err)
		}
	}
}
