package testkit

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// SeedAlone empties all collections and stores the documents.
func SeedAlone(t testing.TB, db *mongo.Database, d Docs) {
	t.Helper()
	if err := emptied(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := Store(t.Context(), db, d); err != nil {
		t.Fatal(err)
	}
}

// WantDocsInAnyOrder is [WantDocs] without an order.
func WantDocsInAnyOrder(t testing.TB, db *mongo.Database, want Docs) {
	t.Helper()
	for name, list := range want {
		cur, err := db.Collection(name).Find(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		got := []any{}
		for cur.Next(t.Context()) {
			got = append(got, bson.Raw(bytes.Clone(cur.Current)))
		}
		if err := cur.Err(); err != nil {
			t.Fatal(err)
		}
		if diff := mongotest.Diff(sortedDocs(t, list), sortedDocs(t, got), mongotest.IgnoreOrder); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// sortedDocs encodes documents and puts them in one order.
func sortedDocs(t testing.TB, list []any) []bson.Raw {
	t.Helper()
	out := make([]bson.Raw, len(list))
	for i, d := range list {
		raw, err := bson.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = raw
	}
	slices.SortFunc(out, func(a, b bson.Raw) int {
		return strings.Compare(model.Shell(a.Lookup("_id")), model.Shell(b.Lookup("_id")))
	})
	return out
}

// MustSeed runs seed and returns a context for the test.
func MustSeed(t *testing.T, db *mongo.Database, seed func(context.Context, *mongo.Database) error) context.Context {
	t.Helper()
	if err := seed(context.Background(), db); err != nil {
		t.Fatal(err)
	}
	return context.Background()
}
