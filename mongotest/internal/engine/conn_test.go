// These tests write to connections what no client should, and end connections in the middle of work.

package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// withoutLeak runs f with an engine that it closes, and holds that nothing is left running.
func withoutLeak(t *testing.T, f func(e *engine.Engine)) {
	t.Helper()
	before := runtime.NumGoroutine()
	e := engine.New()
	f(e)
	e.Close()
	for range 300 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// closes holds that the engine ends the connection once it has read all of b, or before.
func closes(t *testing.T, c net.Conn, what string, b []byte) {
	t.Helper()
	must(t, c.SetDeadline(time.Now().Add(30*time.Second)))
	go func() { _, _ = c.Write(b) }() // which fails when the engine hangs up meanwhile
	if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%s: %v, want the connection to end", what, err)
	}
	c.Close()
}

// TestBrokenMessages sends messages cut off at every byte, with lengths that lie, and random bytes. The engine ends the
// connection, and goes on with others.
func TestBrokenMessages(t *testing.T) {
	good := message(t, bson.D{
		{Key: "insert", Value: "c"},
		{Key: "documents", Value: bson.A{bson.D{{Key: "a", Value: "text"}}}},
		{Key: "$db", Value: "test"},
	})
	withoutLeak(t, func(e *engine.Engine) {
		dialed := func() net.Conn { return must1[net.Conn](t)(e.Dial(ctx, "tcp", "x:1")) }
		for n := range len(good) {
			c := dialed()
			must1[int](t)(c.Write(good[:n]))
			c.Close()
		}
		for _, length := range []int32{-1, 0, 15, 16, 17, 20, 48_000_001, 1<<31 - 1} {
			b := bytes.Clone(good)
			binary.LittleEndian.PutUint32(b, uint32(length))
			closes(t, dialed(), "a wrong length", b)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			b := bytes.Clone(good)
			for range 1 + r.IntN(4) { // not the length, which would be waited for
				b[4+r.IntN(len(b)-4)] = byte(r.IntN(256))
			}
			c := dialed()
			must(t, c.SetDeadline(time.Now().Add(30*time.Second)))
			must1[int](t)(c.Write(b))
			if b[16]&2 == 0 { // unless it wants no answer, there is one, or the connection ends
				if _, err := c.Read(make([]byte, 1)); err != nil && err != io.EOF {
					t.Errorf("after % x: %v", b, err)
				}
			}
			c.Close()
		}
		conn := rawConn{dialed()}
		if got := conn.run(t, `{"ping":1}`); got != `{"ok":1.0}` {
			t.Error(got)
		}
		conn.Close()
	})
}

// TestSlowMessages writes a message byte by byte, many of them at a time; another client isn't kept waiting.
func TestSlowMessages(t *testing.T) {
	withoutLeak(t, func(e *engine.Engine) {
		ping := message(t, bson.D{{Key: "ping", Value: 1}, {Key: "$db", Value: "test"}})
		var wait sync.WaitGroup
		for range 20 {
			c := rawConn{must1[net.Conn](t)(e.Dial(ctx, "tcp", "x:1"))}
			wait.Go(func() {
				defer c.Close()
				for _, b := range ping {
					if _, err := c.Write([]byte{b}); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Millisecond)
				}
				if _, err := c.receive(); err != nil {
					t.Error(err)
				}
			})
		}
		quick := rawConn{must1[net.Conn](t)(e.Dial(ctx, "tcp", "x:1"))}
		began := time.Now()
		quick.run(t, `{"ping":1}`)
		if d := time.Since(began); d > 10*time.Second {
			t.Errorf("a ping beside slow clients took %v", d)
		}
		quick.Close()
		wait.Wait()
	})
}

// TestMemoryOfLengths opens connections that promise 48 MB each and send nothing: the engine sets no memory aside.
func TestMemoryOfLengths(t *testing.T) {
	withoutLeak(t, func(e *engine.Engine) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range 100 {
			c := must1[net.Conn](t)(e.Dial(ctx, "tcp", "x:1"))
			defer c.Close()
			must1[int](t)(c.Write(binary.LittleEndian.AppendUint32(nil, 48_000_000)))
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
			t.Errorf("the heap has grown by %d bytes", grown)
		}
	})
}

// TestManyClients has 200 clients of one engine count, insert, read, and run transactions at the same time.
func TestManyClients(t *testing.T) {
	const clients, each = 200, 5
	withoutLeak(t, func(e *engine.Engine) {
		connect := func() (*mongo.Client, error) {
			return mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e))
		}
		var wait sync.WaitGroup
		for i := range clients {
			wait.Go(func() {
				client, err := connect()
				if err == nil {
					err = errors.Join(oneOfMany(client, i, each), client.Disconnect(ctx))
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		client := must1[*mongo.Client](t)(connect())
		db := client.Database("test")
		wantSame(t, "documents", must1[int64](t)(db.Collection("log").CountDocuments(ctx, bson.D{})), clients*each)
		wantAll(t, db.Collection("counter"), `{"_id":1,"n":1000}`)
		wantSame(t, "moved", must1[int64](t)(db.Collection("done").CountDocuments(ctx, bson.D{})), clients)
		must(t, client.Disconnect(ctx))
	})
}

func oneOfMany(client *mongo.Client, i, each int) error {
	db := client.Database("test")
	for n := range each {
		if _, err := db.Collection("log").InsertOne(ctx, bson.D{{Key: "_id", Value: i*each + n}}); err != nil {
			return err
		}
		if _, err := db.Collection("counter").UpdateByID(ctx, 1,
			bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}},
			options.UpdateOne().SetUpsert(true)); err != nil {
			return err
		}
		if err := db.Collection("log").FindOne(ctx, byID(i*each+n)).Err(); err != nil {
			return err
		}
	}
	return client.UseSession(ctx, func(ctx context.Context) error {
		_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
			if _, err := db.Collection("log").UpdateByID(ctx, i*each, setN(1)); err != nil {
				return nil, err
			}
			return db.Collection("done").InsertOne(ctx, byID(i))
		})
		return err
	})
}

// TestKilledClient has a client's connections break in a transaction, with no word to the engine: what it held is free
// after a few seconds, and nothing of it is stored. A client that connects anew can go on.
func TestKilledClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, e := start(t)
		c := client.Database("test").Collection("things")
		insert(t, c, `{"_id":1,"n":1}`)
		begin := append(makeSessionFields(1, 1), bson.E{Key: "autocommit", Value: false})
		write := func(conn rawConn, more ...bson.E) string {
			return conn.run(t, `{"update":"things","updates":[{"q":{"_id":1},"u":{"$set":{"n":2}}}]}`,
				append(begin, more...)...)
		}
		first, second := dial(t, e), dial(t, e)
		if got := write(first, bson.E{Key: "startTransaction", Value: true}); !strings.Contains(got, `"nModified":1`) {
			t.Fatal(got)
		}
		first.Close()
		time.Sleep(time.Second)
		write(second) // the client has connected anew
		time.Sleep(20 * time.Second)
		if got := write(second); !strings.Contains(got, `"ok":1`) {
			t.Errorf("the transaction has ended, though its client lives: %s", got)
		}
		second.Close()
		began := time.Now()
		must(t, set(ctx, c, 1, 3))
		if d := time.Since(began); d > 6*time.Second {
			t.Errorf("a write waited %v for a transaction whose client is gone", d)
		}
		wantSame(t, "stored", readStored(t, c), []int{3})
		if got := write(dial(t, e)); !strings.Contains(got, `"code":251`) {
			t.Errorf("going on with what was aborted: %s", got)
		}
	})
}

// TestDisconnect holds that a client that says goodbye leaves its transaction at once.
func TestDisconnect(t *testing.T) {
	client, e := start(t)
	c := client.Database("test").Collection("things")
	insert(t, c, `{"_id":1,"n":1}`)
	other := must1[*mongo.Client](t)(mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e)))
	s := must1[*mongo.Session](t)(other.StartSession())
	must(t, s.StartTransaction())
	must(t, set(mongo.NewSessionContext(ctx, s), other.Database("test").Collection("things"), 1, 2))
	s.EndSession(ctx)
	must(t, other.Disconnect(ctx))
	began := time.Now()
	must(t, set(ctx, c, 1, 3))
	if d := time.Since(began); d > 20*time.Second { // a transaction lives for a minute
		t.Errorf("a write waited %v", d)
	}
	wantSame(t, "stored", readStored(t, c), []int{3})
}

// TestUnacknowledged writes without waiting for a reply. The ping on the only
// connection comes after the write.
func TestUnacknowledged(t *testing.T) {
	client, _ := start(t, options.Client().SetMaxPoolSize(1))
	quiet := client.Database("test").
		Collection("things", options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
	if _, err := quiet.InsertOne(ctx, doc(t, `{"_id":1}`)); err != nil {
		t.Fatal(err)
	}
	if err := client.Ping(ctx, nil); err != nil {
		t.Fatal(err)
	}
	wantAll(t, client.Database("test").Collection("things"), `{"_id":1}`)
}

// TestMalformed sends what is no message: the connection ends, the engine
// doesn't.
func TestMalformed(t *testing.T) {
	client, e := start(t)
	for _, b := range []string{"GET / HTTP/1.1\r\n\r\n", "\x10\x00\x00\x00aaaabbbb\xdd\x07\x00\x00"} {
		conn, err := e.Dial(ctx, "tcp", "engine.local:27017")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(b)); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 10)); err != io.EOF {
			t.Errorf("%q: read %d bytes, %v", b, n, err)
		}
		conn.Close()
	}
	if err := client.Ping(ctx, nil); err != nil {
		t.Error(err)
	}
}
