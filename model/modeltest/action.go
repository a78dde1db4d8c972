package modeltest

import (
	"os"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An Action is what [Faults] does to a command: [Fail], [FailInside], [CutBefore], [CutInside], [CutAfter], [Delay] or
// [Hold]. The zero Action is not valid.
type Action struct {
	do func(c *faultConn, m *message) error
}

// Fail answers with the error code and labels, such as "TransientTransactionError" or "RetryableWriteError". The server
// doesn't see the command.
func Fail(code int32, labels ...string) Action {
	reply := failure(code, labels)
	return Action{func(c *faultConn, m *message) error { return c.answer(m, reply) }}
}

// failure is the answer to a command that failed.
func failure(code int32, labels []string) bson.D {
	e := mongoerr.New(code, "an error that the test asked for")
	reply := bson.D{
		{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: e.Message},
		{Key: "code", Value: e.Code}, {Key: "codeName", Value: e.Name},
	}
	if len(labels) > 0 {
		reply = append(reply, bson.E{Key: "errorLabels", Value: slices.Clone(labels)})
	}
	return reply
}

// FailInside lets the server do the first n parts of a write, as [CutInside] does, and answers with the error code and labels: a
// command that an operator killed (11601), whose maxTimeMS passed (50), or whose server stepped down (189, 11602).
func FailInside(n int, code int32, labels ...string) Action {
	if n < 1 {
		panic("modeltest: FailInside: at least one part must be done\n\tremedy: use Fail")
	}
	reply := failure(code, labels)
	return Action{func(c *faultConn, m *message) error {
		part, err := c.narrowed(m, n)
		if err != nil {
			return err
		}
		if err := c.forward(part); err != nil {
			return err
		}
		if !m.moreToCome {
			if _, err := c.readReply(); err != nil {
				return err
			}
		}
		return c.answer(m, reply)
	}}
}

// CutBefore breaks the connection before the server sees the command.
func CutBefore() Action {
	return Action{func(c *faultConn, _ *message) error { return c.cut() }}
}

// CutAfter lets the server answer the command, and breaks the connection before the client sees the answer.
func CutAfter() Action {
	return Action{func(c *faultConn, m *message) error {
		if err := c.forward(m); err != nil {
			return err
		}
		if !m.moreToCome {
			if _, err := c.readReply(); err != nil {
				return err
			}
		}
		return c.cut()
	}}
}

// CutInside lets the server do the first n parts of a write, and breaks the connection: what a server leaves that stops
// half way. The parts of an insert, update, delete or bulkWrite with several statements are its statements. An update or delete of
// many documents as the only statement has their number of parts: the n documents of lowest _id that it matches are
// written. Any other command, and one that has no more than n parts, is done as by [CutAfter].
//
// The server is sent another command: fewer statements, or the same one with a narrower filter. In a transaction it is
// not, for there nothing is left half way: the command is done, and the connection broken.
func CutInside(n int) Action {
	if n < 1 {
		panic("modeltest: CutInside: at least one part must be done\n\tremedy: use CutBefore")
	}
	return Action{func(c *faultConn, m *message) error {
		part, err := c.narrowed(m, n)
		if err != nil {
			return err
		}
		return CutAfter().do(c, part)
	}}
}

// Delay lets the command wait before the server sees it, until the faults are reset at most.
func Delay(d time.Duration) Action {
	return Action{func(c *faultConn, m *message) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		if err := waitFor(c, timer.C); err != nil {
			return err
		}
		return c.forward(m)
	}}
}

// Hold lets the command wait until the gate is opened, or the faults are reset.
func Hold(g *Gate) Action {
	return Action{func(c *faultConn, m *message) error {
		g.arrive(m.command)
		if err := waitFor(c, g.open); err != nil {
			return err
		}
		return c.forward(m)
	}}
}

// waitFor returns when the signal comes or the faults are reset, or with an error when the connection is closed or its
// deadline passes.
func waitFor[T any](c *faultConn, signal <-chan T) error {
	var deadline <-chan time.Time
	if at := c.deadline(); !at.IsZero() {
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		deadline = timer.C
	}
	select {
	case <-signal:
	case <-c.released:
	case <-c.closed:
		return os.ErrClosed
	case <-deadline:
		return os.ErrDeadlineExceeded
	}
	return nil
}
