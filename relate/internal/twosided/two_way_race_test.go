package twosided_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	bareDoc struct { // an owner, an item, or a peer
		ID    string   `bson:"_id"`
		Owner string   `bson:"owner,omitempty"`
		Items []string `bson:"items,omitempty"`
		Peers []string `bson:"peers,omitempty"`
	}
	bareOwner = bareDoc
	bareItem  = bareDoc
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

	bareWay    = relate.NewTwoWay(bareOwners, "items", bareItems, "owner", relate.TwoWaySpec{})
	boundedWay = relate.NewTwoWay(bareOwners, "items", bareItems, "owner", relate.TwoWaySpec{Max: 2})
	linkWay    = relate.NewTwoWay(linkOwners, "items", linkItems, "owner", relate.TwoWaySpec{Max: 2})
)

// twoWayOperations are what can happen to item x, each as one client does it: read the item, decide, write.
func twoWayOperations[O, I any](way *relate.TwoWay[O, string, I, string], items *model.Collection[I, string]) []testkit.Operation {
	op := func(name string, plan func(*I, bson.ObjectID) model.Plan) testkit.Operation {
		return testkit.Operation{Name: name, Run: func(ctx context.Context, db *mongo.Database, token bson.ObjectID) error {
			item, err := items.ByID("x").One(ctx, db)
			if err != nil {
				return err
			}
			return testkit.Exec(ctx, db, plan(&item, token))
		}}
	}
	assign := func(to string) testkit.Operation {
		return op("assign to "+to, func(item *I, token bson.ObjectID) model.Plan { return way.Assign(item, to, token) })
	}
	return []testkit.Operation{assign("a"), assign("b"), assign("c"), op("unassign", way.Unassign)}
}

// Versioned links: no pair of operations, in any order of their commands, leaves a half-link, and who lost is told.
func TestTwoWayVersionedInterleaved(t *testing.T) {
	testkit.Parallel(t)
	ops := twoWayOperations(linkWay, linkItems)
	seed := func(ctx context.Context, db *mongo.Database) error {
		load := model.Concat(linkOwners.InsertMany([]linkOwner{{ID: "a"}, {ID: "b"}, {ID: "c"}}), linkItems.InsertMany([]linkItem{{ID: "x"}}))
		if err := testkit.Exec(ctx, db, load); err != nil {
			return err
		}
		return ops[0].Run(ctx, db, testkit.Token(9))
	}
	for _, pair := range testkit.Pairs(ops) {
		a, b := pair[0], pair[1]
		t.Run(a.Name+" | "+b.Name, func(t *testing.T) {
			testkit.Parallel(t)
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Sample: 3, Seed: seed,
				A: func(ctx context.Context, db *mongo.Database) error { return a.Run(ctx, db, testkit.Token(1)) },
				B: func(ctx context.Context, db *mongo.Database) error { return b.Run(ctx, db, testkit.Token(2)) },
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					testkit.StaleOrNil(t, errA)
					testkit.StaleOrNil(t, errB)
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
	testkit.Parallel(t)
	for _, way := range []struct {
		name string
		way  *relate.TwoWay[bareOwner, string, bareItem, string]
	}{{"unbounded", bareWay}, {"bounded", boundedWay}} {
		ops := twoWayOperations(way.way, bareItems)
		seed := func(ctx context.Context, db *mongo.Database) error {
			load := model.Concat(bareOwners.InsertMany([]bareOwner{{ID: "a", Items: []string{"x"}}, {ID: "b"}, {ID: "c"}}), bareItems.InsertMany([]bareItem{{ID: "x", Owner: "a"}}))
			return testkit.Exec(ctx, db, load)
		}
		none := func(op testkit.Operation) func(context.Context, *mongo.Database) error {
			return func(ctx context.Context, db *mongo.Database) error { return op.Run(ctx, db, bson.NilObjectID) }
		}
		for _, pair := range testkit.Pairs(ops) {
			a, b := pair[0], pair[1]
			t.Run(way.name+": "+a.Name+" | "+b.Name, func(t *testing.T) {
				testkit.Parallel(t)
				modeltest.Interleave(t, modeltest.InterleaveCase{
					Sample: 3, Seed: seed, A: none(a), B: none(b),
					Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
						testkit.StaleOrNil(t, errA)
						testkit.StaleOrNil(t, errB)
						ctx := context.Background()
						before, err := bareItems.ByID("x").One(ctx, db)
						if err != nil {
							t.Fatal(err)
						}
						if _, err := testkit.MendAll(ctx, db, way.way.Checks()); err != nil {
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
	testkit.WantNothingFound(t, db, way.Checks())
}

// A plan that is cut at any write and run again, with the same token, ends right.
func TestTwoWayFaults(t *testing.T) {
	testkit.Parallel(t)
	for _, way := range []struct {
		name      string
		plan      func(from string) func(ctx context.Context, db *mongo.Database) error
		SeedAlone func(ctx context.Context, db *mongo.Database) error
		done      func(t testing.TB, db *mongo.Database)
	}{
		{"bare", func(to string) func(ctx context.Context, db *mongo.Database) error {
			return func(ctx context.Context, db *mongo.Database) error {
				item := bareItem{ID: "x", Owner: "a"} // as it was read
				if to == "" {
					return testkit.Exec(ctx, db, bareWay.Unassign(&item, bson.NilObjectID))
				}
				return testkit.Exec(ctx, db, bareWay.Assign(&item, to, bson.NilObjectID))
			}
		}, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, model.Concat(bareOwners.InsertMany([]bareOwner{{ID: "a", Items: []string{"x"}}, {ID: "b"}}), bareItems.InsertMany([]bareItem{{ID: "x", Owner: "a"}})))
		}, func(t testing.TB, db *mongo.Database) { wantNoHalfLinks(t, db, bareWay) }},
		{"bounded", func(to string) func(ctx context.Context, db *mongo.Database) error {
			return func(ctx context.Context, db *mongo.Database) error {
				item := bareItem{ID: "x", Owner: "a"}
				if to == "" {
					return testkit.Exec(ctx, db, boundedWay.Unassign(&item, bson.NilObjectID))
				}
				return testkit.Exec(ctx, db, boundedWay.Assign(&item, to, bson.NilObjectID))
			}
		}, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, model.Concat(bareOwners.InsertMany([]bareOwner{{ID: "a", Items: []string{"x"}}, {ID: "b", Items: []string{"y"}}}), bareItems.InsertMany([]bareItem{{ID: "x", Owner: "a"}, {ID: "y", Owner: "b"}})))
		}, func(t testing.TB, db *mongo.Database) { wantNoHalfLinks(t, db, boundedWay) }},
		{"versioned", func(to string) func(ctx context.Context, db *mongo.Database) error {
			return func(ctx context.Context, db *mongo.Database) error {
				item := linkItem{ID: "x", Owner: relate.Link[string]{ID: "a", V: 1, Op: testkit.Token(9)}}
				if to == "" {
					return testkit.Exec(ctx, db, linkWay.Unassign(&item, testkit.Token(1)))
				}
				return testkit.Exec(ctx, db, linkWay.Assign(&item, to, testkit.Token(1)))
			}
		}, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, model.Concat(
				linkOwners.InsertMany([]linkOwner{{ID: "a", Items: []relate.Link[string]{{ID: "x", V: 1, Op: testkit.Token(9)}}}, {ID: "b"}}),
				linkItems.InsertMany([]linkItem{{"x", relate.Link[string]{ID: "a", V: 1, Op: testkit.Token(9)}}})))
		}, func(t testing.TB, db *mongo.Database) { wantNoHalfLinks(t, db, linkWay) }},
	} {
		for _, to := range []string{"b", ""} {
			t.Run(way.name+" to "+fmt.Sprintf("%q", to), func(t *testing.T) {
				modeltest.FaultMatrix(t, modeltest.FaultCase{Seed: way.SeedAlone, Run: way.plan(to), Check: way.done})
			})
		}
	}
}

// A repair that is cut at any write and run again ends right.
func TestTwoWayRepairFaults(t *testing.T) {
	testkit.Parallel(t)
	for _, trust := range []bool{false, true} {
		t.Run(fmt.Sprint("trust ", trust), func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return testkit.Store(ctx, db, testkit.Docs{
						"owners": {lister("a", "lost", "free", "both"), lister("b", "both")},
						"items":  {bareItem{ID: "free"}, bareItem{ID: "both", Owner: "b"}, bareItem{ID: "alone", Owner: "b"}, bareItem{ID: "orphan", Owner: "z"}},
					})
				},
				Run:   testkit.MendedAll(trusting(trust).Checks()),
				Check: func(t testing.TB, db *mongo.Database) { wantNoHalfLinks(t, db, bareWay) },
			})
		})
	}
}

// Of bare ids, a job mends what it has found twice, an age apart: what a plan in flight completes in between stays as it is.
func TestTwoWayMendWaits(t *testing.T) {
	testkit.Parallel(t)
	half := relation(bareItem{ID: "x", Owner: "b"}, emptied("a"), lister("b"))
	whole := relation(bareItem{ID: "x", Owner: "b"}, emptied("a"), lister("b", "x"))
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, half)
		done := make(chan error, 1)
		go func() {
			time.Sleep(100 * time.Millisecond)
			_, err := bareOwners.Update("b", bson.D{{Key: "$addToSet", Value: bson.D{{Key: "items", Value: "x"}}}}).Run(t.Context(), db)
			done <- err
		}()
		check := trusting(true).Checks()[1]
		if check.Age != time.Minute {
			t.Errorf("the age is %v", check.Age)
		}
		check.Age = time.Second
		p, err := check.Job().Run(t.Context(), db, model.JobOptions{})
		if err := errors.Join(err, <-done); err != nil || p.Writes != 0 {
			t.Errorf("a plan in flight was undone: %+v, %v", p, err)
		}
		testkit.WantDocsInAnyOrder(t, db, whole)
		testkit.SeedAlone(t, db, half)
		check = bareWay.Checks()[1]
		check.Age = 10 * time.Millisecond
		if p, err := check.Job().Run(t.Context(), db, model.JobOptions{}); err != nil || p.Writes != 1 {
			t.Errorf("want one half-link mended, got %+v, %v", p, err)
		}
		testkit.WantDocsInAnyOrder(t, db, whole)
	})
}

// A process that dies after its first write and never comes back leaves a half-link; a job takes it away, but not while the
// operation may still be running.
func TestTwoWayMendAge(t *testing.T) {
	testkit.Parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		op := bson.NewObjectID()
		item := linkItem{ID: "x"}
		load := model.Concat(linkOwners.InsertMany([]linkOwner{{ID: "a"}}), linkItems.InsertMany([]linkItem{item}))
		if err := testkit.Exec(ctx, db, load); err != nil {
			t.Fatal(err)
		}
		plan := linkWay.Assign(&item, "a", op)
		plan.Steps = plan.Steps[:1]
		if err := testkit.Exec(ctx, db, plan); err != nil {
			t.Fatal(err)
		}
		checks := linkWay.Checks()
		found := testkit.AllFound(t, db, checks)
		if len(found) != 1 || found[0].Problem != "links to 'x' at version 1, whose operation isn't decided yet" {
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
		if planned, err := testkit.MendAll(ctx, db, checks); err != nil || planned != 2 { // decided, and older links swept
			t.Errorf("want one half-link mended, got %v %v", planned, err)
		}
		wantNoHalfLinks(t, db, linkWay)
	})
}

// Thirty-two that assign one item at once: each succeeds once it has read what the others wrote, and no half-link is left.
func TestTwoWayConcurrent(t *testing.T) {
	testkit.Parallel(t)
	const writers = 32
	unbounded := relate.NewTwoWay(linkOwners, "items", linkItems, "owner", relate.TwoWaySpec{})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		owners := make([]any, 4)
		for i := range owners {
			owners[i] = linkOwner{ID: fmt.Sprint(i)}
		}
		testkit.SeedAlone(t, db, relation(linkItem{ID: "x"}, owners...))
		errs := make([]error, writers)
		var all sync.WaitGroup
		for n := range writers {
			all.Go(func() {
				_, _, errs[n] = model.Change[linkItem]{
					Read: func(ctx context.Context, db model.DB) (linkItem, error) {
						return linkItems.ByID("x").One(ctx, db)
					},
					Decide: func(item linkItem) (model.Plan, error) {
						return unbounded.Assign(&item, fmt.Sprint(n%len(owners)), bson.NewObjectID()), nil
					},
					Attempts: 1000,
				}.Run(t.Context(), db)
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		wantNoHalfLinks(t, db, unbounded)
	})
}

// A mend decides from the primary: to a secondary that lags, a whole link may still be half.
func TestMendDecidesAtThePrimary(t *testing.T) {
	faults := modeltest.NewFaults()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		modeltest.NeedTransactions(t, db) // a standalone has no secondaries
		for _, trust := range []bool{false, true} {
			faults.Reset()
			for _, name := range []string{"owners", "items"} {
				if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
					t.Fatal(err)
				}
			}
			insert := func(collection string, doc any) {
				t.Helper()
				if _, err := db.Collection(collection).InsertOne(t.Context(), doc); err != nil {
					t.Fatal(err)
				}
			}
			insert("items", bareItem{ID: "x", Owner: "a"})
			insert("items", bareItem{ID: "y"})
			insert("owners", lister("a", "y"))
			faults.Lag(t, db)
			whole := bson.D{{Key: "$set", Value: bson.D{{Key: "items", Value: []string{"x", "y"}}}}}
			if _, err := db.Collection("owners").UpdateByID(t.Context(), "a", whole); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Collection("items").UpdateByID(t.Context(), "y", bson.D{{Key: "$set", Value: bson.D{{Key: "owner", Value: "a"}}}}); err != nil {
				t.Fatal(err)
			}
			if planned, err := testkit.MendAll(t.Context(), db, trusting(trust).Checks()); err != nil || planned > 0 {
				t.Errorf("trusting %v: a mend of whole links wrote %d, %v", trust, planned, err)
			}
		}
	}, modeltest.WithFaults(faults), modeltest.WithClientOptions(options.Client().SetReadPreference(readpref.SecondaryPreferred())))
}

var _ model.Technique = bareWay
