package model_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// TestAfterVisitsEachOnce pages over documents with many ties, by several sorts and page sizes.
func TestAfterVisitsEachOnce(t *testing.T) {
	hostile := []string{"$where", "a.b", "^.*", "a\x00b", "|", "é", "", "\U0001F600"}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(5, 6))
		var docs []part
		for i := range 60 {
			docs = append(docs, part{ID: int32(i * 7 % 60), Name: hostile[r.IntN(len(hostile))], Qty: r.Int32N(4)})
		}
		mustRun(t, db, parts.InsertMany(docs))
		for _, sort := range []bson.D{
			nil, d("_id", -1), d("qty", 1), d("qty", -1), d("name", 1, "qty", -1), d("qty", 1, "name", -1),
			d("name", 1, "_id", -1), d("_id", 1, "qty", 1),
		} {
			for _, size := range []int64{1, 7, 60} {
				var seen []part
				page := parts.Find(d("qty", d("$gte", 0))).Sorted(sort).Limited(size)
				for last := []any(nil); len(seen) <= len(docs); {
					got, err := page.After(last...).All(t.Context(), db)
					if err != nil {
						t.Fatal(err)
					}
					if len(got) == 0 {
						break
					}
					seen, last = append(seen, got...), lastValues(page.After(), got[len(got)-1])
				}
				want, err := parts.Find(nil).Sorted(sort).After().All(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(seen, want) {
					t.Errorf("by %s, %d at a time: %d documents, want %d in another order or number", model.Shell(sort),
						size, len(seen), len(want))
				}
			}
		}
	})
}

func lastValues(page *model.Find[part], last part) []any {
	var out []any
	for _, e := range page.Sort {
		out = append(out, map[string]any{"_id": last.ID, "name": last.Name, "qty": last.Qty}[e.Key])
	}
	return out
}

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
	}, mongotest.WithMonitor(monitor))
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
	}, mongotest.WithMonitor(monitor))
}

// TestCommandIsWhatIsSent compares Command with what a monitor sees, all options set.
func TestCommandIsWhatIsSent(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	monitor := mongotest.NewMonitor()
	client := mongotest.NewClient(t, mongotest.WithMonitor(monitor))
	db := client.Database("test")
	mustRun(t, db, manyParts(2))
	if err := model.New("test", wants{ix("name", 1)}).Indexes().Ensure(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	ro := model.ReadOptions{
		Hint: "name_1", Comment: "why", Let: d("x", 1), BatchSize: 5, AllowDiskUse: true,
		ReadConcern: readconcern.Local(), ReadPreference: readpref.Primary(),
	}
	find := parts.Find(d("name", "old")).Sorted(d("name", 1)).Limited(3)
	find.Skip, find.Projection, find.Options = 1, d("name", 1), ro
	agg := parts.Aggregate(mongo.Pipeline{d("$match", d("name", "old")), d("$limit", int64(1))})
	agg.Options = ro
	modify := parts.Unchecked().Modify(d("name", "old"), d("$set", d("items.$[e].x", 1)))
	modify.ArrayFilters, modify.Sort, modify.Projection, modify.After = bson.A{d("e.y", 1)},
		d("name", 1), d("name", 1), true
	modify.Options = model.ModifyOptions{Hint: "name_1", Comment: "why", Let: d("x", 1)}
	remove := &model.Modify[part]{
		FindAndModify: model.FindAndModify{
			Collection: "parts", Filter: d("name", "old"), Sort: d("name", 1), Remove: true, Options: modify.Options,
		},
	}
	modify.Update = d("$set", d("items", bson.A{}))
	modify.ArrayFilters = nil
	for _, c := range []struct {
		want bson.D
		run  func() error
	}{
		{find.Command(), func() error { _, err := find.All(t.Context(), db); return err }},
		{agg.Command(), func() error { _, err := agg.All(t.Context(), db); return err }},
		{modify.Command(), func() error { _, err := modify.Run(t.Context(), db); return err }},
		{remove.Command(), func() error { _, err := remove.Run(t.Context(), db); return err }},
	} {
		monitor.Reset()
		if err := c.run(); err != nil {
			t.Errorf("%s: %v", model.Shell(c.want), err)
		}
		sent := map[string]any{}
		for _, e := range must(monitor.Commands()[0].Body.Elements()) {
			switch e.Key() {
			case "lsid", "$db", "txnNumber", "$clusterTime", "readConcern", "$readPreference": // the driver's
			default:
				sent[e.Key()] = model.Shell(e.Value())
			}
		}
		want := map[string]any{}
		for _, e := range c.want {
			want[e.Key] = model.Shell(e.Value)
		}
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Errorf("%s (-Command +sent):\n%s", c.want[0].Key, diff)
		}
	}
}

// TestPlanOptionsAreSent: the options of a plan go with each of its commands.
func TestPlanOptionsAreSent(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	monitor := mongotest.NewMonitor()
	db := mongotest.NewClient(t, mongotest.WithMonitor(monitor),
		mongotest.WithClientOptions(options.Client())).Database("test")
	p := model.NewPlan(parts.Insert(part{ID: 1}), parts.Delete(2), mergeInto("parts", d("$out", "copy")))
	p.Options = model.PlanOptions{Comment: "why", BypassDocumentValidation: true, AllowPartial: true}
	if _, err := p.Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, c := range monitor.Commands() {
		if c.Body.Lookup("comment").String() != `"why"` ||
			c.Name != "delete" && !c.Body.Lookup("bypassDocumentValidation").Boolean() {
			t.Errorf("sent %s", c)
		}
	}
}
