package mongotest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"

	"github.com/docmodel/docmodel/internal/testserver"
)

// A Monitor records the commands and the cost of one or several clients. Give it to
// [NewClient] as an [Option], or to a client of your own as [Monitor.CommandMonitor]. It is
// safe for concurrent use.
//
// [Monitor.Cost] counts getMore, killCursors, commitTransaction and retries of reads.
// Handshakes, endSessions, retries of writes, and repeated attempts of a transaction
// don't count.
type Monitor struct {
	mu       sync.Mutex
	cost     Cost
	commands []Command
	attempts map[attempt]bool
	txns     map[string]*txnCost // by session
	requests map[int64]*txnCost  // commands without an answer yet
}

// txnCost is the cost of a transaction.
type txnCost struct {
	number  int64
	cost    Cost
	aborted bool // by the server: it doesn't count
}

// attempt identifies a retryable write or the end of a transaction.
type attempt struct {
	name, session string
	number        int64
}

// NewMonitor returns an empty Monitor.
func NewMonitor() *Monitor {
	m := &Monitor{}
	m.Reset()
	return m
}

func (m *Monitor) apply(c *config) {
	if m == nil {
		panic("mongotest: the Monitor is nil\n\tremedy: leave the option out")
	}
	c.monitors = append(c.monitors, m)
}

// CommandMonitor returns a driver monitor. A client with this monitor records its
// commands in m: options.Client().SetMonitor(m.CommandMonitor()).
func (m *Monitor) CommandMonitor() *event.CommandMonitor {
	return &event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) { m.started(e) },
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
			m.succeeded(e.RequestID, e.CommandName, e.Reply)
		},
		Failed: func(_ context.Context, e *event.CommandFailedEvent) { m.failed(e.RequestID, e.Failure) },
	}
}

// Commands returns the commands since the last [Monitor.Reset], in the order sent,
// including retries. In commands over 16 KiB, values over 4 KiB are shortened.
func (m *Monitor) Commands() []Command {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.commands)
}

// Cost returns the cost since the last [Monitor.Reset]: commands, documents written
// (inserted, matched for update, upserted or deleted) and documents returned by cursors.
// It doesn't count what $merge, $out and unacknowledged writes write.
func (m *Monitor) Cost() Cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cost
}

// Reset removes the recorded commands and the cost.
func (m *Monitor) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cost, m.commands, m.attempts = Cost{}, nil, map[attempt]bool{}
	m.txns, m.requests = map[string]*txnCost{}, map[int64]*txnCost{}
}

func (m *Monitor) started(e *event.CommandStartedEvent) {
	c := newCommand(e.DatabaseName, e.Command)
	if testserver.IsDriversOwn(c.Name, c.Body) {
		return
	}
	key, numbered := attemptOf(c)
	c.Body = testserver.Clip(c.Body)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commands = append(m.commands, c)
	if numbered {
		if m.attempts[key] {
			return
		}
		m.attempts[key] = true
	}
	t := m.transactionOf(c)
	if t != nil {
		m.requests[e.RequestID] = t
	}
	m.add(t, Cost{Commands: 1})
}

// transactionOf returns the transaction of a command, or nil.
func (m *Monitor) transactionOf(c Command) *txnCost {
	number, numbered := c.Body.Lookup("txnNumber").Int64OK()
	session, err := c.Body.LookupErr("lsid", "id")
	if _, inTx := c.Body.Lookup("autocommit").BooleanOK(); !inTx || !numbered || err != nil {
		return nil
	}
	t := m.txns[string(session.Value)]
	if t == nil || t.number != number {
		t = &txnCost{number: number}
		m.txns[string(session.Value)] = t
	}
	return t
}

// add adds to the total cost, and to the transaction's, if any.
func (m *Monitor) add(t *txnCost, c Cost) {
	if t != nil {
		if t.aborted {
			return
		}
		t.cost.add(c)
	}
	m.cost.add(c)
}

// failed subtracts the cost of a transaction that the server wants to run again.
func (m *Monitor) failed(request int64, failure error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.requests[request]
	delete(m.requests, request)
	var e driver.Error // events have the driver's inner error type
	if t == nil || t.aborted || !errors.As(failure, &e) || !e.HasErrorLabel(driver.TransientTransactionError) {
		return
	}
	t.aborted = true
	m.cost.Commands -= t.cost.Commands
	m.cost.Written -= t.cost.Written
	m.cost.Returned -= t.cost.Returned
}

// attemptOf returns the identity of a command, and whether the driver may send it twice.
func attemptOf(c Command) (attempt, bool) {
	number, ok := c.Body.Lookup("txnNumber").Int64OK()
	if !ok {
		return attempt{}, false
	}
	_, err := c.Body.LookupErr("autocommit")
	if inTx := err == nil; inTx && c.Name != "commitTransaction" && c.Name != "abortTransaction" {
		return attempt{}, false // all commands of a transaction have its number
	}
	session, err := c.Body.LookupErr("lsid", "id")
	if err != nil {
		return attempt{}, false
	}
	return attempt{c.Name, string(session.Value), number}, true
}

func (m *Monitor) succeeded(request int64, name string, reply bson.Raw) {
	var written, returned int
	switch name {
	case "insert", "update", "delete":
		written = number(reply, "n")
	case "findAndModify", "findandmodify":
		written = number(reply, "lastErrorObject", "n")
		if reply.Lookup("value").Type == bson.TypeEmbeddedDocument {
			returned = 1
		}
	case "bulkWrite":
		for _, key := range []string{"nInserted", "nMatched", "nUpserted", "nDeleted"} {
			written += number(reply, key)
		}
	}
	if name != "bulkWrite" { // its cursor returns results, not documents
		returned += length(reply, "cursor", "firstBatch") + length(reply, "cursor", "nextBatch")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(m.requests[request], Cost{Written: written, Returned: returned})
	delete(m.requests, request)
}

func number(reply bson.Raw, path ...string) int {
	v, err := reply.LookupErr(path...)
	if err != nil {
		return 0
	}
	n, _ := v.AsInt64OK()
	return int(n)
}

func length(reply bson.Raw, path ...string) int {
	v, err := reply.LookupErr(path...)
	if err != nil {
		return 0
	}
	array, ok := v.ArrayOK()
	if !ok {
		return 0
	}
	values, _ := array.Values()
	return len(values)
}
