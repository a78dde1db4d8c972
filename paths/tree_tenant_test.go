package paths_test

import (
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A tenant's tree is checked against the tenant's own lock document, which goes on above numbers that it doesn't know
// of.
func TestTenantLocks(t *testing.T) {
	// of nobody's tree, or another tenant's
	locks := bson.D{{Key: "_id", Value: "parents"}, {Key: "fence", Value: int64(1)}}
	k := pathstest.Kinds[0]
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if _, err := db.Collection("docmodel.locks").InsertOne(t.Context(), locks); err != nil {
			t.Fatal(err)
		}
		ctx, tenant := t.Context(), model.Scope{Tenant: bson.D{{Key: "tenant", Value: "a"}}}.On(db)
		insert := func(id string) {
			t.Helper()
			if _, err := pathstest.InsertNode(id, paths.LastRoot[string]())(k).Run(ctx, tenant); err != nil {
				t.Fatal(err)
			}
		}
		insert("x")
		insert("y")
		if report, err := pathstest.Inspect(ctx, tenant, k.Tree); err != nil || len(report) > 0 {
			t.Errorf("%v, %v", report, err)
		}
		k.Put(t, db, "x", bson.D{{Key: "change", Value: int64(500)}})
		if report, err := pathstest.Inspect(ctx, tenant, k.Tree); err != nil || len(report) != 1 ||
			pathstest.ReadKind(report[0]) != "change" {
			t.Errorf("%v, %v", report, err)
		}
		if _, err := pathstest.MendTree(k.Tree).Run(ctx, tenant); err != nil {
			t.Error(err)
		}
		if report, err := pathstest.Inspect(ctx, tenant, k.Tree); err != nil || len(report) > 0 {
			t.Errorf("after the repair: %v, %v", report, err)
		}
	})
}
