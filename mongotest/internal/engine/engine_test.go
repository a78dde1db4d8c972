package engine_test

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// start returns a client of a fresh engine, and the engine.
func start(t testing.TB, more ...*options.ClientOptions) (*mongo.Client, *engine.Engine) {
	t.Helper()
	e := engine.New()
	all := append([]*options.ClientOptions{options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e)}, more...)
	client, err := mongo.Connect(all...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Disconnect(context.Background()); err != nil {
			t.Error(err)
		}
		e.Close()
	})
	return client, e
}

// collection returns an empty collection of a fresh engine.
func collection(t testing.TB) *mongo.Collection {
	t.Helper()
	client, _ := start(t)
	return client.Database("test").Collection("things")
}

// doc reads a document in extended JSON.
func doc(t testing.TB, s string) bson.D {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(s), false, &d); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return d
}

// show writes a document as extended JSON.
func show(t testing.TB, v any) string {
	t.Helper()
	b, err := bson.MarshalExtJSON(v, false, false)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func insert(t testing.TB, c *mongo.Collection, docs ...string) {
	t.Helper()
	for _, s := range docs {
		if _, err := c.InsertOne(context.Background(), doc(t, s)); err != nil {
			t.Fatalf("inserting %s: %v", s, err)
		}
	}
}

// wantAll holds what a collection has, in the order of insertion.
func wantAll(t testing.TB, c *mongo.Collection, want ...string) {
	t.Helper()
	wantFound(t, c, `{}`, options.Find(), want...)
}

func wantFound(t testing.TB, c *mongo.Collection, filter string, opts *options.FindOptionsBuilder, want ...string) {
	t.Helper()
	cur, err := c.Find(context.Background(), doc(t, filter), opts)
	if err != nil {
		t.Fatalf("find %s: %v", filter, err)
	}
	var got []bson.D
	if err := cur.All(context.Background(), &got); err != nil {
		t.Fatalf("find %s: %v", filter, err)
	}
	if len(got) != len(want) {
		t.Fatalf("find %s: %d documents, want %d: %v", filter, len(got), len(want), got)
	}
	for i := range got {
		if s := show(t, got[i]); s != want[i] {
			t.Errorf("find %s: document %d is\n%s, want\n%s", filter, i, s, want[i])
		}
	}
}

// wantCode holds that err is a server's error of that code.
func wantCode(t testing.TB, what string, err error, code int) {
	t.Helper()
	var e mongo.ServerError
	if !errors.As(err, &e) || !e.HasErrorCode(code) {
		t.Errorf("%s: %v, want code %d", what, err, code)
	}
}
