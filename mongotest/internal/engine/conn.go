package engine

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

// conn is the engine's end of a connection. Its commands run one after the
// other, in its own goroutine.
type conn struct {
	engine  *Engine
	id      int32
	address string // what the client dialed
	pipe    net.Conn
	ctx     context.Context // of commands; the connection's goroutine replaces it after a kill
	out     []byte
	app     string // the application's name, as its first hello has it
	cut     bool   // a fail point closes it in place of the reply

	mu      sync.Mutex // of what follows, and of replacing ctx
	stop    context.CancelCauseFunc
	over    bool     // ctx has ended for good
	running *request // the command that runs, nil between commands

	owner session.Owner // of the transactions whose last command it sent
}

// newConn returns the engine's end of a connection, which the caller serves.
func newConn(e *Engine, pipe net.Conn, id int32, address string) *conn {
	c := &conn{engine: e, id: id, address: address, pipe: pipe}
	c.ctx, c.stop = context.WithCancelCause(e.ctx)
	return c
}

// cancel ends the command that runs, and those that come later.
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

// begin notes that a command runs, until end.
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

// kill interrupts the command that runs, if which says so.
func (c *conn) kill(cause error, which func(r *request) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running != nil && which(c.running) {
		c.stop(cause)
	}
}

// serve answers messages until the connection ends. A message that can't be
// read ends it too.
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

const keepReply = 1 << 20 // a larger buffer is given back after use

// answer runs one command and writes its reply.
func (c *conn) answer(m wire.Message) error {
	reply, err := c.run(m)
	if err != nil {
		c.engine.counters.failed.Add(1)
	}
	if c.cut {
		return net.ErrClosed
	}
	if m.MoreToCome {
		return nil
	}
	if err != nil {
		reply = makeErrorReply(err)
	}
	if !m.Query {
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

// makeErrorReply is the reply of a command that failed.
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

// makeStringArray returns a list as an array.
func makeStringArray(list []string) bson.A {
	a := make(bson.A, len(list))
	for i, s := range list {
		a[i] = s
	}
	return a
}
