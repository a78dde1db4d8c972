package model_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// slowChecks are checks of which each finds so many things in its own time, and says how many run.
func slowChecks(checks, each int, running, most *atomic.Int32) (out []model.Check) {
	for i := range checks {
		out = append(out, model.Check{
			Name: fmt.Sprint("check ", i), Collection: "parts",
			Read: func(ctx context.Context, _ model.DB, _ bson.D) iter.Seq2[model.Finding, error] {
				return func(yield func(model.Finding, error) bool) {
					if n := running.Add(1); n > most.Load() {
						most.Store(n)
					}
					defer running.Add(-1)
					time.Sleep(time.Duration(checks-i) * time.Millisecond) // the last is the fastest
					for n := range each {
						if !yield(model.Finding{Problem: fmt.Sprint(i, " ", n)}, ctx.Err()) {
							return
						}
					}
				}
			},
		})
	}
	return out
}

func problemsOf(t *testing.T, a model.Audit, db model.DB) (out []string) {
	t.Helper()
	for f, err := range a.Each(t.Context(), db) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f.Problem)
	}
	return out
}

// Several checks are read at a time, and no more than asked for. The findings come as they come one after another.
func TestAuditReaders(t *testing.T) {
	var running, most atomic.Int32
	client, stop := mongotest.Start()
	defer stop()
	db := client.Database("readers")
	want := problemsOf(t, model.Audit{Checks: slowChecks(9, 150, &running, &most)}, db)
	if most.Load() != 1 || len(want) != 9*150 {
		t.Fatalf("%d findings, %d checks at a time", len(want), most.Load())
	}
	most.Store(0)
	var stages []int
	a := model.Audit{Checks: slowChecks(9, 150, &running, &most), Readers: 4, Progress: func(p model.Progress) error {
		stages = append(stages, p.Stage, int(p.Left))
		return nil
	}}
	if got := problemsOf(t, a, db); !slices.Equal(got, want) {
		t.Errorf("%d findings, or in another order", len(got))
	}
	if n := most.Load(); n < 2 || n > 4 {
		t.Errorf("%d checks at a time", n)
	}
	if len(stages) != 20 || stages[17] != 8*150 {
		t.Errorf("told %v", stages)
	}
}

// Whoever stops early, or meets an error or a panic, leaves nothing running.
func TestAuditReadersStop(t *testing.T) {
	var running, most atomic.Int32
	client, stop := mongotest.Start()
	defer stop()
	db := client.Database("readers")
	a := model.Audit{Checks: slowChecks(9, 500, &running, &most), Readers: 4}
	for range a.Each(t.Context(), db) {
		break
	}
	if n := running.Load(); n != 0 {
		t.Errorf("%d checks run on", n)
	}
	a.Checks[1].Err = errBad
	var last error
	n := 0
	for _, err := range a.Each(t.Context(), db) {
		if n, last = n+1, err; err != nil {
			continue
		}
	}
	if !errors.Is(last, errBad) || n != 501 || running.Load() != 0 {
		t.Errorf("%v after %d", last, n)
	}
	a.Checks[1] = model.Check{
		Name: "panics",
		Read: func(context.Context, model.DB, bson.D) iter.Seq2[model.Finding, error] { panic("broken") },
	}
	func() {
		defer func() {
			if p := recover(); p != "broken" || running.Load() != 0 {
				t.Errorf("panicked with %v", p)
			}
		}()
		for range a.Each(t.Context(), db) {
		}
	}()
	var bad *model.ValueError
	for _, err := range (model.Audit{Readers: -1}).Each(t.Context(), db) {
		if !errors.As(err, &bad) {
			t.Errorf("of a negative number: %v", err)
		}
	}
	if bad == nil {
		t.Error("a negative number is not refused")
	}
}

// The checks of a model find the same, also in a transaction.
func TestAuditReadersOfModel(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := damaged(t.Context(), db, 40); err != nil {
			t.Fatal(err)
		}
		want, a := problemsOf(t, choir.Audit(), db), choir.Audit()
		a.Readers = 3
		if got := problemsOf(t, a, db); !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("found %q, want %q", got, want)
		}
		mongotest.Need(t, db, mongotest.Transactions)
		err := model.InTx(t.Context(), db, func(ctx context.Context) error {
			n := 0
			for _, err := range a.Each(ctx, db) {
				if n++; err != nil {
					return err
				}
			}
			if n != len(want) {
				t.Errorf("in a transaction: %d findings", n)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
