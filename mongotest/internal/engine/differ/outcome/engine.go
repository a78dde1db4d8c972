package outcome

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// StartEngine returns a backend on a new engine, which ends with the test.
func StartEngine(t testing.TB) *Backend {
	t.Helper()
	e := engine.New()
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	client, err := mongo.Connect(options.Client().
		ApplyURI("mongodb://engine.local/?directConnection=true").SetDialer(e))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	b, err := NewBackend(context.Background(), "engine", client.Database("differ"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
