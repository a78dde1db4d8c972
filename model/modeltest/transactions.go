package modeltest

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
)

// transactions are those of one operation. It has one at a time; beside it, a lease that it
// holds is extended.
type transactions struct {
	starts  atomic.Int64 // request that begins a transaction, or 0
	number  atomic.Int64 // of begun transactions
	open    atomic.Int64 // number of the open transaction, or 0
	refused atomic.Int64 // the other operation's transaction that caused a refusal
}

// waitFor reports whether t's operation was refused because of a transaction of the other
// operation that is still open.
func (t *transactions) waitFor(other *transactions) bool {
	n := t.refused.Load()
	return n != 0 && n == other.open.Load()
}

// begin forgets the transactions of an earlier operation.
func (t *transactions) begin() {
	t.starts.Store(0)
	t.open.Store(0)
	t.refused.Store(0)
}

// monitor follows the operation's commands.
func (t *transactions) monitor(other *transactions) *event.CommandMonitor {
	return &event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) {
			if starts, _ := e.Command.Lookup("startTransaction").BooleanOK(); starts {
				t.starts.Store(e.RequestID)
			}
		},
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
			switch {
			case endsTransaction(e.CommandName):
				t.open.Store(0)
			case t.starts.CompareAndSwap(e.RequestID, 0):
				t.open.Store(t.number.Add(1))
			}
		},
		Failed: func(_ context.Context, e *event.CommandFailedEvent) {
			var failure driver.Error // events have the driver's inner error type
			conflict := errors.As(e.Failure, &failure) &&
				(failure.HasErrorLabel(driver.TransientTransactionError) || failure.Code == mongoerr.WriteConflict)
			if conflict {
				t.refused.Store(other.open.Load())
			}
			if conflict || endsTransaction(e.CommandName) {
				t.open.Store(0)
			}
		},
	}
}

func endsTransaction(command string) bool {
	return command == "commitTransaction" || command == "abortTransaction"
}

// lastAttempts returns the commands without transactions that were aborted and begun
// again in the same session, as the driver does on request of the server.
func lastAttempts(commands []mongotest.Command) []mongotest.Command {
	numberOf := func(c mongotest.Command) (session string, number int64, ok bool) {
		if _, err := c.Body.LookupErr("autocommit"); err != nil {
			return "", 0, false
		}
		id, err := c.Body.LookupErr("lsid", "id")
		number, ok = c.Body.Lookup("txnNumber").Int64OK()
		return string(id.Value), number, ok && err == nil
	}
	type attempt struct {
		session string
		number  int64
	}
	last, aborted := map[string]int64{}, map[attempt]bool{}
	for _, c := range commands {
		if session, number, ok := numberOf(c); ok {
			last[session] = max(last[session], number)
			aborted[attempt{session, number}] = aborted[attempt{session, number}] || c.Name == "abortTransaction"
		}
	}
	return slices.DeleteFunc(slices.Clone(commands), func(c mongotest.Command) bool {
		session, number, ok := numberOf(c)
		return ok && number < last[session] && aborted[attempt{session, number}]
	})
}
