package schema_test

import (
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// In a document that holds a field twice the first version is looked at, as the server does.
func TestSchemaRepeatedField(t *testing.T) {
	type inner struct {
		SKU string `bson:"sku"`
	}
	type doc struct {
		ID    int32            `bson:"_id"`
		Name  string           `bson:"name"`
		Inner inner            `bson:"inner"`
		More  map[string]int32 `bson:"more,omitempty"`
	}
	docs := model.NewCollection[doc, int32]("docs")
	s := schema.Of(docs, schema.Spec{})
	db := mongotest.NewClient(t).Database("schema")
	whole := bson.D{{Key: "sku", Value: "s"}}
	for i, c := range []struct {
		reason string
		fields bson.D
		ok     bool
	}{
		{
			reason: "the first version is right",
			fields: bson.D{{Key: "name", Value: "a"}, {Key: "inner", Value: whole}, {Key: "name", Value: 1}},
			ok:     true,
		},
		{
			reason: "the last is right",
			fields: bson.D{{Key: "name", Value: 1}, {Key: "inner", Value: whole}, {Key: "name", Value: "a"}},
			ok:     false,
		},
		{
			reason: "inside, the first version is right",
			fields: bson.D{{Key: "name", Value: "a"}, {Key: "inner", Value: append(whole[:1:1], bson.E{Key: "sku", Value: 1})}},
			ok:     true,
		},
		{
			reason: "inside, the last is right",
			fields: bson.D{{Key: "name", Value: "a"}, {Key: "inner", Value: append(bson.D{{Key: "sku", Value: 1}}, whole...)}},
			ok:     false,
		},
		{"of no field of the type each counts", bson.D{{Key: "name", Value: "a"}, {Key: "inner", Value: whole},
			{Key: "more", Value: bson.D{{Key: "k", Value: int32(1)}, {Key: "k", Value: "x"}}}}, false},
	} {
		raw, err := bson.Marshal(append(bson.D{{Key: "_id", Value: int32(i)}}, c.fields...))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.ValidateRaw(raw); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.reason, err)
		}
		if _, err := db.Collection("docs").InsertOne(t.Context(), bson.Raw(raw)); err != nil {
			t.Fatal(err)
		}
		n, err := db.Collection("docs").
			CountDocuments(t.Context(), append(bson.D{{Key: "_id", Value: int32(i)}}, s.Validation().Validator...))
		if err != nil || (n == 1) != c.ok {
			t.Errorf("%s: the engine finds %d, %v", c.reason, n, err)
		}
	}
}
