package mongotest

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

	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipe"
)

// EnvRecord is the name of the environment variable that makes [Replay] record. With the
// value "server", Replay records the server of MONGODB_URI. With "engine", Replay records
// a new server in memory.
const EnvRecord = "MONGOTEST_RECORD"

// Replay returns a client that gets its answers from a recording file, not from a server.
// The test fails if a command is missing or differs from the recording.
//
//	func TestCheckout(t *testing.T) {
//		client := mongotest.Replay(t, "testdata/checkout.replay")
//		…
//	}
//
// To record, set MONGOTEST_RECORD: see [EnvRecord]. A test that passes writes the file.
//
//	MONGOTEST_RECORD=server MONGODB_URI=mongodb://… go test -run TestCheckout .
//	MONGOTEST_RECORD=engine go test -run TestCheckout .
//
// While recording, use only new databases, which Replay drops at the end.
//
// # What is compared
//
// Each run must send the same commands, with equal values and BSON types. Only generated
// ObjectIDs and the driver's additions, such as sessions, can differ. Without
// [Settings].AnyOrder, the order must be the same. Avoid server values, such as $$NOW.
func Replay(t testing.TB, file string, opts ...Option) *mongo.Client {
	t.Helper()
	c := newConfig(opts)
	anyOrder := c.anyOrder
	c.anyOrder = false
	switch where := os.Getenv(EnvRecord); where {
	case "":
		return replay(t, file, c, anyOrder)
	case testserver.EngineName:
		b, stop := newEngine()
		cleanUp(t, stop)
		return recordOn(t, b, file, c, anyOrder)
	case testserver.ServerName:
		uri := os.Getenv(EnvURI)
		if uri == "" {
			t.Fatalf("mongotest: %s=server needs %s, the server to record on", EnvRecord, EnvURI)
		}
		return recordOn(t, &backend{name: testserver.ServerName, uri: uri}, file, c, anyOrder)
	default:
		t.Fatalf("mongotest: %s is %q, want server or engine", EnvRecord, where)
	}
	return nil
}

var errAnyOrder = errors.New("Settings.AnyOrder is for Replay alone")

// replay returns a client of a recording.
func replay(t testing.TB, file string, c *config, anyOrder bool) *mongo.Client {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("mongotest: Replay: there is no recording %s\n\tremedy: run the test once with %s=server and %s, or with %s=engine",
			file, EnvRecord, EnvURI, EnvRecord)
	}
	if err != nil {
		t.Fatalf("mongotest: Replay: %v", err)
	}
	s, err := parseSession(string(text))
	if err != nil {
		t.Fatalf("mongotest: Replay: %s: %v", file, err)
	}
	p := newPlayer(t, file, s, anyOrder)
	c.layers = append(c.layers, p.faults())
	client, err := mongo.Connect(c.clientOptions(replayURI, silentDialer{}))
	if err != nil {
		t.Fatalf("mongotest: Replay: %v", err)
	}
	t.Cleanup(func() {
		c.reset()
		ctx, cancel := context.WithTimeout(context.Background(), disconnectTimeout)
		defer cancel()
		_ = client.Disconnect(ctx) // an error only means that it was closed before
		p.end()
	})
	return client
}

// replayURI names no host, and makes the driver check the server only once.
const replayURI = "mongodb://replay.local/?heartbeatFrequencyMS=3600000"

// recordOn returns a client that is recorded.
func recordOn(t testing.TB, b *backend, file string, c *config, anyOrder bool) *mongo.Client {
	t.Helper()
	plain := b.mustConnect(t)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	hello, err := plain.Database("admin").RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Raw()
	if err != nil {
		t.Fatalf("mongotest: Replay: record on the %s: %v", b.name, err)
	}
	r := newRecording(t, plain, hello, b.uri, anyOrder)
	c.layers = append(c.layers, r.faults())
	client, disconnect, err := b.connect(c)
	if err != nil {
		t.Fatalf("mongotest: Replay: %v", err)
	}
	t.Cleanup(func() {
		disconnect()
		r.dropAll()
		if t.Failed() || t.Skipped() {
			t.Logf("mongotest: Replay: %s is not written, because the test has not passed", file)
			return
		}
		if err := r.write(file); err != nil {
			t.Errorf("mongotest: Replay: %v", err)
		}
	})
	return client
}

// write stores the recording, unless the file says the same.
func (r *recording) write(file string) error {
	if r.overlapped != "" && !r.anyOrder {
		return fmt.Errorf("%s: a command was sent before the reply of another one had come: %s\n\tremedy: give Replay the "+
			"Settings.AnyOrder, or send one command at a time", file, r.overlapped)
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

// A silentDialer connects to a server that says nothing. A [Faults] gives the answers.
type silentDialer struct{}

func (silentDialer) DialContext(context.Context, string, string) (net.Conn, error) {
	client, _ := pipe.New()
	return client, nil
}
