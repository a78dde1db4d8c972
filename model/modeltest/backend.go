package modeltest

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/mongotest"
)

// A backend is an in-memory server or a real server. Several clients may connect to it.
type backend struct {
	server testserver.Server // nil in verify_two.go, which uses only new in-memory servers
	plain  *mongo.Client     // a client of a real server, without monitors and faults; else nil
}

// eachBackend runs f once for each backend of [mongotest.Each].
func eachBackend(t *testing.T, f func(t *testing.T, b *backend)) {
	t.Helper()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) { f(t, backendOf(db.Client())) })
}

// backendOf returns the backend of a client of package mongotest.
func backendOf(client *mongo.Client) *backend {
	b := &backend{server: testserver.Find(client)}
	if b.server.IsReal() {
		b.plain = client
	}
	return b
}

// newEngine returns a new in-memory server, and its first client. Both are closed when the
// test ends. A standalone server has no transactions.
func newEngine(t testing.TB, standalone bool) (*backend, *mongo.Client) {
	t.Helper()
	var opts []mongotest.Option
	if standalone {
		opts = append(opts, mongotest.Settings{Standalone: true})
	}
	client := mongotest.NewClient(t, opts...)
	return backendOf(client), client
}

// mustConnect returns a client, which is closed when the test ends.
func (b *backend) mustConnect(t testing.TB, layers ...testserver.Layer) *mongo.Client {
	t.Helper()
	client, disconnect, err := b.server.Connect(nil, layers...)
	if err != nil {
		t.Fatalf("modeltest: %v", err)
	}
	t.Cleanup(disconnect)
	return client
}

// need skips a case that needs transactions on a server without them, and a case that
// needs a standalone server on a real server.
func (b *backend) need(t *testing.T, transactions, standalone bool) {
	t.Helper()
	switch {
	case transactions:
		mongotest.Need(t, b.mustConnect(t).Database("admin"), mongotest.Transactions)
	case standalone && b.plain != nil:
		t.Skip(testserver.Lacks + "the choice to be a standalone server")
	}
}

// newCommand reads name and collection from a command's body.
func newCommand(database string, body bson.Raw) mongotest.Command {
	name, collection := testserver.ParseCommand(body)
	return mongotest.Command{Name: name, Database: database, Collection: collection, Body: body}
}
