package model_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A nil filter, which is refused because it would match every document, is refused under a scope too: the scope's
// conditions don't make it a filter.
func TestScopeNilFilter(t *testing.T) {
	set := d("$set", d("a", 2))
	parts := model.NewCollection[bson.D, any]("parts")
	modify := func(m *model.Modify[bson.D]) func(db model.DB) error {
		return func(db model.DB) error { _, err := m.Run(t.Context(), db); return err }
	}
	write := func(m mongo.WriteModel) func(db model.DB) error {
		return func(db model.DB) error {
			_, err := model.Write{Collection: "parts", Model: m}.Run(t.Context(), db)
			return err
		}
	}
	remove := parts.Modify(nil, nil)
	remove.Remove = true
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		c := db.Collection("parts")
		if _, err := c.InsertMany(t.Context(), []any{
			d("_id", 1, "tenant", "a", "a", 1), d("_id", 2, "tenant", "b", "a", 1),
		}); err != nil {
			t.Fatal(err)
		}
		for reason, run := range map[string]func(model.DB) error{
			"modify": modify(parts.Modify(nil, set)), "modify that removes": modify(remove),
			"updateOne":               write(&mongo.UpdateOneModel{Filter: bson.D(nil), Update: set}),
			"updateMany":              write(&mongo.UpdateManyModel{Filter: bson.D(nil), Update: set}),
			"updateMany of a nil Raw": write(&mongo.UpdateManyModel{Filter: bson.Raw(nil), Update: set}),
			"replaceOne":              write(&mongo.ReplaceOneModel{Filter: bson.D(nil), Replacement: d("a", 2)}),
			"deleteOne":               write(&mongo.DeleteOneModel{Filter: bson.D(nil)}),
			"deleteMany":              write(&mongo.DeleteManyModel{Filter: bson.D(nil)}),
		} {
			for name, s := range map[string]model.Scope{
				"a tenant":                    {Tenant: d("tenant", "a")},
				"a tenant with soft deletion": {Tenant: d("tenant", "a"), Delete: d("gone", true)}, "stamps": {Set: d("x", 1)},
			} {
				var refused *model.ValueError
				if err := run(s.On(db)); !errors.As(err, &refused) && !(reason == "modify that removes" && s.Delete != nil) {
					t.Errorf("%s under %s: %v", reason, name, err)
				}
			}
		}
		wantStored(t, c, "{_id: 1, tenant: 'a', a: 1} {_id: 2, tenant: 'b', a: 1}")
	})
}
