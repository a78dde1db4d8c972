package history_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An operation that is cut anywhere is finished by running it again, and done once.
func TestHistoryFaults(t *testing.T) {
	again := func(list ...model.Change) testkit.DBFunc {
		var all []testkit.DBFunc
		for _, c := range list {
			all = append(all, testkit.Changed(c))
		}
		return testkit.InTurn(all...)
	}
	cases := map[string]modeltest.FaultCase{}
	for name, test := range map[string]struct {
		run  testkit.DBFunc
		want string
	}{
		"set":    {again(setN("a", 5, 2, testkit.Token(1))), "1:1 2:2 3:5"},
		"change": {again(add("a", 5, 2, testkit.Token(1))), "1:1 2:2 3:7"},
		"delete": {again(kept.Delete("a", makeNote(2), testkit.Token(1))), "1:1 2:2 3:gone"},
		"delete and insert": {
			run: again(kept.Delete("a", makeNote(2), testkit.Token(1)),
				kept.Insert(card{ID: "a", N: 4}, makeNote(3), testkit.Token(2))),
			want: "1:1 2:2 3:gone 4:4",
		},
		"restore": {again(kept.Restore("a", 1, makeNote(2), testkit.Token(1))), "1:1 2:2 3:1"},
		"restore what is gone": {
			run: again(kept.Delete("a", makeNote(2), testkit.Token(1)),
				kept.Restore("a", 2, makeNote(3), testkit.Token(2))),
			want: "1:1 2:2 3:gone 4:2",
		},
		"erase": {func(ctx context.Context, db *mongo.Database) error {
			return testkit.RunJob(ctx, db, kept.Erase("ann", makeNote(2), testkit.Token(1)))
		}, "1:1 2:2 3:2"},
	} {
		cases[name] = modeltest.FaultCase{Seed: begin, Run: test.run, Check: func(t testing.TB, db *mongo.Database) {
			wantStory(t, db, "a", test.want)
			wantSound(t, db)
		}}
	}
	testkit.RunFaults(t, cases)
}

// Operations that meet on one card come one after the other, and each version is kept.
func TestHistoryInterleaved(t *testing.T) {
	ops := []testkit.Operation{
		{Name: "set", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return testkit.Changed(setN("a", 5, 2, op))(ctx, db)
		}},
		{Name: "add", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return testkit.Changed(add("a", 10, 2, op))(ctx, db)
		}},
		{Name: "delete", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return testkit.Changed(kept.Delete("a", makeNote(2), op))(ctx, db)
		}},
		{Name: "restore", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return testkit.Changed(kept.Restore("a", 1, makeNote(2), op))(ctx, db)
		}},
		{Name: "insert", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return testkit.Changed(kept.Insert(card{ID: "a", N: 9}, makeNote(2), op))(ctx, db)
		}},
	}
	for _, pair := range testkit.Pairs(ops) {
		testkit.Meet(t, pair[0], pair[1], modeltest.InterleaveCase{
			Sample: 3, Seed: begin, Match: testkit.Interleaved,
			Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
				done := 0
				for _, err := range []error{errA, errB} {
					switch {
					case err == nil:
						done++
					case !errors.Is(err, model.ErrNotFound) && !errors.Is(err, model.ErrTaken) &&
						!errors.Is(err, history.ErrNoRevision):
						t.Error(err)
					}
				}
				all, err := kept.Revisions("a", 0, 0).All(context.Background(), db)
				if err != nil || len(all) != 2+done {
					t.Errorf("%s after %d operations, %v", story(t, db, "a"), done, err)
				}
				wantSound(t, db)
			}})
	}
}

// Thirty-two writers lose no change, and no version.
func TestHistoryConcurrent(t *testing.T) {
	const writers = 32
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := begin(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		errs := make([]error, writers)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = testkit.Changed(add("a", 1, 2, bson.NewObjectID()))(t.Context(), db) })
		}
		all.Wait()
		c, err := cards.ByID("a").One(t.Context(), db)
		if err := errors.Join(append(errs, err)...); err != nil || c.N != writers+2 || c.Version != writers+2 {
			t.Errorf("%+v, %v", c, err)
		}
		versions, err := kept.Revisions("a", 0, 0).All(t.Context(), db)
		if err != nil || len(versions) != writers+2 {
			t.Errorf("%d versions, %v", len(versions), err)
		}
		wantSound(t, db)
	})
}

// A version that a naive history keeps.
type version struct {
	at   time.Time
	n    int64
	gone bool
}

// Random operations, some cut and run again, agree with a history kept in memory.
func TestHistoryAgainstNaive(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ways := []model.DB{db}
		if tx, err := model.WithTransactions(t.Context(), db); err == nil {
			ways = append(ways, tx)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		naive := map[string][]version{}
		clock := 0
		for i := range 150 {
			id := string("ab"[rng.IntN(2)])
			list := naive[id]
			there := len(list) > 0 && !list[len(list)-1].gone
			clock += rng.IntN(3)
			next, op := version{at: minute(clock), n: int64(i)}, testkit.Token(0)
			op[10], op[11] = byte(i>>8), byte(i)
			var c model.Change
			var want error
			switch kind := rng.IntN(6); {
			case kind == 0:
				next.gone, c = true, kept.Delete(id, makeNote(clock), op)
			case kind == 1 && len(list) > 1:
				v := rng.IntN(len(list) - 1)
				next.n, c = list[v].n, kept.Restore(id, int64(v+1), makeNote(clock), op)
				if list[v].gone {
					want = history.ErrNoRevision
				}
				there = true
			case !there:
				c, there = kept.Insert(card{ID: id, N: next.n}, makeNote(clock), op), true
			default:
				c = setN(id, i, clock, op)
			}
			if !there {
				want = model.ErrNotFound
			}
			way := ways[rng.IntN(len(ways))]
			if want == nil && rng.IntN(3) == 0 { // cut
				p := testkit.PlanOf(t, db, c)
				p.InTx, p.Steps = nil, p.Steps[:rng.IntN(len(p.Steps))]
				if err := testkit.Exec(t.Context(), db, p); err != nil {
					t.Fatal(err)
				}
			}
			_, err := c.Run(t.Context(), way)
			if want != nil {
				wantIs(t, err, want)
			} else if err != nil {
				t.Fatalf("operation %d: %v", i, err)
			} else {
				naive[id] = append(list, next)
			}
			agree(t, db, id, naive[id], minute(rng.IntN(clock+2)))
		}
		wantSound(t, db)
	})
}

func agree(t *testing.T, db *mongo.Database, id string, list []version, at time.Time) {
	t.Helper()
	want, now := "", version{gone: true}
	for i, v := range list {
		what := fmt.Sprint(v.n)
		if v.gone {
			what = "gone"
		}
		want += fmt.Sprintf(" %d:%s", i+1, what)
		if !v.at.After(at) {
			now = v
		}
	}
	if got := story(t, db, id); want != "" && got != want[1:] {
		t.Fatalf("%s: %s, want%s", id, got, want)
	}
	r, err := kept.AsOf(id, at).One(t.Context(), db)
	if now.gone && !errors.Is(err, model.ErrNotFound) || !now.gone && (err != nil || r.Doc.N != now.n) {
		t.Fatalf("%s at %s: %+v, %v, want %+v", id, at, r, err, now)
	}
}
