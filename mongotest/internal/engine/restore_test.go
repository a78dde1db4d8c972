package engine_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// An engine that is restored has what the other one has, with its indexes, and what is written to one doesn't show in
// the other.
func TestRestore(t *testing.T) {
	ctx := context.Background()
	client, from := start(t)
	c := client.Database("test").Collection("things")
	insert(t, c, `{"_id": 2, "k": 1}`, `{"_id": 1, "k": 2}`)
	unique := mongo.IndexModel{Keys: bson.D{{Key: "k", Value: 1}}, Options: options.Index().SetUnique(true)}
	if _, err := c.Indexes().CreateOne(ctx, unique); err != nil {
		t.Fatal(err)
	}
	other, into := start(t)
	d := other.Database("test").Collection("things")
	insert(t, d, `{"_id": 9, "k": 9}`)
	insert(t, other.Database("test").Collection("gone"), `{"_id": 9}`)
	session, err := other.StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.EndSession(ctx)
	if err := session.StartTransaction(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.InsertOne(mongo.NewSessionContext(ctx, session), bson.D{{Key: "_id", Value: 8}}); err != nil {
		t.Fatal(err)
	}
	into.Restore(from)
	if err := session.CommitTransaction(ctx); err == nil {
		t.Error("a transaction that was open when the engine was restored has committed")
	}
	const both = `things {"_id":1,"k":2} things {"_id":2,"k":1} `
	if got := listDocuments(t, into); got != both {
		t.Errorf("restored: %s", got)
	}
	if _, err := d.InsertOne(ctx, bson.D{{Key: "_id", Value: 3},
		{Key: "k", Value: 1}}); !mongo.IsDuplicateKeyError(err) {
		t.Errorf("the unique index is not there: %v", err)
	}
	insert(t, d, `{"_id": 4, "k": 4}`)
	if got := listDocuments(t, from); got != both {
		t.Errorf("the other engine has changed: %s", got)
	}
	insert(t, c, `{"_id": 5, "k": 5}`)
	if got := listDocuments(t, into); got != both+`things {"_id":4,"k":4} ` {
		t.Errorf("after writing to the other: %s", got)
	}
}

// listDocuments returns the documents of an engine.
func listDocuments(t *testing.T, e *engine.Engine) (out string) {
	for name, doc := range e.Documents("test") {
		out += name + " " + show(t, doc) + " "
	}
	return out
}
