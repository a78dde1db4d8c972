// These functions are shared by the tests of package engine: an engine with a client, a connection on which a test
// writes messages itself, steps of commands with their replies, and comparisons.

package engine_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"

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

// rawConn is a connection on which a test writes messages itself: commands that a driver wouldn't send, or not twice.
type rawConn struct{ net.Conn }

func dial(t testing.TB, e *engine.Engine) rawConn {
	t.Helper()
	c := must1[net.Conn](t)(e.Dial(ctx, "tcp", "engine.local:27017"))
	t.Cleanup(func() { c.Close() })
	return rawConn{c}
}

// message encodes a command.
func message(t testing.TB, command bson.D) []byte {
	t.Helper()
	b := wiremessage.AppendHeader(nil, 0, 1, 0, wiremessage.OpMsg)
	b = append(b, 0, 0, 0, 0, 0)
	b = append(b, must1[[]byte](t)(bson.Marshal(command))...)
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}

// receive reads a reply.
func (c rawConn) receive() (bson.Raw, error) {
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	head := make([]byte, 16)
	if _, err := io.ReadFull(c, head); err != nil {
		return nil, err
	}
	body := make([]byte, binary.LittleEndian.Uint32(head)-16)
	if _, err := io.ReadFull(c, body); err != nil {
		return nil, err
	}
	return bson.Raw(body[5:]), nil
}

// run sends a command in extended JSON, with further fields, and returns the reply without its times.
func (c rawConn) run(t testing.TB, command string, more ...bson.E) string {
	t.Helper()
	d := append(doc(t, command), more...)
	if !slices.ContainsFunc(d, func(e bson.E) bool { return e.Key == "$db" }) {
		d = append(d, bson.E{Key: "$db", Value: "test"})
	}
	if _, err := c.Write(message(t, d)); err != nil {
		t.Fatal(err)
	}
	var reply, kept bson.D
	must(t, bson.Unmarshal(must1[bson.Raw](t)(c.receive()), &reply))
	for _, e := range reply {
		if e.Key != "$clusterTime" && e.Key != "operationTime" {
			kept = append(kept, e)
		}
	}
	return show(t, kept)
}

// makeSessionFields returns the fields of a session's command of that number.
func makeSessionFields(session byte, number int64) []bson.E {
	id := bson.Binary{Subtype: 4, Data: append(make([]byte, 15), session)}
	return []bson.E{{Key: "lsid", Value: bson.D{{Key: "id", Value: id}}}, {Key: "txnNumber", Value: number}}
}

// step is a command in extended JSON, and a part of its reply, or with "!" before it one that the reply hasn't. A step
// without a reply to hold must go well.
type step struct{ command, want string }

// runSteps sends commands one after the other, to the database "test" unless they name another.
func runSteps(t *testing.T, e *engine.Engine, steps ...step) {
	t.Helper()
	conn := dial(t, e)
	for _, s := range steps {
		got := conn.run(t, s.command)
		want := s.want
		if want == "" {
			want = `"ok":1.0`
		}
		if part, not := strings.CutPrefix(want, "!"); strings.Contains(got, part) == not {
			t.Errorf("%s:\n%s, want\n%s", s.command, got, want)
		}
	}
}

// must fails the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantSame compares what values print as.
func wantSame(t testing.TB, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

func byID(id any) bson.D { return bson.D{{Key: "_id", Value: id}} }

// setN is the update that sets n.
func setN(n int) bson.D {
	return bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: n}}}}
}

// readStored returns the field n of each document, in the order of insertion.
func readStored(t testing.TB, c *mongo.Collection) []int {
	t.Helper()
	return numbers(t, must1[*mongo.Cursor](t)(c.Find(ctx, bson.D{})))
}

// numbers is the field n of each document of a cursor.
func numbers(t testing.TB, cur *mongo.Cursor) []int {
	t.Helper()
	var docs []struct{ N int }
	must(t, cur.All(ctx, &docs))
	list := make([]int, len(docs))
	for i, d := range docs {
		list[i] = d.N
	}
	return list
}

// must1 returns the first of two results, and fails the test on an error.
func must1[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		must(t, err)
		return v
	}
}

var ctx = context.Background()

// runCode runs a command and returns its code, or that of its first write error.
func runCode(t *testing.T, db *mongo.Database, command bson.D) int {
	t.Helper()
	rep, err := db.RunCommand(ctx, command).Raw()
	if e, ok := err.(mongo.ServerError); ok {
		return e.ErrorCodes()[0]
	}
	if err != nil {
		t.Fatalf("%s: %v", show(t, command), err)
	}
	list, _ := rep.Lookup("writeErrors").ArrayOK()
	if values, _ := list.Values(); len(values) > 0 {
		return int(values[0].Document().Lookup("code").Int32())
	}
	return 0
}

func aggregateOf(stages ...string) string {
	return `{"aggregate":"things","pipeline":[` + strings.Join(stages, ",") + `],"cursor":{}}`
}

// runOn runs a command, on the database that it belongs to.
func runOn(ctx context.Context, db *mongo.Database, command bson.D) error {
	if command[0].Key == "bulkWrite" {
		db = db.Client().Database("admin")
	}
	return db.RunCommand(ctx, command).Err()
}

// stagesFrom reads a pipeline in extended JSON.
func stagesFrom(t testing.TB, stages ...string) mongo.Pipeline {
	t.Helper()
	var p mongo.Pipeline
	for _, s := range stages {
		p = append(p, doc(t, s))
	}
	return p
}
