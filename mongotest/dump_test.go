package mongotest_test

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/mongotest"
)

const golden = `{
"a": [
  {"_id":{"$numberInt":"2"},"when":{"$date":{"$numberLong":"5"}}},
  {"_id":"x","n":{"$numberLong":"1"}}
],
"b c": [],
"d": [
  {"_id":{"z":{"$numberInt":"1"},"a":{"$numberDouble":"0.5"}},"list":[null,{}]}
]
}
`

func TestDumpAndLoad(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		empty, err := mongotest.Dump(ctx, db)
		if err != nil || empty != "{}\n" {
			t.Errorf("an empty database: %q, %v", empty, err)
		}
		if err := mongotest.Load(ctx, db, empty); err != nil {
			t.Errorf("nothing: %v", err)
		}
		docs := []any{
			bson.D{{Key: "_id", Value: "x"}, {Key: "n", Value: int64(1)}},
			bson.D{{Key: "_id", Value: 2}, {Key: "when", Value: time.UnixMilli(5)}},
		}
		if _, err := db.Collection("a").InsertMany(ctx, docs); err != nil {
			t.Fatal(err)
		}
		if err := mongotest.Load(ctx, db,
			`{"b c": [], "d": [{"_id": {"z": {"$numberInt": "1"}, "a": {"$numberDouble": "0.5"}}, "list": [null, {}]}]}`); err != nil {
			t.Fatal(err)
		}
		got, err := mongotest.Dump(ctx, db)
		if err != nil || got != golden {
			t.Errorf("%v\n%s", err, got)
		}
	})
}

// The name of a collection can contain what Go and JSON write in different ways.
func TestDumpNames(t *testing.T) {
	ctx := context.Background()
	db := mongotest.NewClient(t).Database("names")
	for _, name := range []string{"a\x01b", "ä\"<&", "tab\t"} {
		if err := db.CreateCollection(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	first, err := mongotest.Dump(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	other := mongotest.NewClient(t).Database("names")
	if err := mongotest.Load(ctx, other, first); err != nil {
		t.Fatalf("%v\n%s", err, first)
	}
	if again, err := mongotest.Dump(ctx, other); err != nil || again != first {
		t.Errorf("%v\n%s\nbefore:\n%s", err, again, first)
	}
}

func TestLoadGolden(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		if err := mongotest.Load(ctx, db, golden); err != nil {
			t.Fatal(err)
		}
		if got, err := mongotest.Dump(ctx, db); err != nil || got != golden {
			t.Errorf("%v\n%s", err, got)
		}
		if err := mongotest.Load(ctx, db, golden); !mongo.IsDuplicateKeyError(err) {
			t.Errorf("loaded twice: %v", err)
		}
	})
}

func TestLoadRefuses(t *testing.T) {
	db := mongotest.NewClient(t).Database("x")
	ctx := context.Background()
	for _, text := range []string{"", "[]", "{", `{"a": 1}`, `{"a": [{"_id": {"$numberInt": "1"}}], "b": [2]}`} {
		if err := mongotest.Load(ctx, db, text); err == nil {
			t.Errorf("%q was loaded", text)
		}
	}
	if got, err := mongotest.Dump(ctx, db); err != nil || got != "{}\n" {
		t.Errorf("something was stored: %s, %v", got, err)
	}
}
