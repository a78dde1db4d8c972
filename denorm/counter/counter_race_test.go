package counter_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An action is a change with a token. If it is repeated, its document can be stored or deleted already.
type action struct {
	name   string
	change func(l ledger) change
}

func (a action) run(ctx context.Context, db model.DB, l ledger, op bson.ObjectID) error {
	err := run(model.WithToken(ctx, op), db, a.change(l))
	if errors.Is(err, model.ErrTaken) || errors.Is(err, model.ErrNotFound) {
		return nil
	}
	return err
}

// actions meet each other, on the volumes 1 to 3, of which 1 and 2 are the house a's.
var actions = []action{
	{"insert", func(l ledger) change { return l.volumes.Insert(volumeOf("3", "a", 500)) }},
	{"set", func(l ledger) change { return l.set("2", testkit.E("pages", 50)) }},
	{"raise", func(l ledger) change { return l.set("1", testkit.E("pages", 400)) }},
	{"lower", func(l ledger) change { return l.set("1", testkit.E("pages", 20)) }},
	{"move", func(l ledger) change { return l.set("2", testkit.E("house", "b")) }},
	{"delete", func(l ledger) change { return l.volumes.Delete("2") }},
	{"delete another", func(l ledger) change { return l.volumes.Delete("1") }},
	{"title", func(l ledger) change { return l.set("2", testkit.E("title", "T")) }},
}

func seedTwo(l ledger) testkit.DBFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		return errors.Join(
			testkit.Exec(ctx, db, houses.InsertMany([]house{{ID: "a"}, {ID: "b"}})),
			run(ctx, db, l.volumes.Insert(volumeOf("0", "a", 60)), l.volumes.Insert(volumeOf("1", "a", 100)),
				l.volumes.Insert(volumeOf("2", "a", 300))))
	}
}

// recounting is a recount, which may find an unfinished action.
func recounting(ctx context.Context, db model.DB, l ledger) error {
	recount := l.Recount("a")
	recount.Attempts = 1
	if _, _, err := recount.Run(ctx, db); err != nil && !errors.Is(err, model.ErrStale) {
		return err
	}
	return nil
}

// repairing repairs the numbers, but finishes no action.
func repairing(ctx context.Context, db model.DB, l ledger) error {
	check := l.Checks()[0]
	found, err := check.All(ctx, db)
	if err == nil {
		_, err = check.Mend(found).Run(ctx, db)
	}
	return err
}

// An action is cut at each of its writes. Then the numbers are neither found wrong nor changed, and the action counts
// once when it is finished: by a retry, or by the audit's repair.
func TestCounterCut(t *testing.T) {
	testkit.Parallel(t)
	for i, l := range []ledger{counted, ranged} {
		for j, a := range actions[:7] {
			for k, repaired := range []bool{false, true} {
				if !testkit.EveryPair && (i+j+k)%2 > 0 {
					continue
				}
				t.Run(fmt.Sprint(i, " ", a.name, ", repaired ", repaired), func(t *testing.T) {
					testkit.Parallel(t)
					modeltest.FaultMatrix(t, modeltest.FaultCase{
						Seed: seedTwo(l),
						Run: func(ctx context.Context, db *mongo.Database) error {
							return a.run(ctx, db, l, testkit.Token(1))
						},
						Repair: func(ctx context.Context, db *mongo.Database) error {
							err := errors.Join(wantNoDrift(ctx, db, l), recounting(ctx, db, l), repairing(ctx, db, l))
							if repaired {
								err = errors.Join(err, testkit.MendedByJobs(l.model.Audit().Checks...)(ctx, db))
							}
							return errors.Join(err, a.run(ctx, db, l, testkit.Token(1)))
						},
						Check: func(t testing.TB, db *mongo.Database) { wantAgreed(t, db, l) },
					})
				})
			}
		}
	}
}

// wantNoDrift returns an error if the check finds wrong numbers.
func wantNoDrift(ctx context.Context, db model.DB, l ledger) error {
	if found, err := l.Checks()[0].All(ctx, db); err != nil || len(found) > 0 {
		return fmt.Errorf("the check finds %v, %w", found, err)
	}
	return nil
}

// A recount or a repair beside an action, in every order of their commands, leaves numbers that are exact.
func TestCounterRecountMeets(t *testing.T) {
	testkit.Parallel(t)
	for i, l := range []ledger{counted, ranged} {
		for j, a := range actions[:7] {
			for k, mends := range []func(context.Context, model.DB, ledger) error{recounting, repairing} {
				wrong := (i+j+k)%2 > 0
				if !testkit.EveryPair && (i+j)%2 > 0 {
					continue
				}
				t.Run(fmt.Sprint(i, " ", a.name, ", wrong ", wrong), func(t *testing.T) {
					meet(t, modeltest.InterleaveCase{
						Match: mongotest.All, Nested: !testkit.EveryPair,
						Seed: func(ctx context.Context, db *mongo.Database) error {
							err := seedTwo(l)(ctx, db)
							if wrong {
								err = errors.Join(err,
									testkit.Updates(ctx, db, "houses", "a", bson.D{
										testkit.E("$inc", bson.D{testkit.E("volumes", int64(40))}),
									}))
							}
							return err
						},
						A: func(ctx context.Context, db *mongo.Database) error {
							return a.run(ctx, db, l, testkit.Token(1))
						},
						B: func(ctx context.Context, db *mongo.Database) error { return mends(ctx, db, l) },
						Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
							if err := errors.Join(errA, errB); err != nil {
								t.Error(err)
							}
							if wrong { // it may have been left, because of the action
								if err := repairing(t.Context(), db, l); err != nil {
									t.Error(err)
								}
							}
							wantAgreed(t, db, l)
						},
					})
				})
			}
		}
	}
}

// Any two actions, in every order of their writes, leave numbers that are exact.
func TestCounterInterleaved(t *testing.T) {
	testkit.Parallel(t)
	for i, a := range actions {
		for j, b := range actions {
			for k, tx := range []bool{false, true} {
				if j < i || !testkit.EveryPair && (i+j+2*k)%3 != 2 {
					continue
				}
				t.Run(fmt.Sprintf("%s | %s, transactions %v", a.name, b.name, tx), func(t *testing.T) {
					side := func(a action, op bson.ObjectID) testkit.DBFunc {
						return func(ctx context.Context, db *mongo.Database) (err error) {
							on := model.DB(db)
							if tx {
								on, err = model.WithTransactions(ctx, db)
							}
							return errors.Join(err, a.run(ctx, on, ranged, op))
						}
					}
					meet(t, modeltest.InterleaveCase{
						Match: mongotest.Writes, Transactions: tx, Nested: tx, Seed: seedTwo(ranged),
						A: side(a, testkit.Token(1)), B: side(b, testkit.Token(2)),
						Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
							if err := errors.Join(errA, errB); err != nil {
								t.Error(err)
							}
							wantAgreed(t, db, ranged)
						},
					})
				})
			}
		}
	}
}

func meet(t *testing.T, c modeltest.InterleaveCase) {
	if os.Getenv(mongotest.EnvURI) == "" {
		t.Parallel()
	}
	c.Sample = 2
	modeltest.Interleave(t, c)
}

// 32 writers on one parent lose nothing and count nothing twice, while others recount it.
func TestCounterManyWriters(t *testing.T) {
	testkit.Parallel(t)
	bothWays(t, func(t *testing.T, db *mongo.Database, way model.DB) {
		for _, l := range []ledger{counted, ranged} {
			testkit.Seed(t, db, testkit.Docs{"volumes": nil, "houses": {house{ID: "a"}, house{ID: "b"}}})
			if err := testkit.CreateIndexes(t.Context(), db, l.Counter); err != nil {
				t.Fatal(err)
			}
			var wait sync.WaitGroup
			for i := range 32 {
				wait.Go(func() {
					id := fmt.Sprint(i)
					list := []change{l.volumes.Insert(volumeOf(id, "a", i+1))}
					switch i % 4 {
					case 0:
						list = append(list, l.set(id, testkit.E("pages", 100-i)))
					case 1:
						list = append(list, l.set(id, testkit.E("house", "b")))
					case 2:
						list = append(list, l.volumes.Delete(id))
					}
					if err := run(t.Context(), way, list...); err != nil {
						t.Error(err)
					}
				})
			}
			wait.Go(func() {
				for range 4 {
					if err := recounting(t.Context(), way, l); err != nil {
						t.Error(err)
					}
				}
			})
			wait.Wait()
			wantAgreed(t, db, l)
			for id, want := range map[string]int64{"a": 16, "b": 8} {
				if h, err := houses.ByID(id).One(t.Context(), db); err != nil || h.Volumes != want {
					t.Errorf("%s has %d, %v; want %d", id, h.Volumes, err, want)
				}
			}
		}
	})
}
