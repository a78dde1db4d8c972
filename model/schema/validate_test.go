package schema_test

import (
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
)

// Validate names field, rule and value.
func TestViolations(t *testing.T) {
	title, nick := "d", "long nick"
	doc := sink{ID: "a", Prices: map[string]int32{"eur": 10}, SinkBase: SinkBase{
		Name: "c", Nick: &nick, Title: &title, N: 3, Price: 10.5, Tags: []string{"x", "x", "w", "y"},
		Lines: []sinkLine{{Qty: 1}, {Qty: 9}}, Any: bson.D{{Key: "deep", Value: true}},
	}}
	err := plain.Validate(doc)
	var all schema.Violations
	if !errors.As(err, &all) {
		t.Fatalf("got %v", err)
	}
	want := []string{
		"name enum", "nick maxLength", "title pattern", "n multipleOf", "price maximum", "price multipleOf", "tags maxItems",
		"tags.1 uniqueItems", "tags.2 enum", "lines.1.qty maximum", "any.deep bsonType", "prices.eur maximum",
	}
	var got []string
	for _, v := range all {
		got = append(got, v.Path+" "+v.Rule)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	var bad *model.ValueError
	if !errors.As(err, &bad) || bad.Field != "name" || bad.Collection != "sinks" {
		t.Errorf("no *model.ValueError of the first field: %v", bad)
	}
	if s := err.Error(); s != "docmodel: sinks: name: enum ['a', 'b', 'é']: 'c'; and 11 more" {
		t.Error(s)
	}
	if err := plain.Validate(sink{}); !errors.As(err, &bad) || bad.Field != "_id" {
		t.Errorf("a document without an _id: %v", err)
	}
	if err := plain.ValidateRaw(bson.Raw("short")); !errors.As(err, &bad) {
		t.Errorf("no BSON: %v", err)
	}
	if err := plain.ValidateRaw(bson.Raw{5, 0, 0, 0, 0}); !errors.As(err, &all) || all[0].Rule != "required" ||
		all[0].Value.Type != 0 {
		t.Errorf("an empty document: %v", err)
	}
}

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
