package mongotest

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/docmodel/docmodel/internal/testserver"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

// A faultConn is a client's connection that inspects outgoing messages. Write applies the
// faults, in the goroutine that sends the command.
type faultConn struct {
	net.Conn
	faults *Faults

	out      []byte          // the beginning of an incomplete message
	released <-chan struct{} // closed when the faults are reset

	mu            sync.Mutex
	in            []byte // an answer for Read, before those of the server
	gone          bool   // cut: Read returns the end
	writeDeadline time.Time

	closing sync.Once
	closed  chan struct{}
}

func (c *faultConn) Write(p []byte) (int, error) {
	c.out = append(c.out, p...)
	for {
		n, err := messageSize(c.out)
		if err != nil {
			return 0, err
		}
		if n == 0 || n > len(c.out) {
			return len(p), nil
		}
		m, err := parseMessage(c.out[:n:n])
		if err != nil {
			return 0, err
		}
		rest := c.out[n:]
		if err := c.send(m); err != nil {
			return 0, err
		}
		c.out = append(c.out[:0], rest...)
	}
}

func (c *faultConn) send(m *message) error {
	if m.handshake || testserver.IsDriversOwn(m.command.Name, m.command.Body) {
		return c.faults.own(&sending{c, m})
	}
	var action Action
	action, c.released = c.faults.decide(m.command)
	return action(&sending{c, m})
}

func (c *faultConn) forward(m *message) error {
	_, err := c.Conn.Write(m.raw)
	return err
}

// answer makes Read return a reply that isn't the server's.
func (c *faultConn) answer(m *message, reply bson.D) error {
	if m.moreToCome {
		return nil
	}
	body, err := bson.Marshal(reply)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in = append(c.in, newMessage(wiremessage.NextRequestID(), m.requestID, body)...)
	return nil
}

func (c *faultConn) readReply() ([]byte, error) {
	if err := c.Conn.SetReadDeadline(c.deadline()); err != nil {
		return nil, err
	}
	return readMessage(c.Conn)
}

// ask sends an additional command to the server, and returns the answer.
func (c *faultConn) ask(command bson.D) (bson.Raw, error) {
	body, err := bson.Marshal(command)
	if err != nil {
		return nil, err
	}
	if _, err := c.Conn.Write(newMessage(wiremessage.NextRequestID(), 0, body)); err != nil {
		return nil, err
	}
	raw, err := c.readReply()
	if err != nil {
		return nil, err
	}
	reply, err := parseMessage(raw)
	if err != nil {
		return nil, err
	}
	return bson.Raw(reply.body), nil
}

// cut breaks the connection. For the client, the command is sent, and only the answer is
// missing.
func (c *faultConn) cut() error {
	c.mu.Lock()
	c.gone = true
	c.mu.Unlock()
	c.Conn.Close()
	return nil
}

func (c *faultConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	if len(c.in) > 0 {
		n := copy(p, c.in)
		c.in = c.in[n:]
		c.mu.Unlock()
		return n, nil
	}
	gone := c.gone
	c.mu.Unlock()
	if gone {
		return 0, io.EOF
	}
	return c.Conn.Read(p)
}

// Close also ends a Write that waits for an injected fault.
func (c *faultConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	err := c.Conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil
	}
	return err
}

func (c *faultConn) SetDeadline(t time.Time) error {
	c.setDeadline(t)
	return c.ignoreGone(c.Conn.SetDeadline(t))
}

func (c *faultConn) SetWriteDeadline(t time.Time) error {
	c.setDeadline(t)
	return c.ignoreGone(c.Conn.SetWriteDeadline(t))
}

func (c *faultConn) SetReadDeadline(t time.Time) error {
	return c.ignoreGone(c.Conn.SetReadDeadline(t))
}

func (c *faultConn) setDeadline(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeDeadline = t
}

// deadline returns until when Write may wait.
func (c *faultConn) deadline() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writeDeadline
}

// ignoreGone hides that a cut connection is closed, so that the client finds out by
// reading.
func (c *faultConn) ignoreGone(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil
	}
	return err
}
