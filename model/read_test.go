package model_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// TestReads: what each kind of read returns, and what it costs.
func TestReads(t *testing.T) {
	tenancy.Differs(t, "a findAndModify that removes is refused under a scope that marks")
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, manyParts(10))
		ctx := t.Context()
		check := func(want model.Cost, reason string, f func() error) {
			t.Helper()
			t.Run(reason, func(t *testing.T) { modeltest.WantCost(t, monitor, want, f) })
		}
		equal := func(got, want any) error {
			if diff := cmp.Diff(want, got); diff != "" {
				return errors.New(diff)
			}
			return nil
		}
		all := parts.Find(nil).Sorted(d("_id", 1))
		check(model.Cost{Commands: 1, Returned: 10}, "All", func() error {
			got, err := all.All(ctx, db)
			return errors.Join(err, equal(len(got), 10))
		})
		small := all
		small.Options.BatchSize = 3
		check(model.Cost{Commands: 4, Returned: 10}, "All, in batches", func() error {
			_, err := small.All(ctx, db)
			return err
		})
		check(model.Cost{Commands: 2, Returned: 3}, "Each, ended early: its cursor is closed", func() error {
			for _, err := range small.Each(ctx, db) {
				return err
			}
			return nil
		})
		check(parts.ByID(3).Cost(), "One", func() error {
			got, err := parts.ByID(3).One(ctx, db)
			return errors.Join(err, equal(got, part{3, "old", 0}))
		})
		check(model.Cost{Commands: 1}, "One of none", func() error {
			_, err := parts.ByID(99).One(ctx, db)
			if !errors.Is(err, model.ErrNotFound) || !errors.Is(err, mongo.ErrNoDocuments) {
				return fmt.Errorf("%w is not ErrNotFound", err)
			}
			return nil
		})
		check(model.Cost{Commands: 1, Returned: 1}, "Count, less what is skipped", func() error {
			f := all.Limited(4)
			f.Skip = 8
			n, err := f.Count(ctx, db)
			return errors.Join(err, equal(n, int64(2)))
		})
		check(model.Cost{Commands: 1, Returned: 2}, "Project", func() error {
			type name struct{ Name string }
			got, err := model.Project[name](parts.Find(d("_id", d("$lte", 2)))).All(ctx, db)
			return errors.Join(err, equal(got, []name{{"old"}, {"old"}}))
		})
		check(model.Cost{Commands: 1, Returned: 1}, "Aggregate", func() error {
			type sum struct{ N int32 }
			got, err := model.AggregateAs[sum](parts, mongo.Pipeline{d("$group", d("_id", nil, "n", d("$sum", 1)))}).One(ctx, db)
			return errors.Join(err, equal(got, sum{10}))
		})
		check(model.Cost{Commands: 1, Returned: 10}, "raw documents outlive their batch", func() error {
			f := &model.Find[bson.Raw]{Query: model.Query{Collection: "parts", Sort: d("_id", 1)}}
			got, err := f.All(ctx, db)
			return errors.Join(err, equal(got[0].Lookup("_id").Int32(), int32(1)),
				equal(got[9].Lookup("_id").Int32(), int32(10)))
		})
		modify := parts.Modify(d("_id", 1), d("$inc", d("qty", 1)))
		check(modify.Cost(), "Modify returns what was", func() error {
			got, err := modify.Run(ctx, db)
			return errors.Join(err, equal(got, part{1, "old", 0}))
		})
		modify.After = true
		check(modify.Cost(), "Modify returns what is", func() error {
			got, err := modify.Run(ctx, db)
			return errors.Join(err, equal(got, part{1, "old", 2}))
		})
		check(modify.Cost(), "Modify removes", func() error {
			got, err := (&model.Modify[part]{
				FindAndModify: model.FindAndModify{Collection: "parts", Filter: d("_id", 1), Remove: true},
			}).Run(ctx, db)
			return errors.Join(err, equal(got, part{1, "old", 2}))
		})
		if _, err := modify.Run(ctx, db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("Modify of none: %v", err)
		}
		upsert := parts.Modify(d("_id", 1), d("$set", d("name", "new")))
		upsert.Upsert = true
		if _, err := upsert.Run(ctx, db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("Modify that inserts returns what was: %v", err)
		}
		for range 2 {
			n := 0
			seq := all.Each(ctx, db)
			for _, err := range seq {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			if n != 10 {
				t.Errorf("the sequence ranged again has %d", n)
			}
		}
	}, monitor)
}

// TestReadErrors: what is refused sends nothing.
func TestReadErrors(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		bad := parts.Find(nil).Limited(-1)
		let := parts.Find(nil)
		let.Options.Let = d("x", 1)
		monitor.Reset()
		for name, err := range map[string]error{
			"All": second(bad.All(t.Context(), db)), "One": second(bad.One(t.Context(), db)),
			"Count":          second(bad.Count(t.Context(), db)),
			"Count with Let": second(let.Count(t.Context(), db)),
			"Aggregate":      second(parts.Aggregate(mongo.Pipeline{d("$match", d("a", func() {}))}).All(t.Context(), db)),
			"Modify":         second(parts.Modify(d("a", func() {}), d("$set", d("a", 1))).Run(t.Context(), db)),
			"Modify nothing": second(parts.Modify(nil, nil).Run(t.Context(), db)),
			"Remove and change": second((&model.Modify[part]{
				FindAndModify: model.FindAndModify{Collection: "parts", Remove: true, Update: d("$set", d("a", 1))},
			}).Run(t.Context(), db)),
			"no collection": second((&model.Find[part]{}).All(t.Context(), db)),
		} {
			if err == nil || errors.Is(err, model.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if cost := monitor.Cost(); cost.Commands != 0 {
			t.Errorf("sent %v", monitor.Commands())
		}
		slow := parts.Find(nil)
		slow.Options.MaxTime = time.Nanosecond
		if _, err := slow.All(t.Context(), db); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("MaxTime: %v", err)
		}
	}, monitor)
}
