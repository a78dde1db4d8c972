package mongotest

import (
	"os"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/internal/testserver"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An Action is what [Faults] does to a command: see [Fail], [FailInside], [CutBefore],
// [CutInside], [CutAfter], [Delay] and [Hold]. A nil Action isn't valid. Programs can't
// write their own.
type Action func(testserver.Exchange) error

// act returns an Action for a command of a connection.
func act(do func(c *faultConn, m *message) error) Action {
	return func(x testserver.Exchange) error {
		s := x.(*sending)
		return do(s.conn, s.message)
	}
}

// Fail answers the command with a server error of this code and these labels, such as
// "RetryableWriteError". The server doesn't receive the command.
func Fail(code int32, labels ...string) Action {
	reply := failure(code, labels)
	return act(func(c *faultConn, m *message) error { return c.answer(m, reply) })
}

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

// FailInside executes the first n parts of a write (see [CutInside]), and answers with an
// error of this code and these labels. Use code 11601 for a killed command, 50 for an
// exceeded maxTimeMS, 189 or 11602 for a stepdown.
func FailInside(n int, code int32, labels ...string) Action {
	if n < 1 {
		panic("mongotest: FailInside: at least one part must be done\n\tremedy: use Fail")
	}
	reply := failure(code, labels)
	return act(func(c *faultConn, m *message) error {
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
	})
}

// CutBefore breaks the connection before the server receives the command. The driver then
// sends most commands once more. To cut the retry too, use [Faults.From].
func CutBefore() Action {
	return act(func(c *faultConn, _ *message) error { return c.cut() })
}

// CutAfter breaks the connection after the server executed the command, before the client
// receives the answer. For the driver's retry see [CutBefore].
func CutAfter() Action {
	return act(func(c *faultConn, m *message) error {
		if err := c.forward(m); err != nil {
			return err
		}
		if !m.moreToCome {
			if _, err := c.readReply(); err != nil {
				return err
			}
		}
		return c.cut()
	})
}

// CutInside breaks the connection after the first n parts of a write, like a crash
// halfway. Parts are:
//
//   - the documents of an insert
//   - the statements of an update, delete or bulkWrite
//   - the documents of a single updateMany or deleteMany, sorted by _id
//
// Transactions, commands without parts, and writes of at most n parts run as with
// [CutAfter].
func CutInside(n int) Action {
	if n < 1 {
		panic("mongotest: CutInside: at least one part must be done\n\tremedy: use CutBefore")
	}
	return act(func(c *faultConn, m *message) error {
		part, err := c.narrowed(m, n)
		if err != nil {
			return err
		}
		return CutAfter()(&sending{c, part})
	})
}

// Delay makes the command wait for the duration d, or until [Faults.Reset].
func Delay(d time.Duration) Action {
	return act(func(c *faultConn, m *message) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		if err := waitFor(c, timer.C); err != nil {
			return err
		}
		return c.forward(m)
	})
}

// Hold makes the command wait until the gate opens, or until [Faults.Reset].
func Hold(g *Gate) Action {
	return act(func(c *faultConn, m *message) error {
		g.arrive(m.command)
		if err := waitFor(c, g.open); err != nil {
			return err
		}
		return c.forward(m)
	})
}

// waitFor waits for the signal or a reset of the faults. It fails if the connection is
// closed or its deadline passes.
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
