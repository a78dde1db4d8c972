package mongotest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// EnvURI is the name of the environment variable with a real server's URI. See [Each].
const EnvURI = "MONGODB_URI"

// Each runs f as the subtest "engine", with an empty database of an in-memory server. If
// MONGODB_URI is set, Each runs f again as the subtest "server", with an empty database
// of that real server.
//
// If f uses a feature that some servers lack, begin f with [Need], such as
// Need(t, db, Transactions).
func Each(t *testing.T, f func(t *testing.T, db *mongo.Database), opts ...Option) {
	t.Helper()
	eachBackend(t, func(t *testing.T, b *backend) {
		t.Helper()
		f(t, b.mustConnect(t, opts...).Database(b.newName(t)))
	})
}

// A backend is an engine or a real server. Several clients may connect to it.
type backend struct {
	name      string // of the subtest
	uri       string
	dialer    options.ContextDialer // nil means TCP
	engine    *engine.Engine        // nil for a real server
	companion testserver.Companion  // takes part in all commands, as the other tenant of DOCMODEL_TENANT; nil for none
	plain     *mongo.Client         // a client without monitors and faults; nil for an engine, which is discarded
}

// engineURI names no host. The long heartbeat interval keeps sleeping for days in a
// bubble cheap.
const engineURI = "mongodb://engine.local/?heartbeatFrequencyMS=3600000"

func newEngine() (*backend, func() error) {
	e := engine.New()
	b := &backend{name: testserver.EngineName, uri: engineURI, dialer: e, engine: e}
	if testserver.NewCompanion != nil {
		b.companion = testserver.NewCompanion(b)
	}
	return b, e.Close
}

func cleanUp(t testing.TB, stop func() error) {
	t.Helper()
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("mongotest: %v", err)
		}
	})
}

// eachBackend runs f once for each backend. An engine lives as long as its subtest.
func eachBackend(t *testing.T, f func(t *testing.T, b *backend)) {
	t.Helper()
	t.Run(testserver.EngineName, func(t *testing.T) {
		b, stop := newEngine()
		cleanUp(t, stop)
		if b.companion != nil {
			b.companion.Check(t)
		}
		f(t, b)
	})
	uri := os.Getenv(EnvURI)
	if uri == "" {
		return
	}
	t.Run(testserver.ServerName, func(t *testing.T) {
		b := &backend{name: testserver.ServerName, uri: uri}
		b.plain = b.mustConnect(t)
		t.Cleanup(testserver.Register(t.Name(), b))
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := b.plain.Ping(ctx, nil); err != nil {
			t.Fatalf("mongotest: the server that %s names: %v", EnvURI, err)
		}
		f(t, b)
	})
}

var (
	// processName distinguishes this process's databases from others' on the same server.
	processName  = "dm_" + strings.ToLower(rand.Text()[:6])
	lastDatabase atomic.Int64
)

// newName returns an unused database name, and drops the database when the test ends.
func (b *backend) newName(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("%s_%d", processName, lastDatabase.Add(1))
	if b.plain != nil {
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			if err := b.plain.Database(name).Drop(ctx); err != nil {
				t.Errorf("mongotest: drop the test's database %s: %v", name, err)
			}
		})
	}
	return name
}
