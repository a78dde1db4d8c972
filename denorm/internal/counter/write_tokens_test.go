package counter_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A parent's tokens stay as many as are kept; an operation that others outran is mended by a recount.
func TestCounterKeep(t *testing.T) {
	parallel(t)
	spec := fullCounter
	spec.Keep = 3
	few := counterOf(spec)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := seedHouses(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			mustCount(t, db, few.Insert(volumeOf(fmt.Sprint(i), "a", i), token(i)))
		}
		h, err := houses.ByID("a").One(t.Context(), db)
		if err != nil || fmt.Sprint(h.Ops) != fmt.Sprint([]bson.ObjectID{token(3), token(4), token(5)}) {
			t.Errorf("tokens %v, %v", h.Ops, err)
		}
		wantAgreed(t, db, few)
	})
}

// A token that was spent on one child stores no other, and the result says so.
func TestCounterSpentToken(t *testing.T) {
	parallel(t)
	x := counterOf(fullCounter)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := seedHouses(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for _, child := range []string{"first", "second"} {
			_, result, err := x.Insert(volumeOf(child, "a", 1), token(7)).Run(t.Context(), db)
			if err != nil || (result.Modified() == 0) != (child == "second") {
				t.Errorf("%s: %+v, %v", child, result, err)
			}
		}
		if n, err := volumes.Find(nil).Count(t.Context(), db); n != 1 || err != nil {
			t.Errorf("%d children, %v", n, err)
		}
		wantAgreed(t, db, x)
	})
}

// Without tokens operations need a transaction, and are exact in it; with Partial they don't, and a recount runs twice.
func TestCounterWithoutTokens(t *testing.T) {
	parallel(t)
	t.Run("transaction", func(t *testing.T) {
		modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
			modeltest.NeedTransactions(t, db)
			if err := exec(t.Context(), db, houses.InsertMany([]house{{ID: "a"}, {ID: "b"}})); err != nil {
				t.Fatal(err)
			}
			mustCount(t, db, inTx.Insert(volumeOf("1", "a", 10), token(1)), inTx.Insert(volumeOf("2", "a", 20), token(1)))
			wantHouses(t, db, inTx, house{ID: "a", Volumes: 2, Mean: denorm.Average{Sum: 30, N: 2}, Each: 15, Most: 20}, house{ID: "b"})
			mustCount(t, db, inTx.Move("2", "b", token(1)), inTx.Set("1", bson.D{e("pages", 5)}, token(1)))
			wantHouses(t, db, inTx, house{ID: "a", Volumes: 1, Mean: denorm.Average{Sum: 5, N: 1}, Each: 5, Most: 5},
				house{ID: "b", Volumes: 1, Mean: denorm.Average{Sum: 20, N: 1}, Each: 20, Most: 20})
			mustCount(t, db, inTx.Delete("1", token(1)), inTx.Delete("1", token(1)))
			wantHouses(t, db, inTx, house{ID: "a"}, house{ID: "b", Volumes: 1, Mean: denorm.Average{Sum: 20, N: 1}, Each: 20, Most: 20})
			if age := inTx.Checks()[0].Age; age != 0 {
				t.Errorf("findings wait for %s", age)
			}
			change := inTx.Move("2", "a", token(1))
			change.Tx = false
			if err := counterRun(t.Context(), db, change); !errors.Is(err, model.ErrTransactional) {
				t.Errorf("without a transaction: %v", err)
			}
		})
	})
	t.Run("partial", func(t *testing.T) {
		modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
			if err := exec(t.Context(), db, houses.InsertMany([]house{{ID: "a"}, {ID: "b"}})); err != nil {
				t.Fatal(err)
			}
			mustCount(t, db, loosen.Insert(volumeOf("1", "a", 10), token(1)), loosen.Insert(volumeOf("2", "a", 20), token(1)), loosen.Set("2", bson.D{e("pages", 5)}, token(1)))
			wantHouses(t, db, loosen, house{ID: "a", Volumes: 2, Pages: 15, Most: 10}, house{ID: "b"})
			check := loosen.Checks()[0]
			if check.Age != time.Minute {
				t.Errorf("findings wait for %s", check.Age)
			}
			if _, err := houses.Update("a", bson.D{e("$set", bson.D{e("volumes", 7)})}).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			if out, err := check.Job().Run(ctx, db, model.JobOptions{}); err == nil || out.Modified != 0 {
				t.Errorf("stopped while it waits: %+v, %v", out, err)
			}
			check.Age = time.Millisecond
			if out, err := check.Job().Run(t.Context(), db, model.JobOptions{}); err != nil || out.Modified != 1 {
				t.Errorf("%+v, %v", out, err)
			}
			wantAgreed(t, db, loosen)
		})
	})
}

// Without tokens and without a transaction a parent is counted again an Age later: an insert that the house is yet to be told
// of is not counted twice. What it changed is mended by the next run.
func TestCounterSecondPass(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		wrong := docs{"houses": {house{ID: "a", Volumes: 3}, house{ID: "b", Volumes: 5}}, "volumes": {volumeOf("1", "a", 10)}}
		if err := store(t.Context(), db, wrong); err != nil {
			t.Fatal(err)
		}
		insert, err := loosen.Insert(volumeOf("2", "a", 20), token(2)).Decide(nil)
		if err != nil {
			t.Fatal(err)
		}
		mustExec(t, db, model.NewPlan(insert.Steps[0]))
		check := loosen.Checks()[0]
		check.Age = time.Second
		ended := make(chan error, 1)
		begun := time.Now()
		go func() {
			out, err := check.Job().Run(t.Context(), db, model.JobOptions{})
			if err == nil && out.Modified != 1 {
				err = fmt.Errorf("gave %+v", out)
			}
			ended <- err
		}()
		time.Sleep(300 * time.Millisecond)              // the first pass has counted the volume
		mustExec(t, db, model.NewPlan(insert.Steps[1])) // and then the insert tells the house of it
		if err := <-ended; err != nil || time.Since(begun) < check.Age {
			t.Errorf("ended after %s: %v", time.Since(begun), err)
		}
		if found, err := check.All(t.Context(), db); err != nil || len(found) != 1 || found[0].ID.StringValue() != "a" {
			t.Errorf("after the job the check finds %v, %v", found, err)
		}
		if err := mendedByJobs(check)(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		wantAgreed(t, db, loosen)
	})
}

// In transactions, recounts that run among other operations are exact without tokens.
func TestCounterRecountInTransaction(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		modeltest.NeedTransactions(t, db)
		if err := store(t.Context(), db, docs{"houses": {house{ID: "a", Volumes: 3}}, "volumes": {volumeOf("0", "a", 10)}}); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for i := range 3 {
			wait.Go(func() {
				id := fmt.Sprint(i + 1)
				err := counterRun(t.Context(), db, inTx.Insert(volumeOf(id, "a", i), token(i)), inTx.Set(id, bson.D{e("pages", 9-i)}, token(i)))
				if err != nil {
					t.Error(err)
				}
			})
		}
		wait.Go(func() {
			for range 4 {
				if _, _, err := inTx.Recount("a").Run(t.Context(), db); err != nil {
					t.Error(err)
				}
			}
		})
		wait.Wait()
		wantAgreed(t, db, inTx)
	})
}
