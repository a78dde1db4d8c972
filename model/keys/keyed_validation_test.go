package keys_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A validation made from the documents' types accepts the _ids of tenants, and is found unchanged.
func TestKeyedValidation(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, "validation", func(ctx context.Context, db *mongo.Database) error {
			return db.CreateCollection(ctx, "probe")
		})
		own := worldModel.On(db)
		for _, v := range []model.Validation{
			schema.Of(worldLetters, schema.Spec{}).Validation(),
			schema.Of(worldRooms, schema.Spec{}).Validation(),
		} {
			for name, on := range map[string]model.DB{"base": own, "tenant": keyedTenant(own, "a")} {
				if err := v.Ensure(t.Context(), on); err != nil {
					t.Fatal(err)
				}
				if _, differs, err := v.Diff(t.Context(), on); err != nil || len(differs) > 0 {
					t.Errorf("%s: %v, %v", name, differs, err)
				}
			}
		}
		for _, name := range []string{"a", "b"} {
			_, err := model.NewPlan(
				worldLetters.Insert(keyedLetter{ID: "alice_001"}), worldRooms.Insert(keyedRoom{ID: keyedRoomID{"a", 1, "x"}}),
			).Run(t.Context(), keyedTenant(own, name))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		bad := model.Write{
			Collection: "wLetters",
			Model:      &mongo.InsertOneModel{Document: bson.D{{Key: "_id", Value: "x"}, {Key: "text", Value: 1}}},
		}
		if _, err := bad.Run(t.Context(), keyedTenant(own, "a")); err == nil {
			t.Error("an invalid document was stored")
		}
	})
}
