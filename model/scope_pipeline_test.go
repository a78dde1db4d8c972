package model_test

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// TestScopeMergeKeepsTenant: a $merge updates the tenant's own documents, and they stay so.
func TestScopeMergeKeepsTenant(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Feature{Name: "$merge with a pipeline", Probe: func(
			ctx context.Context, db *mongo.Database,
		) error {
			c := db.Collection("probe")
			_, err := c.InsertOne(ctx, d("_id", 1))
			if err == nil {
				_, err = c.Aggregate(ctx, mongo.Pipeline{
					d("$merge", d("into", "probe", "on", "_id", "whenMatched", bson.A{d("$set", d("x", 1))})),
				})
			}
			_ = c.Drop(ctx)
			return err
		}})
		unique := model.NewIndex("totals", bson.D{{Key: "tenant", Value: 1}, {Key: "part", Value: 1}})
		unique.Unique = true
		if err := (model.IndexSet{Needed: []model.Index{unique}}).Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		own := model.Scope{Tenant: d("tenant", "a")}.On(db)
		docs, totals := model.NewCollection[bson.D, int32]("parts"), model.NewCollection[bson.D, int32]("totals")
		mustRun(t, own,
			model.NewPlan(docs.Insert(d("_id", 1, "part", "nut", "n", 2)), totals.Insert(d("_id", 7, "part", "nut"))))
		away := bson.A{d("$set", d("tenant", "b", "n", "$$new.n"))}
		_, err := model.NewPlan(model.MergeInto{Collection: "parts", Idempotent: true, Pipeline: mongo.Pipeline{
			d("$project", d("_id", 0, "part", 1, "n", 1)),
			d("$merge", d("into", "totals", "on", bson.A{"tenant", "part"}, "whenMatched", away)),
		}}).Run(t.Context(), own)
		var got bson.D
		if err := errors.Join(err, db.Collection("totals").FindOne(t.Context(), bson.D{}).Decode(&got)); err != nil ||
			model.Shell(got) != "{_id: 7, part: 'nut', tenant: 'a', n: 2}" {
			t.Errorf("%s, %v", model.Shell(got), err)
		}
	})
}

// TestScopeMergeOn: a $merge may match on the tenant alone, in each form that "on" has.
func TestScopeMergeOn(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	db := mongotest.NewClient(t).Database("test")
	unique := model.NewIndex("sums", bson.D{{Key: "tenant", Value: 1}})
	unique.Unique = true
	if err := (model.IndexSet{Needed: []model.Index{unique}}).Ensure(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	own := model.Scope{Tenant: d("tenant", "a")}.On(db)
	parts := model.NewCollection[bson.D, int32]("parts")
	mustRun(t, own, model.NewPlan(parts.Insert(d("_id", 1, "n", 2))))
	raw := bson.RawValue{Type: bson.TypeString, Value: []byte("\x07\x00\x00\x00tenant\x00")}
	for i, on := range []any{"tenant", raw, []string{"tenant"}, bson.A{"tenant"}, bson.A{raw}} {
		_, err := model.NewPlan(model.MergeInto{Collection: "parts", Idempotent: true, Pipeline: mongo.Pipeline{
			d("$project", d("_id", 0, "n", d("$add", bson.A{"$n", i}))), d("$merge", d("into", "sums", "on", on)),
		}}).Run(t.Context(), own)
		var got struct {
			Tenant string
			N      int
		}
		if err := errors.Join(err, db.Collection("sums").FindOne(t.Context(), bson.D{}).Decode(&got)); err != nil ||
			got.Tenant != "a" || got.N != 2+i {
			t.Errorf("on %T: %v, %v", on, got, err)
		}
	}
}
