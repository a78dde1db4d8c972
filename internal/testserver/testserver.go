// Package testserver is what package mongotest shows of its servers, clients and connections to package modeltest, but
// not to programs. Tests of a model need more than mongotest exports: several clients of one server, a copy of a
// server's contents, and steps of their own for a command that a client sends.
//
// mongotest implements the interfaces and registers its servers. modeltest finds the server of a client that a test has
// from mongotest ([Find]), and goes on with it.
//
// # Words
//
//   - A [Server] is the embedded engine, or a real server of the tests.
//   - A [Layer] is between a client and its server. Its dialer makes the connections, so it sees all commands.
//   - An [Exchange] is one command that a layer holds: it may send it, answer by itself, or let the client die.
//   - A [Companion] takes part in all commands of a server in memory. With DOCMODEL_TENANT the other tenant is one.
//
// # Files
//
// command.go reads commands: their collection, their statements, whether they are in a transaction. It also cuts large
// commands for reports ([Clip]). database.go reads a whole collection, and checks that a server is replicated.
//
// Neither package is imported by the library's own code: internal/checks holds that.
package testserver

import (
	"iter"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A Server is an in-memory server or a real one. Several clients can connect to it.
type Server interface {
	// IsReal reports whether the server isn't in memory.
	IsReal() bool

	// Connect returns a client, and a function that closes the client. The layers see what
	// the client sends, the first layer first.
	Connect(o *options.ClientOptions, layers ...Layer) (client *mongo.Client, disconnect func(), err error)

	// URI and Dialer connect a client without anything that Connect adds. A nil dialer
	// means TCP.
	URI() string
	Dialer() options.ContextDialer

	// NewName returns the name of an unused database, which a real server drops when the
	// test ends.
	NewName(t testing.TB) string

	// Documents returns the documents of a database in memory, with the names of their
	// collections, sorted by name and _id.
	Documents(database string) iter.Seq2[string, bson.D]

	// Copy returns a server in memory that has the contents of this one. No client can
	// connect to the copy.
	Copy() (Server, error)

	// Restore replaces the contents of a server in memory by those of another.
	Restore(from Server)
}

// A Layer sees the commands of a client. A *mongotest.Faults is one.
type Layer interface {
	Dialer(next options.ContextDialer) options.ContextDialer
	Reset()
}

// An Exchange is a command on its way from a client to its server. A mongotest.Action
// handles it.
type Exchange interface {
	// Command returns the database and the whole body.
	Command() (database string, body bson.Raw)

	// IsUnacknowledged reports whether the client expects no reply.
	IsUnacknowledged() bool

	// Forward sends the command to the server. The client gets the server's reply.
	Forward() error

	// Send sends the body to the server instead of the command, or the command itself if
	// body is nil. It returns the reply. The client then needs an Answer.
	Send(body bson.Raw) (reply bson.Raw, err error)

	// Ask sends an additional command to the server, and returns the reply.
	Ask(command bson.D) (reply bson.Raw, err error)

	// Answer is what the client gets as the server's reply.
	Answer(reply bson.D) error

	// Wait waits for the signal, or until the client's faults are reset. Wait returns an
	// error if the client gives up.
	Wait(signal <-chan struct{}) error

	// Kill simulates the death of the client's process: nothing that the client sends
	// arrives anymore.
	Kill()
}

// A Companion takes part in all commands that go to one server in memory.
type Companion interface {
	// Handle handles a command, as a mongotest.Action does.
	Handle(x Exchange) error

	// Check is called at the beginning of a test, and can register a cleanup.
	Check(t testing.TB)
}

// NewCompanion returns the companion of a new server in memory. It is nil unless package
// modeltest runs the tests as one of several tenants.
var NewCompanion func(Server) Companion

var servers sync.Map // *registration by *mongo.Client, *mongotest.Monitor or the name of a test

type registration struct{ server Server }

// Register remembers the server of a client, a monitor or a test's name. The function forget ends this,
// unless the monitor got another client since.
func Register(key any, s Server) (forget func()) {
	r := &registration{s}
	servers.Store(key, r)
	return func() { servers.CompareAndDelete(key, r) }
}

// Find returns the server of an open client of package mongotest, or of the monitor of one.
// It returns nil for other clients and monitors.
func Find(key any) Server {
	r, ok := servers.Load(key)
	if !ok {
		return nil
	}
	return r.(*registration).server
}

// FindOfTest returns the real server of the subtest "server" of mongotest.Each in which t
// is, or nil.
func FindOfTest(t testing.TB) Server {
	for name := t.Name(); name != ""; {
		if s := Find(name); s != nil {
			return s
		}
		name = name[:max(0, strings.LastIndexByte(name, '/'))]
	}
	return nil
}

// The names of the subtests of mongotest.Each.
const (
	EngineName = "engine"
	ServerName = "server"
)

// Lacks begins the message of every skip. CI relies on it to compare both backends.
const Lacks = "server lacks: "

// IsOnServer reports whether t is within a subtest "server" of mongotest.Each.
func IsOnServer(t testing.TB) bool {
	for _, name := range strings.Split(t.Name(), "/") {
		if base, _, _ := strings.Cut(name, "#"); base == ServerName {
			return true
		}
	}
	return false
}
