package model_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// A checkedStock is how much there is of something, which is wrong below 0.
type checkedStock struct {
	ID    int32      `bson:"_id"`
	Qty   int32      `bson:"qty"`
	Since *time.Time `bson:"since,omitempty"`
	Shelf string     `bson:"shelf,omitempty"`
}

var stocks = model.NewCollection[checkedStock, int32]("stocks")

// negatives finds the stocks below 0, and makes them 0.
func negatives(age time.Duration) model.Check {
	below := d("qty", d("$lt", 0))
	return model.Check{
		Name: "stocks.qty: below 0", Collection: "stocks", Rule: "qty isn't below 0", Age: age,
		Pipeline: mongo.Pipeline{d("$match", below), d("$project", d("qty", 1, "since", 1)), d("$sort", d("_id", 1))},
		Tell: func(f *model.Finding) error {
			var s checkedStock
			if err := bson.Unmarshal(f.Detail, &s); err != nil {
				return err
			}
			if s.Qty == -100 {
				return errBad
			}
			f.ID, f.Problem = f.Detail.Lookup("_id"), fmt.Sprintf("qty is %d", s.Qty)
			if s.Since != nil {
				f.Since = *s.Since
			}
			return nil
		},
		Mend: func(found []model.Finding) (p model.Plan) {
			for _, f := range found {
				p.Steps = append(p.Steps, stocks.Update(f.Detail.Lookup("_id").Int32(), d("$set", d("qty", int32(0)))))
			}
			return p
		},
	}
}

// negativesByReads is the same check by a function that reads.
func negativesByReads(age time.Duration) model.Check {
	c := negatives(age)
	tell := c.Tell
	c.Pipeline, c.Tell = nil, nil
	c.Read = func(ctx context.Context, db model.DB, filter bson.D) iter.Seq2[model.Finding, error] {
		return func(yield func(model.Finding, error) bool) {
			negative := bsondoc.JoinFilters(filter, d("qty", d("$lt", 0)))
			for s, err := range stocks.Find(negative).Sorted(d("_id", 1)).Each(ctx, db) {
				f := model.Finding{Check: c.Name, Collection: c.Collection}
				if err == nil {
					f.Detail, err = bson.Marshal(s)
				}
				if err == nil {
					err = tell(&f)
				}
				if !yield(f, err) || err != nil {
					return
				}
			}
		}
	}
	return c
}

// stocked stores stocks of these quantities, by _id from 1.
func stocked(ctx context.Context, db *mongo.Database, quantities ...int32) error {
	if _, err := db.Collection("stocks").DeleteMany(ctx, bson.D{}); err != nil {
		return err
	}
	docs := make([]checkedStock, len(quantities))
	for i, n := range quantities {
		docs[i] = checkedStock{ID: int32(i + 1), Qty: n, Shelf: string("ab"[i%2])}
	}
	_, err := stocks.InsertMany(docs).Run(ctx, db)
	return err
}

// inStock is the quantities that are stored, in the order of _id.
func inStock(t testing.TB, db *mongo.Database) string {
	t.Helper()
	all, err := stocks.Find(nil).Sorted(d("_id", 1)).All(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range all {
		out = append(out, fmt.Sprint(s.Qty))
	}
	return strings.Join(out, " ")
}

// A check finds by a pipeline as by reads: all, batch by batch, and within filters.
func TestCheckFinds(t *testing.T) {
	for reason, check := range map[string]model.Check{"a pipeline": negatives(0), "reads": negativesByReads(0)} {
		t.Run(reason, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				if err := stocked(t.Context(), db, 5, -1, -2, 3, -4, -5); err != nil {
					t.Fatal(err)
				}
				filter := d("shelf", d("$in", bson.A{"a"}))
				narrow := check.In(filter)
				filter[0].Value.(bson.D)[0].Value.(bson.A)[0] = "b" // the check has its own
				for want, c := range map[string]model.Check{
					"[stocks 2: qty is -1 stocks 3: qty is -2 stocks 5: qty is -4 stocks 6: qty is -5]": check,
					"[stocks 3: qty is -2 stocks 5: qty is -4]":                                         narrow,
					"[stocks 5: qty is -4]": narrow.In(d("_id", d("$gt", 3))),
					"[stocks 3: qty is -2]": narrow.In(nil).In(d("qty", -2)).In(d("shelf", "a")), "[]": check.In(d("_id", 4)),
					"[stocks 6: qty is -5]": check.In(d("_id", d("$gt", 2))).In(d("_id", d("$in", bson.A{1, 2, 6}))),
				} {
					found, err := c.All(t.Context(), db)
					if got := fmt.Sprint(found); err != nil || got != want {
						t.Errorf("found %s, want %s, %v", got, want, err)
					}
				}
				n := 0
				for f, err := range check.Each(t.Context(), db) {
					if n++; err != nil || f.Check != check.Name || f.Collection != "stocks" || n == 2 {
						break
					}
				}
				if n != 2 {
					t.Errorf("yielded %d, want 2", n)
				}
				mustRun(t, db, model.NewPlan(stocks.Update(3, d("$set", d("qty", -100)))))
				n = 0
				for _, err := range check.Each(t.Context(), db) {
					if n++; (err != nil) != (n == 2) || err != nil && !errors.Is(err, errBad) {
						t.Errorf("the %d. finding: %v", n, err)
					}
				}
				if found, err := check.All(t.Context(), db); !errors.Is(err, errBad) || found != nil || n != 2 {
					t.Errorf("found %v, %v, after %d", found, err, n)
				}
				if _, err := check.Job().Run(t.Context(), db, model.JobOptions{}); !errors.Is(err, errBad) ||
					!strings.Contains(err.Error(), check.Name) {
					t.Error(err)
				}
			})
		})
	}
	untold := negatives(0)
	untold.Tell = nil
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := stocked(t.Context(), db, 5, -1); err != nil {
			t.Fatal(err)
		}
		if found, err := untold.All(t.Context(), db); err != nil || fmt.Sprint(found) != "[stocks 2: {_id: 2, qty: -1}]" {
			t.Errorf("found %v, %v", found, err)
		}
	})
}

// The job of a check mends batch by batch. It is run dry, narrowed, stopped, and goes on by its checkpoint.
func TestCheckJob(t *testing.T) {
	monitor := mongotest.NewMonitor()
	stop := errors.New("enough")
	for reason, check := range map[string]model.Check{"a pipeline": negatives(0), "reads": negativesByReads(0)} {
		t.Run(reason, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				if err := stocked(t.Context(), db, 5, -1, -2, 3, 4, 5, -7, 8); err != nil {
					t.Fatal(err)
				}
				job := check.Job()
				job.Stages[0].BatchSize = 3
				monitor.Reset()
				dry, err := job.Run(t.Context(), db, model.JobOptions{DryRun: true})
				if err != nil || dry.Documents != 8 || dry.Writes != 3 || dry.Modified != 0 || dry.Batches != 3 ||
					inStock(t, db) != "5 -1 -2 3 4 5 -7 8" {
					t.Errorf("a dry run: %+v, %v, %s", dry, err, inStock(t, db))
				}
				narrow := check.In(d("shelf", "a")).Job()
				narrow.Stages[0].BatchSize = 1
				if p, err := narrow.Run(t.Context(), db, model.JobOptions{}); err != nil || p.Documents != 4 || p.Modified != 2 ||
					inStock(t, db) != "5 -1 0 3 4 5 0 8" {
					t.Errorf("narrowed: %+v, %v, %s", p, err, inStock(t, db))
				}
				if err := stocked(t.Context(), db, 5, -1, -2, 3, 4, 5, -7, 8); err != nil {
					t.Fatal(err)
				}
				some, err := job.Run(t.Context(), db, model.JobOptions{
					Checkpoint: "jobs",
					Progress:   func(model.Progress) error { return stop },
				})
				if err != stop || some.Done || some.Modified != 2 || inStock(t, db) != "5 0 0 3 4 5 -7 8" {
					t.Errorf("stopped: %+v, %v, %s", some, err, inStock(t, db))
				}
				mustRun(t, db, model.NewPlan(stocks.Update(1, d("$set", d("qty", -9))))) // behind it
				monitor.Reset()
				rest, err := job.Run(t.Context(), db, model.JobOptions{Checkpoint: "jobs"})
				// Two batches, of an _id read, a check and a checkpoint, one of them with a write; two reads that find no more; the
				// checkpoint before and after.
				if cost := monitor.Cost(); cost.Commands != 2*3+1+2+2 {
					t.Errorf("%d commands: %v", cost.Commands, monitor.Commands())
				}
				if err != nil || !rest.Done || rest.Documents != 5 || rest.Modified != 1 || inStock(t, db) != "-9 0 0 3 4 5 0 8" {
					t.Errorf("gone on: %+v, %v, %s", rest, err, inStock(t, db))
				}
				after := model.JobOptions{From: model.Progress{After: rawOf(int32(1))}}
				if p, err := job.Run(t.Context(), db, after); err != nil || p.Modified != 0 ||
					inStock(t, db) != "-9 0 0 3 4 5 0 8" {
					t.Errorf("after the first: %+v, %v, %s", p, err, inStock(t, db))
				}
				if p, err := job.Run(t.Context(), db, model.JobOptions{}); err != nil || p.Modified != 1 ||
					inStock(t, db) != "0 0 0 3 4 5 0 8" {
					t.Errorf("again from the start: %+v, %v, %s", p, err, inStock(t, db))
				}
			}, monitor)
		})
	}
}

// A finding about a document names it; one about none is plain text too.
func TestFindingString(t *testing.T) {
	for _, test := range []struct {
		f    model.Finding
		want string
	}{
		{model.Finding{Collection: "parts", ID: rawOf("nut"), Problem: "is lost"}, "parts 'nut': is lost"},
		{model.Finding{Collection: "parts", Problem: "are lost"}, "parts: are lost"},
	} {
		if got := test.f.String(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
