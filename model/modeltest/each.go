package modeltest

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

	"github.com/docmodel/docmodel/internal/engine"
)

// EnvURI is the name of the environment variable with a real server's URI. See [Each].
const EnvURI = "MONGODB_URI"

// The names of the subtests.
const (
	engineName = "engine"
	serverName = "server"
)

// Each runs f as the subtest "engine", with an empty database of an in-memory server. If
// MONGODB_URI is set, Each runs f again as the subtest "server", with an empty database
// of that real server.
//
// If f uses a feature that some servers lack, begin f with a Need function, such as
// [NeedTransactions].
func Each(t *testing.T, f func(t *testing.T, db *mongo.Database), opts ...Option) {
	t.Helper()
	eachBackend(t, func(t *testing.T, b *backend) {
		t.Helper()
		f(t, b.mustConnect(t, opts...).Database(b.newName(t)))
	})
}

// A backend is an engine or a real server. Several clients may connect to it.
type backend struct {
	name    string // of the subtest
	uri     string
	dialer  options.ContextDialer // nil means TCP
	engine  *engine.Engine        // nil for a real server
	tenants tenants
	plain   *mongo.Client // a client without monitors and faults; nil for an engine, which is discarded
}

// engineURI names no host. The long heartbeat interval keeps sleeping for days in a
// bubble cheap.
const engineURI = "mongodb://engine.local/?heartbeatFrequencyMS=3600000"

func newEngine() (*backend, func() error) {
	e := engine.New()
	return &backend{name: engineName, uri: engineURI, dialer: e, engine: e}, e.Close
}

// alone makes a new engine a standalone server.
func (b *backend) alone(standalone bool) {
	if standalone {
		b.engine.SetStandalone()
	}
}

// need skips a case that needs transactions on a server without them, and a case that
// needs a standalone server on a real server.
func (b *backend) need(t *testing.T, transactions, standalone bool) {
	t.Helper()
	switch {
	case transactions:
		NeedTransactions(t, b.mustConnect(t).Database("admin"))
	case standalone && b.engine == nil:
		t.Skip(lacks + "the choice to be a standalone server")
	}
}

func cleanUp(t testing.TB, stop func() error) {
	t.Helper()
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("modeltest: %v", err)
		}
	})
}

// eachBackend runs f once for each backend. An engine lives as long as its subtest.
func eachBackend(t *testing.T, f func(t *testing.T, b *backend)) {
	t.Helper()
	t.Run(engineName, func(t *testing.T) {
		b, stop := newEngine()
		cleanUp(t, stop)
		b.tenants.check(t, b)
		f(t, b)
	})
	uri := os.Getenv(EnvURI)
	if uri == "" {
		return
	}
	t.Run(serverName, func(t *testing.T) {
		b := &backend{name: serverName, uri: uri}
		b.plain = b.mustConnect(t)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := b.plain.Ping(ctx, nil); err != nil {
			t.Fatalf("modeltest: the server that %s names: %v", EnvURI, err)
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
				t.Errorf("modeltest: drop the test's database %s: %v", name, err)
			}
		})
	}
	return name
}

// onServer reports whether t is within a subtest "server" of [Each].
func onServer(t testing.TB) bool {
	for _, name := range strings.Split(t.Name(), "/") {
		if base, _, _ := strings.Cut(name, "#"); base == serverName {
			return true
		}
	}
	return false
}
