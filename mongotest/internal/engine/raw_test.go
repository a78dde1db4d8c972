package engine_test

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

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

// numbered are the fields of a session's command of that number.
func numbered(session byte, number int64) []bson.E {
	id := bson.Binary{Subtype: 4, Data: append(make([]byte, 15), session)}
	return []bson.E{{Key: "lsid", Value: bson.D{{Key: "id", Value: id}}}, {Key: "txnNumber", Value: number}}
}
