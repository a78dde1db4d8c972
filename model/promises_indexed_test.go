package model_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// Everything that a lease sends finds its lock document by _id, among many.
func TestLeaseIndexed(t *testing.T) {
	tenancy.Differs(t, "the lock document is named by the tenant")
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i := range 200 {
			if _, err := db.Collection("locks").InsertOne(t.Context(), d("_id", i)); err != nil {
				t.Fatal(err)
			}
		}
		held := &model.Lease{Collection: "locks", ID: "tree"}
		monitor.Reset()
		if _, _, err := pairOf(held).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		filters := 0
		for _, c := range monitor.Commands() {
			if c.Collection != "locks" {
				continue
			}
			for _, at := range [][]string{{"filter"}, {"query"}, {"updates", "0", "q"}, {"deletes", "0", "q"}} {
				var filter bson.D
				raw, ok := c.Body.Lookup(at...).DocumentOK()
				if !ok {
					continue
				}
				if err := bson.Unmarshal(raw, &filter); err != nil {
					t.Fatal(err)
				}
				filters++
				modeltest.WantIndexed(t, db, docsAny.Named("locks").Find(filter), model.IDIndex)
			}
		}
		if filters < 3 {
			t.Errorf("%d filters on the lock document: %v", filters, monitor.Commands())
		}
	}, mongotest.WithMonitor(monitor))
}

// An index that Ensure made serves the query that it is for.
func TestIndexesServe(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, manyParts(500), model.NewPlan(parts.Insert(part{ID: 900, Name: "rare"})))
		named := ix("name", 1)
		if err := model.New("test", wants{named}, model.Entity(parts, ix("qty", 1))).Indexes().
			Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		modeltest.WantIndexed(t, db, parts.Find(d("name", "rare")), named.Name)
		modeltest.WantIndexed(t, db, parts.Find(d("qty", d("$gt", 0))), "qty_1")
	})
}
