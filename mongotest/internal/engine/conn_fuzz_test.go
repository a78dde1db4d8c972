// This test sends sequences of commands and broken messages by several connections.

package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

// fuzzed are commands of which FuzzConnection makes sequences. CURSOR stands for the cursor of the latest reply that
// had one, TXN for the fields of a session's transaction, NEW for those of its first command, and SESSION for those of
// a retryable write.
var fuzzed = []string{
	`{"insert": "c", "documents": [{"n": 1}, {"_id": 1}, {"n": [1, {"a": 2}]}], "ordered": false}`,
	`{"insert": "c", "documents": [{"_id": 2}] SESSION}`,
	`{"insert": "c", "documents": [{"n": 5}] NEW}`,
	`{"update": "c", "updates": [{"q": {}, "u": {"$inc": {"m": 1}}, "multi": true}] TXN}`,
	`{"update": "c", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"x": "$$NOW"}}], "upsert": true}] SESSION}`,
	`{"delete": "c", "deletes": [{"q": {"n": 1}, "limit": 1}]}`,
	`{"findAndModify": "c", "query": {"_id": 1}, "update": {"$set": {"y": 1}}, "upsert": true, "new": true SESSION}`,
	`{"find": "c", "filter": {}, "batchSize": 1}`,
	`{"find": "c", "batchSize": 1 NEW}`,
	`{"find": "c", "batchSize": 0 TXN}`,
	`{"getMore": CURSOR, "collection": "c", "batchSize": 1}`,
	`{"getMore": CURSOR, "collection": "c" TXN}`,
	`{"killCursors": "c", "cursors": [CURSOR, {"$numberLong": "77"}]}`,
	`{"aggregate": "c", "pipeline": [{"$changeStream": {}}], "cursor": {"batchSize": 0}}`,
	`{"aggregate": "c", "pipeline": [{"$match": {}}, {"$out": "d"}], "cursor": {}}`,
	`{"aggregate": "c", "pipeline": [{"$lookup": {"from": "c", "pipeline": [{"$unwind": "$n"}], "as": "x"}}, ` +
		`{"$unwind": "$x"}], "cursor": {"batchSize": 2}}`,
	`{"commitTransaction": 1 TXN, "$db": "admin"}`,
	`{"abortTransaction": 1 TXN, "$db": "admin"}`,
	`{"killAllSessions": [], "$db": "admin"}`,
	`{"endSessions": [{"id": UUID}]}`,
	`{"createIndexes": "c", "indexes": [{"key": {"n": 1}, "name": "n_1", "unique": true}]}`,
	`{"drop": "c"}`,
	`{"dropDatabase": 1}`,
	`{"hello": 1}`,
	`{"count": "c", "query": {"n": {"$gte": 1}}}`,
	`{"bulkWrite": 1, "ops": [{"insert": 0, "document": {"_id": 9}}, {"delete": 0, "filter": {"_id": 9}}], "nsInfo": ` +
		`[{"ns": "test.c"}], "$db": "admin"}`,
	`{"explain": {"find": "c", "filter": {"n": 1}}, "verbosity": "executionStats"}`,
	`{"nonsense": 1}`,
}

// A fuzzClient sends commands by several connections.
type fuzzClient struct {
	t       *testing.T
	engine  *Engine
	conns   [3]net.Conn
	waiting [3]int // replies that were not read
	cursor  int64
	number  [3]int64 // of each session
}

const fuzzPatience = 20 * time.Second // a command takes some milliseconds

// command returns a template's command, for one of the sessions.
func (c *fuzzClient) command(template string, session int) []byte {
	uuid := `{"$binary": {"base64": "` + strings.Repeat("A", 20) + string(rune('A'+session)) + `w==", "subType": "04"}}`
	fields := func(more string) string {
		number := string(rune('0'+c.number[session]/10%10)) + string(rune('0'+c.number[session]%10))
		return `, "lsid": {"id": ` + uuid + `}, "txnNumber": {"$numberLong": "` + number + `"}` + more
	}
	if strings.Contains(template, " NEW") || strings.Contains(template, " SESSION") {
		c.number[session]++
	}
	cursor, _ := bson.MarshalExtJSON(bson.D{{Key: "v", Value: c.cursor}}, true, false)
	text := strings.NewReplacer(
		" NEW", fields(`, "startTransaction": true, "autocommit": false`), " TXN",
		fields(`, "autocommit": false`), " SESSION", fields(""),
		"UUID", uuid, "CURSOR", strings.TrimSuffix(strings.TrimPrefix(string(cursor), `{"v":`), "}"),
	).Replace(template)
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
		c.t.Fatalf("%s: %v", text, err)
	}
	if !strings.Contains(template, "$db") {
		d = append(d, bson.E{Key: "$db", Value: "test"})
	}
	if !strings.Contains(template, "endSessions") && !strings.Contains(template, "hello") {
		d = append(d, bson.E{Key: "maxTimeMS", Value: 20})
	}
	body, err := bson.Marshal(d)
	if err != nil {
		c.t.Fatal(err)
	}
	b := wiremessage.AppendHeader(nil, 0, 1, 0, wiremessage.OpMsg)
	b = append(append(b, 0, 0, 0, 0, 0), body...)
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}

// conn returns a connection, which is made anew after it was closed.
func (c *fuzzClient) conn(i int) net.Conn {
	if c.conns[i] == nil {
		conn, err := c.engine.Dial(context.Background(), "tcp", "engine.local:27017")
		if err != nil {
			c.t.Fatal(err)
		}
		c.conns[i], c.waiting[i] = conn, 0
	}
	return c.conns[i]
}

func (c *fuzzClient) close(i int) {
	if c.conns[i] != nil {
		c.conns[i].Close()
		c.conns[i] = nil
	}
}

// send writes a message. The engine may close the connection when it is not a whole one.
func (c *fuzzClient) send(i int, b []byte) {
	conn := c.conn(i)
	_ = conn.SetWriteDeadline(time.Now().Add(fuzzPatience))
	if _, err := conn.Write(b); errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatal("the engine doesn't read")
	}
	c.waiting[i]++
}

// receive reads the replies that are due. A broken message may have none.
func (c *fuzzClient) receive(i int, patience time.Duration, broken bool) {
	conn := c.conn(i)
	for ; c.waiting[i] > 0; c.waiting[i]-- {
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		head := make([]byte, 16)
		_, err := io.ReadFull(conn, head)
		if err == nil {
			body := make([]byte, binary.LittleEndian.Uint32(head)-16)
			if _, err = io.ReadFull(conn, body); err == nil && len(body) > 5 {
				if id, ok := bson.Raw(body[5:]).Lookup("cursor", "id").Int64OK(); ok && id != 0 {
					c.cursor = id
				}
			}
		}
		switch {
		case err == nil:
		case broken:
			c.close(i)
			return
		case errors.Is(err, os.ErrDeadlineExceeded):
			c.t.Fatal("a command has no reply")
		default:
			c.t.Fatalf("the engine closed the connection: %v", err)
		}
	}
}

// run does what one step of a script says: a step is three bytes.
func (c *fuzzClient) run(step []byte, rest []byte) {
	i, session := int(step[0]>>4)%3, int(step[0]>>2)%3
	b := c.command(fuzzed[int(step[1])%len(fuzzed)], session)
	switch step[0] % 4 {
	case 0, 1:
		c.send(i, b)
		c.receive(i, fuzzPatience, false)
	case 2: // the reply is read later, or the connection closed before it comes
		c.receive(i, fuzzPatience, false)
		c.send(i, b)
		if step[2]%2 == 0 {
			c.close(i)
		}
	case 3: // a broken message: other bytes from some place on, or cut
		c.receive(i, fuzzPatience, false)
		at := 4 + int(step[2])%(len(b)-4)
		if step[2]%8 == 7 {
			b = b[:at]
		} else {
			copy(b[at:], rest[:min(len(rest), 4)])
		}
		c.send(i, b)
		c.receive(i, 30*time.Millisecond, true)
		c.close(i)
	}
}

const mostSteps = 24

// Whatever several connections send, each whole command has a reply, and nothing is left after Close.
func FuzzConnection(f *testing.F) {
	for n := range len(fuzzed) {
		f.Add([]byte{0, 0, 0, 0, byte(n), 0, 0, 7, 0, 0, 10, 0})
		f.Add([]byte{0, 2, 0, 0, byte(n), 0, 2, 15, 1, 16, 18, 0, 3, byte(n), 30, 2, byte(n), 0})
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		before := runtime.NumGoroutine()
		e := New()
		c := &fuzzClient{t: t, engine: e}
		defer e.Close()
		for n := 0; n < mostSteps && len(script) >= 3; n++ {
			c.run(script[:3], script[3:])
			script = script[3:]
		}
		for i := range c.conns {
			if i != 1 { // Close ends that one
				c.close(i)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		c.close(1)
		if n := e.cursors.Len(); n > 0 {
			t.Fatalf("%d cursors are left", n)
		}
		if n := len(e.conns); n > 0 {
			t.Fatalf("%d connections are left", n)
		}
		for until := time.Now().Add(fuzzPatience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			if time.Now().After(until) {
				stacks := make([]byte, 1<<16)
				t.Fatalf("%d goroutines before, %d after\n%s", before, runtime.NumGoroutine(),
					stacks[:runtime.Stack(stacks, true)])
			}
		}
	})
}
