package relate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	bareOwner = bareEnd
	bareItem  = bareEnd
	linkOwner struct {
		ID    string                `bson:"_id"`
		Items []relate.Link[string] `bson:"items,omitempty"`
	}
	linkItem struct {
		ID    string              `bson:"_id"`
		Owner relate.Link[string] `bson:"owner"`
	}
)

var (
	bareOwners = model.NewCollection[bareOwner, string]("owners")
	bareItems  = model.NewCollection[bareItem, string]("items")
	linkOwners = model.NewCollection[linkOwner, string]("owners")
	linkItems  = model.NewCollection[linkItem, string]("items")

	bareWay    = relate.NewTwoWay(bareOwners, "items", bareItems, "owner")
	boundedWay = relate.NewTwoWay(bareOwners, "items", bareItems, "owner", relate.TwoWaySpec{Max: 2})
	linkWay    = relate.NewTwoWay(linkOwners, "items", linkItems, "owner", relate.TwoWaySpec{Max: 2})
)

// token is the n-th operation's, the same in every schedule.
func token(n int) bson.ObjectID { return bson.ObjectID{0x38, 0x6d, 0x43, 0x80, 11: byte(n)} }

// everyPair is false where a run is to be quick: then each operation meets itself and the next one only. .ci/run sets
// DOCMODEL_FULL on the engine, and runs every ordered pair there.
var everyPair = os.Getenv("DOCMODEL_FULL") != ""

// parallel lets a test run beside others on the engine. The locks of a real server would couple them.
func parallel(t *testing.T) {
	if os.Getenv("MONGODB_URI") == "" {
		t.Parallel()
	}
}

// pairs are the operations that meet.
func pairs(ops []operation) (out [][2]operation) {
	for i, a := range ops {
		for j, b := range ops {
			if everyPair || i == j || j == i+1 {
				out = append(out, [2]operation{a, b})
			}
		}
	}
	return out
}

type operation struct {
	name string
	run  func(ctx context.Context, db *mongo.Database, token bson.ObjectID) error
}

func run(p model.Plan, ctx context.Context, db *mongo.Database) error {
	_, err := p.Run(ctx, db)
	return err
}

// twoWayOperations are what can happen to item x, each as one client does it: read the item, decide, write.
func twoWayOperations[O, I any](way *relate.TwoWay[O, string, I, string], items *model.Collection[I, string]) []operation {
	op := func(name string, plan func(*I, bson.ObjectID) model.Plan) operation {
		return operation{name, func(ctx context.Context, db *mongo.Database, token bson.ObjectID) error {
			item, err := items.ByID("x").One(ctx, db)
			if err != nil {
				return err
			}
			return run(plan(&item, token), ctx, db)
		}}
	}
	assign := func(to string) operation {
		return op("assign to "+to, func(item *I, token bson.ObjectID) model.Plan { return way.Assign(item, to, token) })
	}
	return []operation{assign("a"), assign("b"), assign("c"), op("unassign", way.Unassign)}
}

func staleOrNil(t testing.TB, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, model.ErrStale) {
		t.Errorf("want nil or ErrStale, got %v", err)
	}
}

// Versioned links: no pair of operations, in any order of their commands, leaves a half-link, and who lost is told.
func TestTwoWayVersionedInterleaved(t *testing.T) {
	parallel(t)
	ops := twoWayOperations(linkWay, linkItems)
	seed := func(ctx context.Context, db *mongo.Database) error {
		load := model.Concat(linkOwners.InsertMany([]linkOwner{{ID: "a"}, {ID: "b"}, {ID: "c"}}), linkItems.InsertMany([]linkItem{{ID: "x"}}))
		if err := run(load, ctx, db); err != nil {
			return err
		}
		return ops[0].run(ctx, db, token(9))
	}
	for _, pair := range pairs(ops) {
		a, b := pair[0], pair[1]
		t.Run(a.name+" | "+b.name, func(t *testing.T) {
			parallel(t)
			modeltest.Interleave(t, modeltest.InterleaveCase{
				OnServer: 3, Seed: seed,
				A: func(ctx context.Context, db *mongo.Database) error { return a.run(ctx, db, token(1)) },
				B: func(ctx context.Context, db *mongo.Database) error { return b.run(ctx, db, token(2)) },
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					staleOrNil(t, errA)
					staleOrNil(t, errB)
					if errA != nil && errB != nil {
						t.Error("both were stale: nobody won")
					}
					wantNoHalfLinks(t, db, linkWay)
				},
			})
		})
	}
}

// Bare ids: at worst a half-link, which the checks find and a repair mends.
func TestTwoWayBareInterleaved(t *testing.T) {
	parallel(t)
	for _, way := range []struct {
		name string
		way  *relate.TwoWay[bareOwner, string, bareItem, string]
	}{{"unbounded", bareWay}, {"bounded", boundedWay}} {
		ops := twoWayOperations(way.way, bareItems)
		seed := func(ctx context.Context, db *mongo.Database) error {
			load := model.Concat(bareOwners.InsertMany([]bareOwner{{ID: "a", Items: []string{"x"}}, {ID: "b"}, {ID: "c"}}), bareItems.InsertMany([]bareItem{{ID: "x", Owner: "a"}}))
			return run(load, ctx, db)
		}
		none := func(op operation) func(context.Context, *mongo.Database) error {
			return func(ctx context.Context, db *mongo.Database) error { return op.run(ctx, db, bson.NilObjectID) }
		}
		for _, pair := range pairs(ops) {
			a, b := pair[0], pair[1]
			t.Run(way.name+": "+a.name+" | "+b.name, func(t *testing.T) {
				parallel(t)
				modeltest.Interleave(t, modeltest.InterleaveCase{
					OnServer: 3, Seed: seed, A: none(a), B: none(b),
					Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
						staleOrNil(t, errA)
						staleOrNil(t, errB)
						ctx := context.Background()
						before, err := bareItems.ByID("x").One(ctx, db)
						if err != nil {
							t.Fatal(err)
						}
						if _, err := mendAll(ctx, db, way.way.Checks()); err != nil {
							t.Fatal(err)
						}
						wantNoHalfLinks(t, db, way.way)
						if after, _ := bareItems.ByID("x").One(ctx, db); modeltest.Diff(before, after) != "" {
							t.Errorf("the repair that trusts items changed one: %v, was %v", after, before)
						}
					},
				})
			})
		}
	}
}

func wantNoHalfLinks[O, OK, I, IK any](t testing.TB, db *mongo.Database, way *relate.TwoWay[O, OK, I, IK]) {
	t.Helper()
	wantNothingFound(t, db, way.Checks())
}

// A plan that is cut at any write and run again, with the same token, ends right.
func TestTwoWayFaults(t *testing.T) {
	parallel(t)
	for _, way := range []struct {
		name string
		plan func(from string) func(ctx context.Context, db *mongo.Database) error
		seed func(ctx context.Context, db *mongo.Database) error
		done func(t testing.TB, db *mongo.Database)
	}{
		{"bare", func(to string) func(ctx context.Context, db *mongo.Database) error {
			return func(ctx context.Context, db *mongo.Database) error {
				item := bareItem{ID: "x", Owner: "a"} // as it was read
				if to == "" {
					return run(bareWay.Unassign(&item, bson.NilObjectID), ctx, db)
				}
				return run(bareWay.Assign(&item, to, bson.NilObjectID), ctx, db)
			}
		}, func(ctx context.Context, db *mongo.Database) error {
			return run(model.Concat(bareOwners.InsertMany([]bareOwner{{ID: "a", Items: []string{"x"}}, {ID: "b"}}), bareItems.InsertMany([]bareItem{{ID: "x", Owner: "a"}})), ctx, db)
		}, func(t testing.TB, db *mongo.Database) { wantNoHalfLinks(t, db, bareWay) }},
		{"bounded", func(to string) func(ctx context.Context, db *mongo.Database) error {
			return func(ctx context.Context, db *mongo.Database) error {
				item := bareItem{ID: "x", Owner: "a"}
				if to == "" {
					return run(boundedWay.Unassign(&item, bson.NilObjectID), ctx, db)
				}
				return run(boundedWay.Assign(&item, to, bson.NilObjectID), ctx, db)
			}
		}, func(ctx context.Context, db *mongo.Database) error {
			return run(model.Concat(bareOwners.InsertMany([]bareOwner{{ID: "a", Items: []string{"x"}}, {ID: "b", Items: []string{"y"}}}), bareItems.InsertMany([]bareItem{{ID: "x", Owner: "a"}, {ID: "y", Owner: "b"}})), ctx, db)
		}, func(t testing.TB, db *mongo.Database) { wantNoHalfLinks(t, db, boundedWay) }},
		{"versioned", func(to string) func(ctx context.Context, db *mongo.Database) error {
			return func(ctx context.Context, db *mongo.Database) error {
				item := linkItem{ID: "x", Owner: relate.Link[string]{ID: "a", V: 1, Op: token(9)}}
				if to == "" {
					return run(linkWay.Unassign(&item, token(1)), ctx, db)
				}
				return run(linkWay.Assign(&item, to, token(1)), ctx, db)
			}
		}, func(ctx context.Context, db *mongo.Database) error {
			return run(model.Concat(
				linkOwners.InsertMany([]linkOwner{{ID: "a", Items: []relate.Link[string]{{ID: "x", V: 1, Op: token(9)}}}, {ID: "b"}}),
				linkItems.InsertMany([]linkItem{{"x", relate.Link[string]{ID: "a", V: 1, Op: token(9)}}})), ctx, db)
		}, func(t testing.TB, db *mongo.Database) { wantNoHalfLinks(t, db, linkWay) }},
	} {
		for _, to := range []string{"b", ""} {
			t.Run(way.name+" to "+fmt.Sprintf("%q", to), func(t *testing.T) {
				modeltest.FaultMatrix(t, modeltest.FaultCase{Seed: way.seed, Run: way.plan(to), Check: way.done})
			})
		}
	}
}

// A repair that is cut at any write and run again ends right.
func TestTwoWayRepairFaults(t *testing.T) {
	parallel(t)
	for _, trust := range []relate.Side{relate.TrustRefs, relate.TrustLists} {
		t.Run(fmt.Sprint("trust ", trust), func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return store(ctx, db, docs{
						"owners": {lister("a", "lost", "free", "both"), lister("b", "both")},
						"items":  {bareItem{ID: "free"}, bareItem{ID: "both", Owner: "b"}, bareItem{ID: "alone", Owner: "b"}, bareItem{ID: "orphan", Owner: "z"}},
					})
				},
				Run:   mending(trusting(trust).Checks()),
				Check: func(t testing.TB, db *mongo.Database) { wantNoHalfLinks(t, db, bareWay) },
			})
		})
	}
}

// Of bare ids, a job mends what it has found twice, an age apart: what a plan in flight completes in between stays as it is.
func TestTwoWayMendWaits(t *testing.T) {
	parallel(t)
	half := relation(bareItem{ID: "x", Owner: "b"}, emptied("a"), lister("b"))
	whole := relation(bareItem{ID: "x", Owner: "b"}, emptied("a"), lister("b", "x"))
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, half)
		done := make(chan error, 1)
		go func() {
			time.Sleep(100 * time.Millisecond)
			_, err := bareOwners.Update("b", bson.D{{Key: "$addToSet", Value: bson.D{{Key: "items", Value: "x"}}}}).Run(t.Context(), db)
			done <- err
		}()
		check := trusting(relate.TrustLists).Checks()[1]
		if check.Age != time.Minute {
			t.Errorf("the age is %v", check.Age)
		}
		check.Age = time.Second
		p, err := check.Job().Run(t.Context(), db, model.JobOptions{})
		if err := errors.Join(err, <-done); err != nil || p.Writes != 0 {
			t.Errorf("a plan in flight was undone: %+v, %v", p, err)
		}
		wantDocs(t, db, whole)
		seed(t, db, half)
		check = bareWay.Checks()[1]
		check.Age = 10 * time.Millisecond
		if p, err := check.Job().Run(t.Context(), db, model.JobOptions{}); err != nil || p.Writes != 1 {
			t.Errorf("want one half-link mended, got %+v, %v", p, err)
		}
		wantDocs(t, db, whole)
	})
}

// A process that dies after its first write and never comes back leaves a half-link; a job takes it away, but not while the
// operation may still be running.
func TestTwoWayMendAge(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		op := bson.NewObjectID()
		item := linkItem{ID: "x"}
		load := model.Concat(linkOwners.InsertMany([]linkOwner{{ID: "a"}}), linkItems.InsertMany([]linkItem{item}))
		if err := run(load, ctx, db); err != nil {
			t.Fatal(err)
		}
		plan := linkWay.Assign(&item, "a", op)
		plan.Steps = plan.Steps[:1]
		if err := run(plan, ctx, db); err != nil {
			t.Fatal(err)
		}
		checks := linkWay.Checks()
		found := allFound(t, db, checks)
		if len(found) != 1 || found[0].Problem != "links to 'x' at version 1, and the operation has not decided" {
			t.Errorf("found %v", found)
		}
		if since := found[0].Since; since.Before(op.Timestamp()) || since.Sub(op.Timestamp()) > time.Second {
			t.Errorf("since %v, the token's time is %v", since, op.Timestamp())
		}
		for _, check := range checks { // a minute, which nobody waits for: the token tells
			if p, err := check.Job().Run(ctx, db, model.JobOptions{}); err != nil || p.Writes != 0 || check.Age != time.Minute {
				t.Errorf("a young operation was taken for a dead one: %+v %v", p, err)
			}
		}
		if planned, err := mendAll(ctx, db, checks); err != nil || planned != 2 { // decided, and older links swept
			t.Errorf("want one half-link mended, got %v %v", planned, err)
		}
		wantNoHalfLinks(t, db, linkWay)
	})
}
