package counter_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Every operation can be cut anywhere and run again, or be finished by others.
func TestCounterFaults(t *testing.T) {
	parallel(t)
	seeds := []volume{{ID: "1", House: "a", Pages: 100, Price: price(10)}, {ID: "2", House: "a", Pages: 300, Price: price(30)}}
	for _, c := range []struct {
		name string
		op   model.Change[any]
		want []house
	}{
		{"insert", fully.Insert(volume{ID: "3", House: "b", Pages: 5, Price: price(1)}, token(1)), []house{
			{ID: "a", Volumes: 2, Pages: 400, Mean: denorm.Average{Sum: 40, N: 2}, Each: 20, Least: 100, Most: 300, Cheap: 10},
			{ID: "b", Volumes: 1, Pages: 5, Mean: denorm.Average{Sum: 1, N: 1}, Each: 1, Least: 5, Most: 5, Cheap: 1}}},
		{"set", fully.Set("2", bson.D{e("pages", 1)}, token(1)), []house{
			{ID: "a", Volumes: 2, Pages: 101, Mean: denorm.Average{Sum: 40, N: 2}, Each: 20, Least: 1, Most: 100, Cheap: 10}, {ID: "b"}}},
		{"move", fully.Move("2", "b", token(1)), []house{
			{ID: "a", Volumes: 1, Pages: 100, Mean: denorm.Average{Sum: 10, N: 1}, Each: 10, Least: 100, Most: 100, Cheap: 10},
			{ID: "b", Volumes: 1, Pages: 300, Mean: denorm.Average{Sum: 30, N: 1}, Each: 30, Least: 300, Most: 300, Cheap: 30}}},
		{"set if", fully.SetIf("2", bson.D{e("pages", 300)}, bson.D{e("pages", 1)}, token(1)), []house{
			{ID: "a", Volumes: 2, Pages: 101, Mean: denorm.Average{Sum: 40, N: 2}, Each: 20, Least: 1, Most: 100, Cheap: 10}, {ID: "b"}}},
		{"set of what isn't counted", fully.Set("2", bson.D{e("title", "T")}, token(1)), []house{
			{ID: "a", Volumes: 2, Pages: 400, Mean: denorm.Average{Sum: 40, N: 2}, Each: 20, Least: 100, Most: 300, Cheap: 10}, {ID: "b"}}},
		{"insert of what doesn't count", fully.Insert(volume{ID: "3", House: "b", Pages: 5, State: "draft"}, token(1)), []house{
			{ID: "a", Volumes: 2, Pages: 400, Mean: denorm.Average{Sum: 40, N: 2}, Each: 20, Least: 100, Most: 300, Cheap: 10}, {ID: "b"}}},
		{"delete", fully.Delete("2", token(1)), []house{
			{ID: "a", Volumes: 1, Pages: 100, Mean: denorm.Average{Sum: 10, N: 1}, Each: 10, Least: 100, Most: 100, Cheap: 10}, {ID: "b"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed:  func(ctx context.Context, db *mongo.Database) error { return seedHouses(ctx, db, seeds...) },
				Run:   func(ctx context.Context, db *mongo.Database) error { return counterRun(ctx, db, c.op) },
				Check: func(t testing.TB, db *mongo.Database) { wantHouses(t, db, fully, c.want...) },
			})
		})
		t.Run(c.name+" finished by others", func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed:   func(ctx context.Context, db *mongo.Database) error { return seedHouses(ctx, db, seeds...) },
				Run:    func(ctx context.Context, db *mongo.Database) error { return counterRun(ctx, db, c.op) },
				Repair: settleAll,
				Check:  func(t testing.TB, db *mongo.Database) { wantAgreed(t, db, fully) },
			})
		})
	}
	t.Run("recount", func(t *testing.T) {
		modeltest.FaultMatrix(t, modeltest.FaultCase{
			Seed: func(ctx context.Context, db *mongo.Database) error {
				return errors.Join(seedHouses(ctx, db), store(ctx, db, docs{"volumes": {seeds[0], seeds[1]}}))
			},
			Run:   mendedByJobs(fully.Checks()...),
			Check: func(t testing.TB, db *mongo.Database) { wantAgreed(t, db, fully) },
		})
	})
}

// settleAll finishes what is under way.
func settleAll(ctx context.Context, db *mongo.Database) error {
	found, err := fully.Pending(future).All(ctx, db)
	for _, v := range found {
		err = errors.Join(err, counterRun(ctx, db, fully.Settle(v.ID)))
	}
	return err
}

// changesOf are operations that meet each other, on the volumes 1 to 3, of which 1 and 2 are the house a's.
func changesOf(c *volumeCounter, way func(context.Context, model.DB) (model.DB, error)) []operation {
	op := func(name string, change func(op bson.ObjectID) model.Change[any]) operation {
		return operation{Name: name, Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			on, err := way(ctx, db)
			if err != nil {
				return err
			}
			return counterRun(ctx, on, change(op))
		}}
	}
	type oid = bson.ObjectID
	type change = model.Change[any]
	return []operation{
		op("insert", func(op oid) change { return c.Insert(volumeOf("3", "a", 500), op) }),
		op("set", func(op oid) change { return c.Set("2", bson.D{e("pages", 50)}, op) }),
		op("title", func(op oid) change { return c.Set("2", bson.D{e("title", "T")}, op) }),
		op("raise", func(op oid) change { return c.Set("1", bson.D{e("pages", 400)}, op) }),
		op("move", func(op oid) change { return c.Move("2", "b", op) }),
		op("delete", func(op oid) change { return c.Delete("2", op) }),
	}
}

// counterOps are those and what mends.
func counterOps(c *volumeCounter) []operation {
	plain := func(_ context.Context, db model.DB) (model.DB, error) { return db, nil }
	return append(changesOf(c, plain), []operation{
		{Name: "recount", Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
			_, _, err := c.Recount("a").Run(ctx, db)
			return err
		}},
		{Name: "mend", Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
			return mendedNow(c.Checks()...)(ctx, db)
		}},
		{Name: "settle", Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error { return settleAll(ctx, db) }},
	}...)
}

// Any two operations, in every order of their commands, leave numbers that are exact, and no mark. One of two inserts of the
// same child is told that it is taken.
func TestCounterInterleaved(t *testing.T) {
	parallel(t)
	for quick, c := range []struct {
		name    string
		counter *volumeCounter
	}{{"counted", counted}, {"ranged", ranged}} {
		ops := counterOps(c.counter)
		for i, a := range ops {
			for j, b := range ops {
				if j > 5 && i > 5 || !everyPair && (j != (i+quick)%len(ops) && j != 6 || i > 5) {
					continue
				}
				match := modeltest.Writes
				if quick == 0 && everyPair && i < 3 && j < 3 || j > 5 || i > 5 {
					match = modeltest.All
				}
				t.Run(c.name+" "+a.Name+" | "+b.Name, func(t *testing.T) { counterMeet(t, c.counter, a, b, match) })
			}
		}
	}
}

// The greatest leaves while the next greatest gets smaller.
func TestCounterExtremesMeet(t *testing.T) {
	parallel(t)
	ops := counterOps(ranged)
	lower := operation{Name: "lower", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
		return counterRun(ctx, db, ranged.Set("1", bson.D{e("pages", 20)}, op))
	}}
	for _, i := range []int{1, 5} {
		t.Run(ops[i].Name, func(t *testing.T) { counterMeet(t, ranged, ops[i], lower, modeltest.Writes) })
	}
}

func counterMeet(t *testing.T, c *volumeCounter, a, b operation, match modeltest.Match) {
	if os.Getenv("MONGODB_URI") == "" {
		t.Parallel()
	}
	modeltest.Interleave(t, counterMeeting(c, a, b, match))
}

func counterMeeting(c *volumeCounter, a, b operation, match modeltest.Match) modeltest.InterleaveCase {
	return modeltest.InterleaveCase{
		Sample: 2, Match: match,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return errors.Join(
				exec(ctx, db, houses.InsertMany([]house{{ID: "a"}, {ID: "b"}})),
				counterRun(ctx, db, c.Insert(volumeOf("1", "a", 100), token(8)), c.Insert(volumeOf("2", "a", 300), token(9))),
				wrong(ctx, db, a.Name == "recount" || b.Name == "recount"))
		},
		A: func(ctx context.Context, db *mongo.Database) error { return a.Run(ctx, db, token(1)) },
		B: func(ctx context.Context, db *mongo.Database) error { return b.Run(ctx, db, token(2)) },
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			for _, err := range []error{errA, errB} {
				if err != nil && !errors.Is(err, model.ErrTaken) && !errors.Is(err, model.ErrNotFound) {
					t.Errorf("error %v", err)
				}
			}
			wantAgreed(t, db, c)
		},
	}
}

// wrong makes a house's count wrong, for a recount to have something to write.
func wrong(ctx context.Context, db *mongo.Database, really bool) error {
	if !really {
		return nil
	}
	_, err := db.Collection("houses").UpdateByID(ctx, "a", bson.D{e("$inc", bson.D{e("volumes", int64(40))})})
	return err
}

// 32 writers on one parent, half of them in transactions, lose nothing and count nothing twice, while others recount it.
func TestCounterManyWriters(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []*volumeCounter{counted, ranged} {
			seed(t, db, docs{"volumes": nil, "houses": {house{ID: "a"}, house{ID: "b"}}})
			if err := createIndexes(t.Context(), db, c); err != nil {
				t.Fatal(err)
			}
			var wait sync.WaitGroup
			ways := waysOf(t, db)
			for i := range 32 {
				wait.Go(func() {
					id := fmt.Sprint(i)
					list := []model.Change[any]{c.Insert(volumeOf(id, "a", i+1), token(4*i))}
					switch i % 4 {
					case 0:
						list = append(list, c.Set(id, bson.D{e("pages", 100-i)}, token(4*i+1)))
					case 1:
						list = append(list, c.Move(id, "b", token(4*i+1)))
					case 2:
						list = append(list, c.Delete(id, token(4*i+1)))
					}
					list = append(list, list[len(list)-1]) // run twice
					if err := counterRun(t.Context(), ways[i/4%len(ways)], list...); err != nil {
						t.Error(err)
					}
				})
			}
			wait.Wait()
			wantAgreed(t, db, c)
			for id, want := range map[string]int64{"a": 16, "b": 8} {
				if h, err := houses.ByID(id).One(t.Context(), db); err != nil || h.Volumes != want {
					t.Errorf("%s has %d, %v; want %d", id, h.Volumes, err, want)
				}
			}
			if _, _, err := c.Recount("a").Run(t.Context(), db); err != nil {
				t.Error(err)
			}
		}
	})
}

// Two writers who changed one child from the same state, and one who deletes it, count it once.
func TestCounterOneChild(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := seedHouses(t.Context(), db, volumeOf("1", "a", 7)); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		ways := waysOf(t, db)
		for i := range 16 {
			wait.Go(func() {
				change := fully.Set("1", bson.D{e("pages", i), e("house", []string{"a", "b"}[i%2])}, token(i))
				if err := counterRun(t.Context(), ways[i/2%len(ways)], change); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		wantAgreed(t, db, fully)
		for i := range 8 {
			wait.Go(func() {
				if err := counterRun(t.Context(), ways[i%len(ways)], fully.Delete("1", token(50+i))); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		wantHouses(t, db, fully, house{ID: "a"}, house{ID: "b"})
	})
}

// A finished operation that is run again changes nothing, whatever others did since, while the child's parent remembers
// it: a deleted child doesn't come back.
func TestCounterRunAgain(t *testing.T) {
	tenancy.Differs(t, "an _id that was deleted stays taken")
	parallel(t)
	bothWays(t, func(t *testing.T, db *mongo.Database, way model.DB) {
		if err := seedHouses(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		done := []model.Change[any]{
			fully.Insert(volumeOf("1", "a", 10), token(1)), fully.Set("1", bson.D{e("pages", 20)}, token(2)),
			fully.Move("1", "b", token(3)), fully.Set("1", bson.D{e("pages", 30)}, token(4)), fully.Move("1", "a", token(5)),
			fully.Delete("1", token(6)), fully.Insert(volumeOf("1", "a", 40), token(7)),
		}
		for i, change := range done {
			mustCount(t, way, change)
			before, _ := modeltest.Dump(t.Context(), db)
			for j, again := range done[:i+1] {
				if j == 1 && (i == 2 || i == 3) || j == 3 && (i == 4 || i == 6) {
					continue // the child's parent now is another than the one that remembers
				}
				if err := counterRun(t.Context(), way, again); err != nil && !errors.Is(err, model.ErrNotFound) {
					t.Errorf("after %d: %v", i, err)
				}
				if after, _ := modeltest.Dump(t.Context(), db); after != before {
					t.Fatalf("after %d, run again changed:\n%s\nfrom\n%s", i, after, before)
				}
			}
		}
	})
}
