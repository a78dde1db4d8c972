package core_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// A placed document has its new fields in the order in which the server's update appends them: by names, and names of
// digits by their numbers.
func TestPlaceUpdated(t *testing.T) {
	// Not every server sorts new fields.
	db := mongotest.NewClient(t).Database("placed")
	coll := db.Collection("docs")
	for id, set := range []bson.D{
		{{Key: "z", Value: 1}, {Key: "b.y", Value: 2}, {Key: "b.x", Value: 3}, {Key: "a", Value: 4}},
		{
			{Key: "m.10", Value: 1}, {Key: "m.9", Value: 2}, {Key: "m.010", Value: 3},
			{Key: "10", Value: 4}, {Key: "9", Value: 5},
		},
	} {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "a", Value: "old"}})
		if err != nil {
			t.Fatal(err)
		}
		_, placed, err := core.PlaceUpdated("docs", doc, set).MarshalBSONValue()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := coll.InsertOne(t.Context(), doc); err != nil {
			t.Fatal(err)
		}
		if _, err := coll.UpdateByID(t.Context(), id, bson.D{{Key: "$set", Value: set}}); err != nil {
			t.Fatal(err)
		}
		stored, err := coll.FindOne(t.Context(), bson.D{{Key: "_id", Value: id}}).Raw()
		if err != nil || string(stored) != string(placed) {
			t.Errorf("placed %s, stored %s, %v", model.Shell(bson.Raw(placed)), model.Shell(stored), err)
		}
	}
}
