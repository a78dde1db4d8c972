package engine

// This file has the engine's end of a connection: it reads messages, lets request.go run the commands, and writes the
// replies. A command runs in the goroutine of its connection. Other goroutines only interrupt it, by the context.

import (
	"context"
	"io"
	"net"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/wire"
)

// conn is the engine's end of a connection. Its commands run one after the other, in its own goroutine.
type conn struct {
	engine  *Engine
	id      int32
	address string // the address that the client dialed; hello and statistics show it as the host
	pipe    net.Conn
	ctx     context.Context // of commands; the connection's goroutine replaces it after a kill
	out     []byte          // the buffer of the last reply, which the next one uses again
	app     string          // the application's name, as its first hello has it, for fail points
	cut     bool            // a fail point closes the connection in place of the reply

	mu      sync.Mutex              // guards the fields below, and replacing ctx
	stop    context.CancelCauseFunc // ends ctx
	over    bool                    // ctx has ended for good
	running *request                // the command that runs, nil between commands

	owner session.Owner // of the transactions whose last command it sent
}

// newConn returns the engine's end of a connection, which the caller serves.
func newConn(e *Engine, pipe net.Conn, id int32, address string) *conn {
	c := &conn{engine: e, id: id, address: address, pipe: pipe}
	c.ctx, c.stop = context.WithCancelCause(e.ctx)
	return c
}

// cancel ends the command that runs, and all later commands of the connection. cause becomes their error.
func (c *conn) cancel(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.stop(cause)
}

// close ends the connection and its commands.
func (c *conn) close() {
	c.cancel(interrupt.Disconnected)
	c.pipe.Close()
}

// begin notes that a command runs, until end is called. The request gets its connection and context.
func (c *conn) begin(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, r.conn, r.ctx = r, c, c.ctx
}

// end notes that the command is over. After a kill, the next command gets a new context.
func (c *conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = nil
	if c.ctx.Err() != nil && !c.over {
		c.ctx, c.stop = context.WithCancelCause(c.engine.ctx)
	}
}

// kill interrupts the command that runs, if which returns true for it. Later commands of the connection run, see end.
// killSessions and killCursors call it from other connections.
func (c *conn) kill(cause error, which func(r *request) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running != nil && which(c.running) {
		c.stop(cause)
	}
}

// serve answers messages until the connection ends. A message that can't be read ends it too. The transactions of the
// connection are aborted later, unless another connection goes on with them.
func (c *conn) serve() {
	defer func() {
		c.close()
		c.owner.Leave()
		c.engine.mu.Lock()
		delete(c.engine.conns, c)
		c.engine.mu.Unlock()
	}()
	r := wire.NewReader(c.pipe)
	for {
		m, err := r.Next()
		if err != nil {
			return
		}
		if err := c.answer(m); err != nil {
			return
		}
	}
}

// keepReply is how many bytes a buffer may have that a connection keeps for the next reply.
const keepReply = 1 << 20

// answer runs one command and writes its reply. An error of answer ends the connection. An error of the command is a
// reply with ok: 0.
func (c *conn) answer(m wire.Message) error {
	reply, err := c.run(m)
	if err != nil {
		c.engine.counters.failed.Add(1)
	}
	if c.cut {
		return net.ErrClosed
	}
	if m.MoreToCome { // a write with the write concern {w: 0}: the client reads no reply
		return nil
	}
	if err != nil {
		reply = makeErrorReply(err)
	}
	if !m.Query { // the reply to an old hello has no times
		reply = append(reply, c.engine.makeTimes()...)
	}
	out := wire.StartReply(c.out[:0], m, c.engine.requests.Add(1))
	out, err = bsonval.Append(out, reply)
	if err != nil {
		return err
	}
	if len(out) > wire.MaxMessage {
		return io.ErrShortWrite
	}
	if cap(out) <= keepReply {
		c.out = out
	}
	_, err = c.pipe.Write(wire.FinishReply(out))
	return err
}

// makeErrorReply returns the reply of a command that failed:
//
//	{ok: 0.0, errmsg: "no such command: 'foo'", code: 59, codeName: "CommandNotFound", errorLabels: […]}
func makeErrorReply(err error) bson.D {
	e := mongoerr.Convert(err)
	reply := bson.D{
		{Key: "ok", Value: 0.0},
		{Key: "errmsg", Value: e.Message},
		{Key: "code", Value: e.Code},
		{Key: "codeName", Value: e.Name},
	}
	reply = append(reply, e.Extra...)
	if len(e.Labels) > 0 {
		reply = append(reply, bson.E{Key: "errorLabels", Value: makeStringArray(e.Labels)})
	}
	return reply
}

// makeStringArray returns a list of strings as a BSON array.
func makeStringArray(list []string) bson.A {
	a := make(bson.A, len(list))
	for i, s := range list {
		a[i] = s
	}
	return a
}
