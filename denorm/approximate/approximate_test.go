package approximate_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/denorm/approximate"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var views = approximate.New(tallies, "views", 10)

// tally is a document with numbers in it.
type tally struct {
	ID    string  `bson:"_id"`
	Views int64   `bson:"views"`
	Name  string  `bson:"name,omitempty"`
	List  []int64 `bson:"list,omitempty"`
}

var tallies = model.NewCollection[tally, string]("tallies")

func viewed(n int64) testkit.Docs { return testkit.Docs{"tallies": {tally{ID: "t", Views: n}}} }

func TestApproximateCount(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			reason string
			plan   model.Plan
			after  int64 // of 50 before
			err    error
		}{
			{"a draw below 1/n", views.Count("t", 1, 0.0999), 60, nil},
			{"a draw of 1/n", views.Count("t", 1, 0.1), 50, nil},
			{"a draw of 0", views.Count("t", 1, 0), 60, nil},
			{"a multiple, whatever the draw", views.Count("t", 30, 0.999), 80, nil},
			{"a multiple and a rest, below", views.Count("t", 34, 0.4), 80, nil},
			{"a multiple and a rest, above", views.Count("t", 34, 0.399), 90, nil},
			{"no event", views.Count("t", 0, 0), 50, nil},
			{"an owner that isn't there", views.Count("u", 1, 0), 50, model.ErrNotFound},
			{"an empty owner", views.Count("", 1, 0), 50, testkit.ErrRefused},
			{"an empty owner, although nothing would be written", views.Count("", 1, 0.9), 50, testkit.ErrRefused},
			{"a draw of 1", views.Count("t", 1, 1), 50, testkit.ErrRefused},
			{"a negative draw", views.Count("t", 1, -0.1), 50, testkit.ErrRefused},
			{"a draw that isn't a number", views.Count("t", 1, math.NaN()), 50, testkit.ErrRefused},
			{"negative events", views.Count("t", -1, 0), 50, testkit.ErrRefused},
			{"too many events", views.Count("t", math.MaxInt64, 0), 50, testkit.ErrRefused},
		} {
			t.Run(c.reason, func(t *testing.T) {
				testkit.Seed(t, db, viewed(50))
				run := func() error {
					_, err := c.plan.Run(t.Context(), db)
					return err
				}
				if c.err != nil {
					testkit.WantError(t, run(), c.err)
				} else {
					modeltest.WantCost(t, m, c.plan.Cost(), func() error { return run() })
				}
				testkit.WantDocs(t, db, viewed(c.after))
			})
		}
	}, m)
}

// Over all draws alike, what is added is what happened: no event weighs more or less than one.
func TestApproximateIsUnbiased(t *testing.T) {
	testkit.Parallel(t)
	const grid = 1000
	for _, n := range []int64{1, 3, 10, 1000} {
		a := approximate.New(tallies, "views", n)
		for _, events := range []int64{1, 2, 7, 10, 999, 1001, 12345} {
			added := int64(0)
			for i := range grid {
				for _, s := range a.Count("t", events, (float64(i)+0.5)/grid).Steps {
					added +=
						s.(model.Write).Model.(*mongo.UpdateOneModel).Update.(bson.D)[0].Value.(bson.D)[0].Value.(int64)
				}
			}
			if got := float64(added) / grid; math.Abs(got-float64(events)) > float64(n)/grid {
				t.Errorf("n %d: %d events count %g on average", n, events, got)
			}
		}
	}
}

// Random draws stay within the standard deviation of the documentation, √(count·(n-1)), as often as they must.
func TestApproximateDeviation(t *testing.T) {
	testkit.Parallel(t)
	const events, runs = 4_000, 200
	random := rand.New(rand.NewPCG(1, 2))
	deviation := math.Sqrt(events * 9) // views counts one event in ten
	within, sum := 0, 0.0
	for range runs {
		count := int64(0)
		for range events {
			if len(views.Count("t", 1, random.Float64()).Steps) > 0 {
				count += 10
			}
		}
		off := float64(count - events)
		sum += off
		if math.Abs(off) <= deviation {
			within++
		}
	}
	if share := float64(within) / runs; share < 0.60 || share > 0.76 {
		t.Errorf("%.2f of the counts are within the deviation, want about 0.68", share)
	}
	if mean := sum / runs; math.Abs(mean) > 4*deviation/math.Sqrt(runs) {
		t.Errorf("counts are off by %.1f on average", mean)
	}
}

// A write that was cut has counted once or not at all; it is not run again, which would count again.
func TestApproximateCut(t *testing.T) {
	testkit.Parallel(t)
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 2,
		Seed:   func(ctx context.Context, db *mongo.Database) error { return testkit.Store(ctx, db, viewed(0)) },
		Run: func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, views.Count("t", 1, 0))
		},
		Repair: func(context.Context, *mongo.Database) error { return nil },
		Check: func(t testing.TB, db *mongo.Database) {
			if got, err := tallies.ByID("t").One(t.Context(), db); err != nil || got.Views != 0 && got.Views != 10 {
				t.Errorf("%v, %v", got, err)
			}
		},
	})
}

// Writers that count the same owner at once lose nothing: what is stored is the sum of what their draws decided.
func TestApproximateConcurrent(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := testkit.Store(t.Context(), db, viewed(0)); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for writer := range int64(8) {
			all.Go(func() {
				for draw := 0.05; draw < 1; draw += 0.1 { // e events are written by e of these ten draws, as 10 each
					if err := testkit.Exec(t.Context(), db, views.Count("t", writer, draw)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if got, err := tallies.ByID("t").One(t.Context(), db); err != nil || got.Views != 10*(0+1+2+3+4+5+6+7) {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestApproximateDeclarations(t *testing.T) {
	testkit.Parallel(t)
	for reason, declare := range map[string]func(){
		"no such path":     func() { approximate.New(tallies, "vews", 10) },
		"no number":        func() { approximate.New(tallies, "name", 10) },
		"numbers in lists": func() { approximate.New(tallies, "list", 10) },
		"once in none":     func() { approximate.New(tallies, "views", 0) },
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			func() {
				defer func() {
					err, _ := recover().(error)
					if !errors.As(err, &d) || d.Remedy == "" {
						t.Errorf("panicked with %v", err)
					}
				}()
				declare()
			}()
		})
	}
}

// What each operation costs is what its value says, and each write finds its document by _id.
func TestApproximatePrices(t *testing.T) {
	testkit.Parallel(t)
	testkit.WantPrices(t, testkit.Stored(viewed(0)),
		testkit.Writes("Count", 1, 1, views.Count("t", 1, 0)),
		testkit.Writes("Count of none", 0, 0, views.Count("t", 1, 0.5)),
		testkit.Writes("Count of many", 1, 1, views.Count("t", 77, 0.5)))
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, viewed(1))
		testkit.WantStepsIndexed(t, db, "Approximate", model.IDIndex, views.Count("t", 1, 0), views.Count("t", 77, 0))
	})
}
