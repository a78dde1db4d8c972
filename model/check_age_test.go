package model_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A finding that says since when it stands is mended by that, at once or not at all.
func TestCheckAgeBySince(t *testing.T) {
	for reason, check := range map[string]model.Check{
		"a pipeline": negatives(time.Minute), "reads": negativesByReads(time.Minute),
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, db := t.Context(), mongotest.NewClient(t).Database("x")
				if err := stocked(ctx, db, -1, -2, 3); err != nil {
					t.Fatal(err)
				}
				now := time.Now()
				mustRun(t, db, model.NewPlan(
					stocks.Update(1, d("$set", d("since", now.Add(-time.Minute-time.Second)))),
					stocks.Update(2, d("$set", d("since", now.Add(-time.Minute+time.Second)))),
				))
				for _, want := range []string{"0 -2 3", "0 -2 3"} {
					if _, err := check.Job().Run(ctx, db, model.JobOptions{}); err != nil || inStock(t, db) != want {
						t.Errorf("stored %s, want %s, %v", inStock(t, db), want, err)
					}
				}
				if waited := time.Since(now); waited > time.Second {
					t.Errorf("waited %s", waited)
				}
				if found, err := check.All(ctx, db); err != nil || len(found) != 1 ||
					!found[0].Since.Equal(now.Add(-time.Minute+time.Second).Truncate(time.Millisecond)) {
					t.Errorf("found %v, %v", found, err)
				}
				check.Age = 30 * time.Second // on a copy: what a user may change
				if _, err := check.Job().Run(ctx, db, model.JobOptions{}); err != nil || inStock(t, db) != "0 0 3" {
					t.Errorf("by another age: %s, %v", inStock(t, db), err)
				}
			})
		})
	}
}

// A finding that doesn't say since when is mended if a second look, as much later as the age, finds the same: not what
// is new, what has changed, or what is gone.
func TestCheckAgeByLookingTwice(t *testing.T) {
	bare := func(c model.Check) model.Check { // whose findings have no details
		read := c.Read
		c.Read = func(ctx context.Context, db model.DB, filter bson.D) iter.Seq2[model.Finding, error] {
			return func(yield func(model.Finding, error) bool) {
				for f, err := range read(ctx, db, filter) {
					f.Detail = nil
					if !yield(f, err) {
						return
					}
				}
			}
		}
		c.Mend = func(found []model.Finding) (p model.Plan) {
			for _, f := range found {
				p.Steps = append(p.Steps, stocks.Update(f.ID.Int32(), d("$set", d("qty", int32(0)))))
			}
			return p
		}
		return c
	}
	for reason, check := range map[string]model.Check{
		"a pipeline": negatives(time.Minute), "reads": negativesByReads(time.Minute),
		"without details": bare(negativesByReads(time.Minute)),
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, db := t.Context(), mongotest.NewClient(t).Database("x")
				if err := stocked(ctx, db, -1, -2, -3, 4, 5, -6); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				mustRun(t, db, model.NewPlan(stocks.Update(6, d("$set", d("since", start.Add(-time.Hour))))))
				go func() { // as the test's goroutine waits in the job
					time.Sleep(30 * time.Second)
					_, err := model.NewPlan(
						stocks.Update(2, d("$set", d("qty", -20))), stocks.Update(3, d("$set", d("qty", 30))),
						stocks.Update(4, d("$set", d("qty", -40))),
					).Run(ctx, db)
					if got := inStock(t, db); err != nil || got != "-1 -20 30 -40 5 0" { // the last says that it is old
						t.Errorf("mended before its time: %s, %v", got, err)
					}
				}()
				job := check.Job()
				job.Stages[0].BatchSize = 2 // all batches wait together
				p, err := job.Run(ctx, db, model.JobOptions{})
				if got := inStock(t, db); err != nil || p.Modified != 2 || p.Batches != 3 || got != "0 -20 30 -40 5 0" {
					t.Errorf("%+v, %v: %s", p, err, got)
				}
				if waited := time.Since(start); waited < time.Minute || waited > time.Minute+time.Second {
					t.Errorf("waited %s", waited)
				}
				short, cancel := context.WithTimeout(ctx, 10*time.Second)
				defer cancel()
				if _, err := check.Job().Run(short, db, model.JobOptions{}); !errors.Is(err, context.DeadlineExceeded) ||
					inStock(t, db) != "0 -20 30 -40 5 0" {
					t.Errorf("a context that ends: %v, %s", err, inStock(t, db))
				}
			})
		})
	}
}

// A check of a MendAll mends at once what it finds; dry, it counts that.
func TestCheckMendAll(t *testing.T) {
	for _, finds := range []model.Check{negatives(0), negativesByReads(0)} {
		check := finds
		check.Mend = nil
		check.MendAll = func(ctx context.Context, db model.DB, _ time.Duration) (model.Result, error) {
			return model.NewPlan(updateManyOf("stocks", d("qty", d("$lt", 0)), d("$set", d("qty", int32(0))))).Run(ctx, db)
		}
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			if err := stocked(t.Context(), db, 5, -1, -2); err != nil {
				t.Fatal(err)
			}
			told := 0
			o := model.JobOptions{Progress: func(p model.Progress) error { told++; return nil }}
			if p, err := check.Job().Run(t.Context(), db, model.JobOptions{DryRun: true}); err != nil || p.Writes != 2 ||
				p.Modified != 0 || !p.Done || inStock(t, db) != "5 -1 -2" {
				t.Errorf("a dry run: %+v, %v", p, err)
			}
			if p, err := check.Job().Run(t.Context(), db, o); err != nil || p.Modified != 2 || p.Batches != 1 || !p.Done ||
				told != 1 || inStock(t, db) != "5 0 0" {
				t.Errorf("%+v, told %d times, %v", p, told, err)
			}
			o.Progress = func(model.Progress) error { return errBad }
			if _, err := check.Job().Run(t.Context(), db, o); err != errBad {
				t.Errorf("an error of Progress: %v", err)
			}
			bad := check
			bad.MendAll = func(context.Context, model.DB, time.Duration) (model.Result, error) {
				return model.Result{}, errBad
			}
			if p, err := bad.Job().Run(t.Context(), db, model.JobOptions{}); !errors.Is(err, errBad) || p.Done {
				t.Errorf("an error of MendAll: %+v, %v", p, err)
			}
			_, err := check.In(d("_id", 2)).Job().Run(t.Context(), db, model.JobOptions{})
			if bad := (*model.ValueError)(nil); !errors.As(err, &bad) {
				t.Errorf("narrowed: %v", err)
			}
		})
	}
}

func updateManyOf(collection string, filter, update bson.D) model.Write {
	return model.Write{Collection: collection, Idempotent: true, Model: &mongo.UpdateManyModel{Filter: filter, Update: update}}
}

// Bad input is refused by all, and nothing is sent.
func TestCheckRefuses(t *testing.T) {
	pure, blind, reads := negatives(0), negatives(0), negativesByReads(0)
	pure.Mend, blind.Pipeline = nil, nil
	failed, failedReads := negatives(0), negativesByReads(0)
	failed.Err, failedReads.Err = errBad, errBad
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := stocked(t.Context(), db, -1); err != nil {
			t.Fatal(err)
		}
		monitor.Reset()
		run := func(c model.Check) error {
			_, err := c.Job().Run(t.Context(), db, model.JobOptions{})
			return err
		}
		all := func(c model.Check) error { _, err := c.All(t.Context(), db); return err }
		code := d("qty", func() {})
		for reason, err := range map[string]error{
			"no Mend": run(pure), "no Mend, in part": run(pure.In(d("_id", 1))), "no Pipeline": run(blind),
			"found by no Pipeline": all(blind), "a pipeline of reads": reads.Find().Err,
			"a filter that can't be sent": all(pure.In(code)), "reads by such a filter": all(reads.In(code)),
			"a job by such a filter": run(negatives(0).In(code)), "an error": all(failed), "an error of reads": all(failedReads),
			"an error of a job": run(failed), "an error that is there before": all(failed.In(code)),
		} {
			if err == nil {
				t.Errorf("%s is taken", reason)
			}
		}
		if err := all(failed.In(code)); !errors.Is(err, errBad) {
			t.Errorf("the first error is lost: %v", err)
		}
		job := negatives(0)
		job.Name = ""
		if _, err := job.Job().Run(t.Context(), db, model.JobOptions{Checkpoint: "jobs"}); err == nil {
			t.Error("a checkpoint without a name is taken")
		}
		if n := monitor.Cost().Commands; n != 0 {
			t.Errorf("%d commands: %v", n, monitor.Commands())
		}
	}, monitor)
	reads.Queries = []*model.Aggregate[bson.Raw]{negatives(0).Find()}
	if got, want := reads.String(), negatives(0).String(); got != want {
		t.Errorf("reads show as %s, not %s", got, want)
	}
}

// A tenant's check finds and mends what is the tenant's own, alone and as a job.
func TestCheckOfTenant(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	a, b := tenantOf("a"), tenantOf("b")
	whole := negatives(0)
	whole.Mend = nil
	whole.MendAll = func(ctx context.Context, db model.DB, _ time.Duration) (model.Result, error) {
		return model.NewPlan(updateManyOf("stocks", d("qty", d("$lt", 0)), d("$set", d("qty", int32(0))))).Run(ctx, db)
	}
	for reason, check := range map[string]model.Check{
		"a pipeline": negatives(0), "reads": negativesByReads(0), "all at once": whole,
	} {
		t.Run(reason, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mustRun(t, db, model.Scoped(a, stocks.InsertMany([]checkedStock{{ID: 1, Qty: -1}, {ID: 2, Qty: 2}})),
					model.Scoped(b, stocks.InsertMany([]checkedStock{{ID: 3, Qty: -3}, {ID: 4, Qty: -4}})),
					model.Scoped(b, model.NewPlan(stocks.Delete(4))))
				for want, tenant := range map[string]model.Scope{"[stocks 1: qty is -1]": a, "[stocks 3: qty is -3]": b} {
					if found, err := check.All(t.Context(), tenant.On(db)); err != nil || fmt.Sprint(found) != want {
						t.Errorf("found %v, want %s, %v", found, want, err)
					}
				}
				if p, err := check.Job().Run(t.Context(), a.On(db), model.JobOptions{}); err != nil || p.Modified != 1 ||
					inStock(t, db) != "0 2 -3 -4" {
					t.Errorf("of a: %+v, %v, %s", p, err, inStock(t, db))
				}
				if p, err := check.Job().Run(t.Context(), b.On(db), model.JobOptions{}); err != nil || p.Modified != 1 ||
					inStock(t, db) != "0 2 0 -4" {
					t.Errorf("of b: %+v, %v, %s", p, err, inStock(t, db))
				}
			})
		})
	}
}

// A check's job that is cut anywhere is completed by the next run, by its checkpoint too.
func TestCheckFaults(t *testing.T) {
	for reason, check := range map[string]model.Check{"a pipeline": negatives(0), "reads": negativesByReads(0)} {
		t.Run(reason, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Sample: 4,
				Seed:   func(ctx context.Context, db *mongo.Database) error { return stocked(ctx, db, -1, 2, -3, -4, 5) },
				Run: func(ctx context.Context, db *mongo.Database) error {
					job := check.Job()
					job.Stages[0].BatchSize = 3
					_, err := job.Run(ctx, db, model.JobOptions{Checkpoint: "jobs"})
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) {
					if got := inStock(t, db); got != "0 2 0 0 5" {
						t.Errorf("stored %s", got)
					}
				},
			})
		})
	}
}
