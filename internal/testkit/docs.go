package testkit

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// E returns a field of a document.
func E(key string, v any) bson.E { return bson.E{Key: key, Value: v} }

// Marshal encodes a document.
func Marshal(d bson.D) bson.Raw {
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return raw
}

// Token returns the n-th operation's token.
func Token(n int) bson.ObjectID { return bson.ObjectID{0x38, 0x6d, 0x43, 0x80, 11: byte(n)} }

// Docs are the documents of each collection, in _id order.
type Docs map[string][]any

// Seed empties the collections and stores the documents.
func Seed(t testing.TB, db *mongo.Database, d Docs) {
	t.Helper()
	for name := range d {
		if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := Store(t.Context(), db, d); err != nil {
		t.Fatal(err)
	}
}

// Store inserts the documents.
func Store(ctx context.Context, db *mongo.Database, d Docs) error {
	for name, list := range d {
		if len(list) == 0 {
			continue
		}
		if _, err := db.Collection(name).InsertMany(ctx, list); err != nil {
			return err
		}
	}
	return nil
}

// Stored returns a function that runs [Store].
func Stored(d Docs) DBFunc {
	return func(ctx context.Context, db *mongo.Database) error { return Store(ctx, db, d) }
}

// Updates sends another program's updates: pairs of an _id and an update.
func Updates(ctx context.Context, db *mongo.Database, collection string, list ...any) error {
	for i := 0; i < len(list); i += 2 {
		if _, err := db.Collection(collection).UpdateByID(ctx, list[i], list[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// emptied empties all collections.
func emptied(ctx context.Context, db *mongo.Database) error {
	names, err := db.ListCollectionNames(ctx, bson.D{})
	for _, name := range names {
		_, e := db.Collection(name).DeleteMany(ctx, bson.D{})
		err = errors.Join(err, e)
	}
	return err
}

// WantDocs tests that the collections have exactly these documents.
func WantDocs(t testing.TB, db *mongo.Database, want Docs) {
	t.Helper()
	for name, list := range want {
		cur, err := db.Collection(name).Find(t.Context(), bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
		if err != nil {
			t.Fatal(err)
		}
		got := []bson.D{}
		if err := cur.All(t.Context(), &got); err != nil {
			t.Fatal(err)
		}
		if diff := mongotest.Diff(list, got, mongotest.IgnoreOrder); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}
