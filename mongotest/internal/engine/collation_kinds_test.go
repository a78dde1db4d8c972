package engine_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Indexes that compare no strings under a collation refuse one, a default one too, unless the simple one is named.
// https://www.mongodb.com/docs/manual/reference/collation/
func TestCollationOfOtherIndexes(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	must(t, db.CreateCollection(t.Context(), "c", options.CreateCollection().SetCollation(insensitive)))
	for _, c := range []struct {
		reason string
		keys   bson.D
		by     *options.Collation
		code   int
	}{
		{"text, by default", bson.D{{Key: "a", Value: "text"}}, nil, 67},
		{"2d", bson.D{{Key: "a", Value: "2d"}}, insensitive, 67},
		{"a wildcard", bson.D{{Key: "$**", Value: 1}}, nil, 238},
		{"text, simple", bson.D{{Key: "a", Value: "text"}}, &options.Collation{Locale: "simple"}, 0},
		{"a wildcard, simple", bson.D{{Key: "$**", Value: 1}}, &options.Collation{Locale: "simple"}, 0},
		{"2dsphere, by default", bson.D{{Key: "g", Value: "2dsphere"}}, nil, 0},
	} {
		o := options.Index()
		if c.by != nil {
			o.SetCollation(c.by)
		}
		_, err := db.Collection("c").Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: c.keys, Options: o})
		if c.code == 0 {
			must(t, err)
			continue
		}
		wantCode(t, c.reason, err, c.code)
	}
}

// Views and time series have no collation here. A view compares under that of the command, as what it reads does.
func TestCollationOfViewsAndSeries(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	fruit := fill(t, db, "fruit", "apple", "Apple", "pear")
	wantCode(t, "a view's",
		db.CreateView(t.Context(), "v", "fruit", bson.A{}, options.CreateView().SetCollation(insensitive)), 238)
	wantCode(t, "a time series'",
		db.CreateCollection(t.Context(), "s", options.CreateCollection().SetCollation(insensitive).
			SetTimeSeriesOptions(options.TimeSeries().SetTimeField("at"))), 238)
	must(t, db.CreateView(t.Context(), "v", "fruit", bson.A{}))
	for _, c := range []*mongo.Collection{fruit, db.Collection("v")} {
		n, err := c.CountDocuments(t.Context(), bson.D{{Key: "s", Value: "APPLE"}}, options.Count().SetCollation(insensitive))
		if err != nil || n != 2 {
			t.Errorf("%s: %d apples, %v", c.Name(), n, err)
		}
		cur, err := c.Find(t.Context(), bson.D{{Key: "s", Value: "APPLE"}}, options.Find().SetCollation(insensitive))
		if got := foundIDs(t, cur, err); len(got) != 2 {
			t.Errorf("%s: found %v", c.Name(), got)
		}
	}
}
