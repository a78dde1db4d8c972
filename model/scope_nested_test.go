package model_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A document that is deleted under two scopes is marked by both, and hidden under each of them.
func TestScopeNestedDelete(t *testing.T) {
	tenancy.Differs(t, "what is deleted isn't counted")
	inner, outer := model.Scope{Delete: d("gone", "inner")}, model.Scope{
		Delete: d("deleted", "outer"), Set: d("changed", 1),
	}
	same := model.Scope{Delete: d("deleted", "inner")}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		docs := model.NewCollection[bson.D, int]("parts")
		for _, test := range []struct {
			name    string
			nested  model.DB
			one     model.Scope
			another model.Scope
			marks   bson.D
		}{
			{"two fields", inner.On(outer.On(db)), inner, outer, d("gone", "inner", "deleted", "outer")},
			{"the other way", outer.On(inner.On(db)), inner, outer, d("gone", "inner", "deleted", "outer")},
			{"one field", same.On(outer.On(db)), same, outer, d("deleted", "outer")},
		} {
			for id, run := range map[int]model.Plan{
				1: model.NewPlan(docs.Delete(1)),
				2: model.NewPlan(model.Write{Collection: "parts", Model: &mongo.DeleteManyModel{Filter: d("_id", 2)}}),
			} {
				if err := db.Collection("parts").Drop(t.Context()); err != nil {
					t.Fatal(err)
				}
				mustRun(t, db, docs.InsertMany([]bson.D{d("_id", 1), d("_id", 2), d("_id", 3)}))
				if _, err := run.Run(t.Context(), test.nested); err != nil {
					t.Fatalf("%s: %v", test.name, err)
				}
				if n, err := docs.Find(test.marks).Count(t.Context(), db); n != 1 || err != nil {
					t.Errorf("%s: %d documents have both marks, %v", test.name, n, err)
				}
				for _, on := range []model.DB{test.nested, test.one.On(db), test.another.On(db)} {
					if n, err := docs.Find(d("_id", id)).Count(t.Context(), on); n != 0 || err != nil {
						t.Errorf("%s: the document is seen, %v", test.name, err)
					}
					if n, err := docs.Find(nil).Count(t.Context(), on); n != 2 || err != nil {
						t.Errorf("%s: %d documents are seen, %v", test.name, n, err)
					}
				}
			}
		}
	})
}

// One tenant's lock documents are the same, however often and in whichever order its scopes are put on.
func TestScopeNestedNames(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	a, b := model.Scope{Tenant: d("tenant", "a")}, model.Scope{Tenant: d("branch", 1)}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, same := range [][]model.DB{
			{a.On(db), a.On(a.On(db))},
			{a.On(b.On(db)), b.On(a.On(db)), a.On(b.On(a.On(db)))},
		} {
			if _, err := db.Collection("pairs").DeleteMany(t.Context(), d()); err != nil {
				t.Fatal(err)
			}
			for _, own := range same {
				if _, _, err := pairOf(lease).Run(t.Context(), own); err != nil {
					t.Fatal(err)
				}
			}
			if n, err := db.Collection("locks").CountDocuments(t.Context(), d()); int(n) != i+1 || err != nil {
				t.Errorf("%d lock documents, %v; want %d", n, err, i+1)
			}
		}
	})
}
