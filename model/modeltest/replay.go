package modeltest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/engine/pipe"
)

// EnvRecord is the environment variable by which [Replay] records. "server" records on the server that MONGODB_URI names,
// "engine" on a fresh engine.
const EnvRecord = "DOCMODEL_RECORD"

// Replay returns a client that is answered from a recording: no server and no engine runs. A command that differs from the
// recorded one fails the test, which shows the difference field by field, and so does a recorded command that isn't sent.
// The client is closed when the test ends.
//
//	func TestCheckout(t *testing.T) {
//		client := modeltest.Replay(t, "testdata/checkout.replay")
//		…
//	}
//
// With DOCMODEL_RECORD set, the client has a real server, or an engine, and the file is written when the test has passed.
// A file whose recording would say the same is left alone.
//
//	DOCMODEL_RECORD=server MONGODB_URI=mongodb://… go test -run TestCheckout .
//	DOCMODEL_RECORD=engine go test -run TestCheckout .
//
// A recording begins with databases that have no collection, so that it finds the same each time. Replay asks the server
// about each database before the first command on it, refuses the commands on a database that has collections, and drops
// the others when the test ends. Tests that record on one server with the same database must not run at the same time.
//
// # What is compared
//
// A command is compared with its database, its fields in their order, and the BSON types of its values. These parts are
// not compared: sessions, the numbers of retryable writes, maxTimeMS, afterClusterTime, and the read preferences primary
// and primaryPreferred, because the driver sets them by itself. Commands of one transaction must be so in the recording.
//
// The ObjectIDs that this process generates, in the driver or by bson.NewObjectID, are new in each run. Replay lets each
// stand for the one at its place in the recording, and so in all later commands and replies, where an ObjectID may also
// be part of a string, in lower-case hexadecimal. Any other ObjectID is the test's own and must be the recorded one. All
// other values must be the same in each run: pass times and random values in as arguments.
//
// The commands of a client come one after the other, in the recorded order. Use [WithAnyOrder] if several goroutines send
// commands. A getMore, a killCursors, an error with its labels, an unacknowledged write, a broken connection, and a
// command that the client stopped waiting for are replayed as they were recorded. Replies come at once.
//
// # The file
//
// A recording is text: each command and each reply in extended JSON. It is the same when it is recorded again, because
// cursors, resume tokens, timestamps, generated ObjectIDs and UUIDs have numbers in the order in which they come. What a
// server computes from its clock or at random is not: $$NOW, $rand, $currentDate with a date. Keep it out of the replies.
//
// The file has no handshake, no credentials, no name of a host and nothing of the server's state. A command that would tell of these,
// such as serverStatus, listDatabases or createUser, can't be recorded and fails the test.
//
// # Options
//
// [WithMonitor] and [WithClientOptions] work as with [NewClient]. [WithFaults] acts between the client and the recording:
// the commands that faults let through are the recorded ones. [WithChangeLag], [WithTTL] and [WithClock] change an engine
// while it is recorded.
func Replay(t testing.TB, file string, opts ...Option) *mongo.Client {
	t.Helper()
	c := newConfig(opts)
	anyOrder := c.anyOrder
	c.anyOrder = false
	switch where := os.Getenv(EnvRecord); where {
	case "":
		return replay(t, file, c, anyOrder)
	case engineName:
		b, stop := newEngine()
		cleanUp(t, stop)
		return recordOn(t, b, file, c, anyOrder)
	case serverName:
		uri := os.Getenv(EnvURI)
		if uri == "" {
			t.Fatalf("modeltest: %s=server needs %s, the server to record on", EnvRecord, EnvURI)
		}
		return recordOn(t, &backend{name: serverName, uri: uri}, file, c, anyOrder)
	default:
		t.Fatalf("modeltest: %s is %q, want server or engine", EnvRecord, where)
	}
	return nil
}

// WithAnyOrder lets [Replay] take the commands in any order: for tests in which several goroutines send commands. A
// command then gets the reply of the first recorded command that is equal to it and has not been sent. All of the
// recorded commands must be sent, and none more often. Nothing waits: a reply may come before another goroutine sends
// the command that caused it.
//
// Recording fails without this option when a command is sent before the reply of another one has come.
func WithAnyOrder() Option { return func(c *config) { c.anyOrder = true } }

var errAnyOrder = errors.New("WithAnyOrder is an option of Replay alone")

// replay returns a client of a recording.
func replay(t testing.TB, file string, c *config, anyOrder bool) *mongo.Client {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("modeltest: Replay: there is no recording %s\n\tremedy: run the test once with %s=server and %s, or with %s=engine",
			file, EnvRecord, EnvURI, EnvRecord)
	}
	if err != nil {
		t.Fatalf("modeltest: Replay: %v", err)
	}
	s, err := parseSession(string(text))
	if err != nil {
		t.Fatalf("modeltest: Replay: %s: %v", file, err)
	}
	p := newPlayer(t, file, s, anyOrder)
	c.faults = append(c.faults, p.faults())
	client, err := mongo.Connect(c.clientOptions(replayURI, silentDialer{}))
	if err != nil {
		t.Fatalf("modeltest: Replay: %v", err)
	}
	t.Cleanup(func() {
		c.reset()
		ctx, cancel := context.WithTimeout(context.Background(), disconnectTimeout)
		defer cancel()
		_ = client.Disconnect(ctx) // an error says only that it was closed before
		p.end()
	})
	return client
}

// replayURI names no host, and has the driver ask only once whether the server is there.
const replayURI = "mongodb://replay.local/?heartbeatFrequencyMS=3600000"

// recordOn returns a client whose commands are recorded.
func recordOn(t testing.TB, b *backend, file string, c *config, anyOrder bool) *mongo.Client {
	t.Helper()
	plain := b.mustConnect(t)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	hello, err := plain.Database("admin").RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Raw()
	if err != nil {
		t.Fatalf("modeltest: Replay: record on the %s: %v", b.name, err)
	}
	r := newRecording(t, plain, hello, b.uri, anyOrder)
	c.faults = append(c.faults, r.faults())
	client, disconnect, err := b.connect(c)
	if err != nil {
		t.Fatalf("modeltest: Replay: %v", err)
	}
	t.Cleanup(func() {
		disconnect()
		r.dropAll()
		if t.Failed() || t.Skipped() {
			t.Logf("modeltest: Replay: %s is not written, because the test has not passed", file)
			return
		}
		if err := r.write(file); err != nil {
			t.Errorf("modeltest: Replay: %v", err)
		}
	})
	return client
}

// write stores the recording unless the file says the same.
func (r *recording) write(file string) error {
	if r.overlapped != "" && !r.anyOrder {
		return fmt.Errorf("%s: a command was sent before the reply of another one had come: %s\n\tremedy: give Replay the "+
			"option WithAnyOrder, or send one command at a time", file, r.overlapped)
	}
	text, err := r.session.text()
	if err != nil {
		return fmt.Errorf("%s: can't be recorded: %w", file, err)
	}
	if old, err := os.ReadFile(file); err == nil {
		if s, err := parseSession(string(old)); err == nil && r.anyOrder && s.sameInAnyOrder(r.session) {
			return nil
		}
		if string(old) == text {
			return nil
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o666)
}

// A silentDialer dials a server that says nothing. The answers are a [Faults]'s.
type silentDialer struct{}

func (silentDialer) DialContext(context.Context, string, string) (net.Conn, error) {
	client, _ := pipe.New()
	return client, nil
}
