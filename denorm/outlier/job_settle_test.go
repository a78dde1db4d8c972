package outlier_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func outlierSettle(ctx context.Context, db *mongo.Database, x *buyersOutlier) error {
	_, err := x.Settle().Run(ctx, db, model.JobOptions{})
	return err
}

// What other code pushed though there was overflow goes to its end, from any cut.
func TestOutlierSettleFaults(t *testing.T) {
	testkit.Parallel(t)
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return errors.Join(testkit.Exec(ctx, db, model.NewPlan(titles.Insert(titled{ID: "b"}))),
				outlierAppend(ctx, db, purchases, "b", "1 2 3"), outlierPush(ctx, db, "b", "6 7 8 9"))
		},
		Run: func(ctx context.Context, db *mongo.Database) error { return outlierSettle(ctx, db, purchases) },
		Check: func(t testing.TB, db *mongo.Database) {
			wantOutlierDrift(t, db, purchases)
			wantOutlier(t, db, purchases, "b", "1 2 3 6 7 8 9")
		},
	})
}

// Of random owners, split, appended to and pushed into past the technique, each element is there once afterwards,
// whichever part of the job ran before, and whatever was appended or pushed meanwhile.
func TestOutlierSettle(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		for seedOf := range uint64(8) {
			r := rand.New(rand.NewPCG(seedOf, 1))
			x := []*buyersOutlier{purchases, outlierBytes}[seedOf%2]
			testkit.Seed(t, db, testkit.Docs{"books": nil, "buyers": nil})
			wants := map[string]int{}
			n := 0
			some := func(atMost int) string {
				var ids []string
				for range r.IntN(atMost + 1) {
					n++
					ids = append(ids, fmt.Sprint(n))
				}
				return strings.Join(ids, " ")
			}
			add := func(id, list string, by func(context.Context, *mongo.Database, string, string) error) {
				t.Helper()
				if list == "" {
					return
				}
				wants[id] += len(strings.Fields(list))
				if err := by(ctx, db, id, list); err != nil {
					t.Fatal(err)
				}
			}
			appending := func(ctx context.Context, db *mongo.Database, id, list string) error {
				return outlierAppend(ctx, db, x, id, list)
			}
			for i := range 6 {
				id := fmt.Sprintf("b%d", i)
				testkit.MustExec(t, db, model.NewPlan(titles.Insert(titled{ID: id})))
				add(id, some(15), appending)
				if b, err := titles.ByID(id).One(ctx, db); err != nil || !b.Extras {
					continue // pushes past Max are for Split
				}
				add(id, some(12), outlierPush)
			}
			plan := outlierCrowd(t, db, x)
			testkit.MustExec(t, db, outlierUpTo(plan, r.IntN(len(plan.Steps)+1)))
			for i := range 6 {
				if id := fmt.Sprintf("b%d", i); wants[id] > 12 {
					add(id, some(2), appending)
					add(id, some(2), outlierPush)
				}
			}
			if err := outlierSettle(ctx, db, x); err != nil {
				t.Fatal(err)
			}
			wantOutlierDrift(t, db, x)
			for id, want := range wants {
				list, err := x.Elements(id).All(ctx, db)
				if err != nil {
					t.Fatal(err)
				}
				seen := map[string]bool{}
				for _, b := range list {
					seen[b.ID] = true
				}
				if len(list) != want || len(seen) != want {
					t.Errorf("%s has %s, want %d elements, each once", id, outlierIDs(list), want)
				}
			}
			for page, err := range customerPages.Oldest("b0").Each(ctx, db) {
				if err != nil || page.N != len(page.Items) {
					t.Errorf("a page of %d says %d, %v", len(page.Items), page.N, err)
				}
			}
		}
	})
}

// outlierCrowd is what a Settle plans now.
func outlierCrowd(t testing.TB, db *mongo.Database, x *buyersOutlier) model.Plan {
	t.Helper()
	j := x.Settle()
	read, err := (&model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{
		Collection: j.Stages[0].Collection,
		Pipeline:   append(mongo.Pipeline{{testkit.E("$match", j.Stages[0].Filter)}}, j.Stages[0].Pipeline...),
	}}).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	p, err := j.Stages[0].Plan(read)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOutlierSettleRefused(t *testing.T) {
	testkit.Parallel(t)
	if err := outlierPlain.Settle().Err; !errors.As(err, new(*model.ValueError)) {
		t.Errorf("without a Key: %v", err)
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		for _, other := range []string{"3", "1"} { // in the overflow, and in the array
			testkit.Seed(t, db, testkit.Docs{"books": {titled{ID: "b"}}, "buyers": nil})
			if err := errors.Join(outlierAppend(ctx, db, purchases, "b", "1 2 3"),
				outlierPush(ctx, db, "b", other)); err != nil {
				t.Fatal(err)
			}
			late := outlierCrowd(t, db, purchases)
			if err := outlierAppend(ctx, db, purchases, "b", "4 5 6"); err != nil {
				t.Fatal(err)
			}
			if err := outlierSettle(ctx, db, purchases); err != nil {
				t.Fatal(err)
			}
			wantOutlier(t, db, purchases, "b", "1 2 3 4 5 6") // the same element once
			if _, err := late.Run(ctx, db); !errors.Is(err, model.ErrStale) {
				t.Errorf("a late one: %v", err)
			}
			testkit.MustExec(t, db,
				model.NewPlan(titles.Update("b", bson.D{
					testkit.E("$push", bson.D{testkit.E("buyers", customer{ID: other, Paid: 77})}),
				})))
			var refused *model.ValueError
			if err := outlierSettle(ctx, db, purchases); !errors.As(err, &refused) || refused.Field != "buyers.2" {
				t.Errorf("with other fields: %v", err)
			}
			wantOutlierDrift(t, db, purchases, "b oversized")
		}
		// A page that somebody else began meanwhile isn't written over.
		testkit.Seed(t, db, testkit.Docs{"books": {titled{ID: "b"}}, "buyers": nil})
		if err := errors.Join(outlierAppend(ctx, db, purchases, "b", "1 2 3 4 5"),
			outlierPush(ctx, db, "b", "7 8")); err != nil {
			t.Fatal(err)
		}
		late := outlierCrowd(t, db, purchases)
		if err := outlierAppend(ctx, db, purchases, "b", "6"); err != nil {
			t.Fatal(err)
		}
		_, err := late.Run(ctx, db)
		testkit.WantErrorText(t, err, model.ErrStale, "stored overflow")
		if err := outlierSettle(ctx, db, purchases); err != nil {
			t.Fatal(err)
		}
		wantOutlier(t, db, purchases, "b", "1 2 3 4 5 6 7 8")
	})
}
