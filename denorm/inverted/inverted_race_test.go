package inverted_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Each change can be cut anywhere and run again.
func TestInvertedFaults(t *testing.T) {
	testkit.Parallel(t)
	insert := stored.Insert(member{ID: "a", City: "Rome", Tags: []string{"x", "y"}})
	for _, c := range []struct {
		name   string
		seed   []memberChange
		change memberChange
		n      int64
	}{
		{"insert", nil, insert, 1},
		{
			name: "set", seed: []memberChange{insert},
			change: stored.Set("a", bson.D{testkit.E("city", "Oslo"), testkit.E("tags", []string{"y", "z"})}),
			n:      1,
		},
		{"delete", []memberChange{insert}, stored.Delete("a"), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					for _, s := range c.seed {
						if err := run(ctx, db, testkit.Token(1), s); err != nil {
							return err
						}
					}
					return nil
				},
				Run: func(ctx context.Context, db *mongo.Database) error {
					err := run(ctx, db, testkit.Token(2), c.change)
					if c.name == "delete" && errors.Is(err, model.ErrNotFound) { // the first run has deleted it
						err = nil
					}
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) {
					wantInverted(t, db)
					if n, err := members.Find(nil).Count(context.Background(), db); err != nil || n != c.n {
						t.Errorf("%d members, %v", n, err)
					}
				},
			})
		})
	}
}

// Two operations on one document that change different paths, in every order of their
// writes: no entry is missing or surplus.
func TestInvertedInterleaved(t *testing.T) {
	testkit.Parallel(t)
	ops := map[string]memberChange{
		"city":   stored.Set("a", bson.D{testkit.E("city", "Oslo")}),
		"tags":   stored.Set("a", bson.D{testkit.E("tags", []string{"y"})}),
		"delete": stored.Delete("a"),
	}
	for i, a := range ops {
		for j, b := range ops {
			if testkit.EveryPair || i == "city" && j != "city" {
				t.Run(i+" | "+j, func(t *testing.T) { meetInverted(t, a, b) })
			}
		}
	}
}

func meetInverted(t *testing.T, a, b memberChange) {
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Match: mongotest.Writes, Sample: 3, Nested: !testkit.EveryPair,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return run(ctx, db, testkit.Token(9), stored.Insert(member{ID: "a", City: "Rome", Tags: []string{"x"}}))
		},
		A: func(ctx context.Context, db *mongo.Database) error { return run(ctx, db, testkit.Token(1), a) },
		B: func(ctx context.Context, db *mongo.Database) error { return run(ctx, db, testkit.Token(2), b) },
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			for _, err := range []error{errA, errB} {
				if err != nil && !errors.Is(err, model.ErrStale) && !errors.Is(err, model.ErrNotFound) {
					t.Errorf("error %v", err)
				}
			}
			wantInverted(t, db)
		},
	})
}

// Thirty-two that insert and change documents of the same values at once: all are found.
func TestInvertedConcurrent(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"members": nil})
		errs := make([]error, 32)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				id := fmt.Sprint("m", i)
				insert := stored.Insert(member{ID: id, City: "Rome", Tags: []string{"x", "y"}})
				move := stored.Set(id, bson.D{testkit.E("city", "Oslo"), testkit.E("tags", []string{"y", "z"})})
				errs[i] = errors.Join(run(t.Context(), db, testkit.Token(i), insert),
					run(t.Context(), db, testkit.Token(100+i), move))
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		wantInverted(t, db)
		q := membersBy.Is("city", "Oslo").And(membersBy.Is("tags", "z")).Minus(membersBy.Is("tags", "x"))
		if n, err := membersBy.Count(q).One(t.Context(), db); err != nil || n.N != 32 {
			t.Errorf("%v, %v", n, err)
		}
	})
}
