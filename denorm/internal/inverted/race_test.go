package inverted_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Every plan can be cut anywhere and run again.
func TestInvertedFaults(t *testing.T) {
	parallel(t)
	ann := member{ID: "a", City: "Rome", Tags: []string{"x", "y"}}
	inserted := membersBy.Insert(ann, token(1))
	set := func(m *member) model.Plan {
		return membersBy.Set(m, bson.D{e("city", "Oslo"), e("tags", []string{"y", "z"})}, token(2))
	}
	again := func(p model.Plan) func(ctx context.Context, db *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error { return exec(ctx, db, p) }
	}
	for _, c := range []struct {
		name string
		seed []model.Plan
		run  func(ctx context.Context, db *mongo.Database) error
		n    int64
	}{
		{"insert", nil, again(inserted), 1},
		{"set", []model.Plan{inserted}, again(set(&ann)), 1},
		{"set, called anew", []model.Plan{inserted}, calledAnew(set), 1},
		{"delete", []model.Plan{inserted}, again(membersBy.Delete(&ann)), 0},
		{"delete, called anew", []model.Plan{inserted}, calledAnew(membersBy.Delete), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error { return exec(ctx, db, c.seed...) },
				Run:  c.run,
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

// Two operations on one document that change different paths, in every order of their commands: no entry is missing, and what
// is left over one repair mends.
func TestInvertedInterleaved(t *testing.T) {
	parallel(t)
	op := func(name string, plan func(*member, bson.ObjectID) model.Plan) operation {
		return operation{Name: name, Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			m, err := members.ByID("a").One(ctx, db)
			if errors.Is(err, model.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			return exec(ctx, db, plan(&m, op))
		}}
	}
	set := func(name string, fields bson.D) operation {
		return op(name, func(m *member, op bson.ObjectID) model.Plan { return membersBy.Set(m, fields, op) })
	}
	ops := []operation{
		set("city", bson.D{e("city", "Oslo")}), set("tags", bson.D{e("tags", []string{"y"})}), op("delete", func(m *member, _ bson.ObjectID) model.Plan { return membersBy.Delete(m) }),
	}
	for i, a := range ops {
		for j, b := range ops {
			if everyPair || i == 0 && j == 1 {
				t.Run(a.Name+" | "+b.Name, func(t *testing.T) { meetInverted(t, a, b) })
			}
		}
	}
}

func meetInverted(t *testing.T, a, b operation) {
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Match:  interleaved,
		Sample: 3,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return exec(ctx, db, membersBy.Insert(member{ID: "a", City: "Rome", Tags: []string{"x"}}, token(9)))
		},
		A: func(ctx context.Context, db *mongo.Database) error { return a.Run(ctx, db, token(1)) },
		B: func(ctx context.Context, db *mongo.Database) error { return b.Run(ctx, db, token(2)) },
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			for _, err := range []error{errA, errB} {
				if err != nil && !errors.Is(err, model.ErrStale) && !errors.Is(err, model.ErrNotFound) {
					t.Errorf("error %v", err)
				}
			}
			found, err := foundBy(context.Background(), db, membersBy.Checks())
			if err != nil || slices.ContainsFunc(found, func(f model.Finding) bool { return strings.Contains(f.Check, ": values without an entry") }) {
				t.Errorf("%v, %v", found, err)
			}
			if err := mendedNow(membersBy.Checks()...)(context.Background(), db); err != nil {
				t.Fatal(err)
			}
			wantNoDrifts(t, db, membersBy)
		},
	})
}

// Thirty-two that insert and change documents of the same values at once: all are found.
func TestInvertedConcurrent(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, docs{"members": nil})
		errs := make([]error, 32)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				m := member{ID: fmt.Sprint("m", i), City: "Rome", Tags: []string{"x", "y"}}
				errs[i] = exec(t.Context(), db, membersBy.Insert(m, token(i)), membersBy.Set(&m, bson.D{e("city", "Oslo"), e("tags", []string{"y", "z"})}, token(100+i)))
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

// calledAnew reads the member and runs what is decided from it. Of a member that is gone the _id is known.
func calledAnew(plan func(*member) model.Plan) func(ctx context.Context, db *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		m, err := members.ByID("a").One(ctx, db)
		if errors.Is(err, model.ErrNotFound) {
			m, err = member{ID: "a"}, nil
		}
		if err != nil {
			return err
		}
		return exec(ctx, db, plan(&m))
	}
}
