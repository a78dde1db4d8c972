package counter_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// SetIf sets fields of a child only if the child matches, and a retry after success changes nothing.
func TestCounterSetIf(t *testing.T) {
	parallel(t)
	long, draft := bson.D{e("pages", bson.D{e("$gte", 100)})}, bson.D{e("state", "draft")}
	other := volumeOf("2", "", 100)
	for _, test := range []struct {
		reason string
		change model.Change[any]
		want   error
		again  error // of a retry
	}{
		{"a number of a child that matches", fully.SetIf("1", long, bson.D{e("pages", 20)}, token(1)), nil, nil},
		{"another field", fully.SetIf("1", bson.D{e("title", nil)}, bson.D{e("title", "T")}, token(1)), nil, nil},
		{"another parent", fully.SetIf("1", long, bson.D{e("house", "b"), e("pages", 20)}, token(1)), nil, nil},
		{"a child that doesn't match", fully.SetIf("1", draft, bson.D{e("pages", 20)}, token(1)), model.ErrGuard, model.ErrGuard},
		{"another field of a child that doesn't match", fully.SetIf("1", draft, bson.D{e("title", "T")}, token(1)), model.ErrGuard, model.ErrGuard},
		{"a child without a parent", fully.SetIf("2", long, bson.D{e("pages", 20)}, token(1)), nil, model.ErrGuard},
		{"a missing child", fully.SetIf("9", long, bson.D{e("pages", 20)}, token(1)), model.ErrNotFound, model.ErrNotFound},
		{"no guard", fully.SetIf("1", nil, bson.D{e("pages", 20)}, token(1)), errRefused, errRefused},
		{"a guard of an unknown field", fully.SetIf("1", bson.D{e("page", 1)}, bson.D{e("pages", 20)}, token(1)), errRefused, errRefused},
		{"no fields", fully.SetIf("1", long, nil, token(1)), errRefused, errRefused},
	} {
		t.Run(test.reason, func(t *testing.T) {
			bothWays(t, func(t *testing.T, db *mongo.Database, way model.DB) {
				if err := seedHouses(t.Context(), db, volumeOf("1", "a", 100), other); err != nil {
					t.Fatal(err)
				}
				before, _ := modeltest.Dump(t.Context(), db)
				wantError(t, counterRun(t.Context(), way, test.change), test.want)
				after, _ := modeltest.Dump(t.Context(), db)
				if (after == before) != (test.want != nil) {
					t.Errorf("from\n%s\nto\n%s", before, after)
				}
				wantAgreed(t, db, fully)
				wantError(t, counterRun(t.Context(), way, test.change), test.again)
				if again, _ := modeltest.Dump(t.Context(), db); again != after {
					t.Errorf("a retry changed\n%s\nto\n%s", after, again)
				}
			})
		})
	}
	t.Run("without tokens", func(t *testing.T) {
		modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
			modeltest.NeedTransactions(t, db)
			if err := seedHouses(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			mustCount(t, db, inTx.Insert(volumeOf("1", "a", 100), token(1)), inTx.SetIf("1", long, bson.D{e("pages", 20)}, token(1)))
			wantError(t, counterRun(t.Context(), db, inTx.SetIf("1", long, bson.D{e("pages", 30)}, token(1))), model.ErrGuard)
			wantAgreed(t, db, inTx)
		})
	})
}

// Of two operations with one guard, the first wins, in every order of their commands; a Set beside them doesn't break the guard.
func TestCounterSetIfInterleaved(t *testing.T) {
	parallel(t)
	setIf := func(pages int) func(op bson.ObjectID) model.Change[any] {
		return func(op bson.ObjectID) model.Change[any] {
			return ranged.SetIf("1", bson.D{e("pages", 100)}, bson.D{e("pages", pages)}, op)
		}
	}
	for _, b := range []struct {
		name   string
		change func(op bson.ObjectID) model.Change[any]
		both   bool // both can succeed
	}{
		{"another", setIf(60), false},
		{"a set of the number", func(op bson.ObjectID) model.Change[any] { return ranged.Set("1", bson.D{e("pages", 60)}, op) }, true},
		{"a set of another field", func(op bson.ObjectID) model.Change[any] { return ranged.Set("1", bson.D{e("title", "T")}, op) }, true},
		{"a move", func(op bson.ObjectID) model.Change[any] { return ranged.Move("1", "b", op) }, true},
	} {
		ops := [2]operation{}
		for i, change := range []func(op bson.ObjectID) model.Change[any]{setIf(50), b.change} {
			ops[i] = operation{Name: b.name, Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
				return counterRun(ctx, db, change(op))
			}}
		}
		t.Run(b.name, func(t *testing.T) {
			c := counterMeeting(ranged, ops[0], ops[1], modeltest.Writes)
			c.Check = func(t testing.TB, db *mongo.Database, errA, errB error) {
				wantAgreed(t, db, ranged)
				if !b.both && (errA == nil) == (errB == nil) || errA != nil && !errors.Is(errA, model.ErrGuard) || errB != nil && !errors.Is(errB, model.ErrGuard) {
					t.Errorf("errors %v, %v", errA, errB)
				}
			}
			modeltest.Interleave(t, c)
		})
	}
}
