package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// TestCommandIsWhatIsSent compares Command with what a monitor sees, all options set.
func TestCommandIsWhatIsSent(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	monitor := mongotest.NewMonitor()
	client := mongotest.NewClient(t, monitor)
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
