package history_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// cardChanges are the operations on card a, by their names.
var cardChanges = map[string]func(op bson.ObjectID) model.Change{
	"insert":  func(op bson.ObjectID) model.Change { return kept.Insert(card{ID: "a", N: 9}, makeNote(9), op) },
	"set":     func(op bson.ObjectID) model.Change { return setN("a", 5, 9, op) },
	"add":     func(op bson.ObjectID) model.Change { return add("a", 10, 9, op) },
	"delete":  func(op bson.ObjectID) model.Change { return kept.Delete("a", makeNote(9), op) },
	"restore": func(op bson.ObjectID) model.Change { return kept.Restore("a", 1, makeNote(9), op) },
}

func cardOperation(name string) testkit.Operation {
	return testkit.Operation{Name: name, Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
		return testkit.Changed(cardChanges[name](op))(ctx, db)
	}}
}

func cardInTx(name string) testkit.Operation {
	return testkit.InTx(name, func(ctx context.Context, db model.DB, op bson.ObjectID) error {
		_, err := cardChanges[name](op).Run(ctx, db)
		return err
	})
}

func cardLife(names ...string) (out testkit.Life) {
	for _, name := range names {
		out = append(out, cardOperation(name))
	}
	return out
}

// Whole lives of a card pass between any two commands of an operation. Each operation that returned nil is a version,
// before and after further changes, and a retry of the operation adds none.
func TestHistoryLives(t *testing.T) {
	refused := []error{model.ErrNotFound, model.ErrTaken, history.ErrNoRevision}
	lives := []testkit.Life{
		cardLife("insert", "delete"), cardLife("insert", "set", "delete"), cardLife("insert", "delete", "insert"),
		cardLife("restore", "delete", "restore", "add"), cardLife("delete", "insert", "set", "delete"),
		cardLife("delete", "insert"), cardLife("delete", "insert", "set", "delete", "restore"),
	}
	gone := func(ctx context.Context, db *mongo.Database) error {
		if err := begin(ctx, db); err != nil {
			return err
		}
		return testkit.Changed(kept.Delete("a", makeNote(2), testkit.Token(102)))(ctx, db)
	}
	if !testkit.EveryPair {
		lives = []testkit.Life{lives[1], lives[4]}
	}
	for state, seed := range map[string]testkit.DBFunc{"new": nil, "stored": begin, "deleted": gone} {
		before := map[string]int{"new": 0, "stored": 2, "deleted": 3}[state]
		for name := range cardChanges {
			check := func(t testing.TB, db *mongo.Database, lived testkit.Lived) {
				want := before + len(lived.Names)
				if lived.Op {
					want++
				}
				wantVersions(t, db, want)
				if lived.Op {
					run(t, db, cardChanges[name](testkit.Token(1)))
					wantVersions(t, db, want)
				}
				for i, next := range []string{"set", "delete", "insert", "add"} {
					if err := cardOperation(next).Run(context.Background(), db, testkit.Token(80+i)); err == nil {
						want++
					}
					wantVersions(t, db, want)
				}
			}
			t.Run(state+" "+name, func(t *testing.T) {
				testkit.LiveBetween(t, cardOperation(name), lives, modeltest.InterleaveCase{Seed: seed}, refused, check)
				testkit.LiveBetween(t, cardInTx(name), lives,
					modeltest.InterleaveCase{Seed: seed, Transactions: true}, refused, check)
			})
		}
	}
}

// wantVersions tests that card a has n versions, numbered from 1.
func wantVersions(t testing.TB, db *mongo.Database, n int) {
	t.Helper()
	all, err := kept.Revisions("a", 0, 0).All(context.Background(), db)
	if err != nil || len(all) != n || n > 0 && (all[0].ID.Version != int64(n) || all[n-1].ID.Version != 1) {
		t.Errorf("%s, want %d versions, %v", story(t, db, "a"), n, err)
	}
	wantSound(t, db)
}
