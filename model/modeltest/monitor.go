package modeltest

import (
	"context"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/docmodel/docmodel/model"
)

// A Monitor sees what clients send and what they are answered. Make it with [NewMonitor]. It is safe for concurrent use,
// and may be given to several clients.
//
// It counts each command that an application causes: getMore, killCursors, commitTransaction and a hello of its own too.
// It doesn't count handshakes, the driver's watch over the server, endSessions, or the driver's second attempt at a
// write, which carries the number of the first. A second attempt at a read can't be told from another read, and counts.
type Monitor struct {
	mu       sync.Mutex
	cost     model.Cost
	commands []Command
	attempts map[attempt]bool
}

// attempt identifies a retryable write or the end of a transaction.
type attempt struct {
	name, session string
	number        int64
}

// NewMonitor returns a monitor that has seen nothing.
func NewMonitor() *Monitor { return &Monitor{attempts: map[attempt]bool{}} }

// CommandMonitor is the monitor as the driver takes it: options.Client().SetMonitor(m.CommandMonitor()).
func (m *Monitor) CommandMonitor() *event.CommandMonitor {
	return &event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) { m.started(e) },
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
			m.succeeded(e.CommandName, e.Reply)
		},
	}
}

// Commands returns the commands seen so far, in the order in which they were sent. Of commands over 16 KiB, values over
// 4 KiB are cut. Attempts that the driver repeated are in the list.
func (m *Monitor) Commands() []Command {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.commands)
}

// Cost returns what was measured so far: commands, documents written (inserted, matched for update, upserted or deleted)
// and documents returned in the batches of cursors. Written doesn't include what $merge and $out write, which no server
// reports, nor what a write without acknowledgment did.
func (m *Monitor) Cost() model.Cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cost
}

// Reset forgets everything.
func (m *Monitor) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cost, m.commands, m.attempts = model.Cost{}, nil, map[attempt]bool{}
}

func (m *Monitor) started(e *event.CommandStartedEvent) {
	c := newCommand(e.DatabaseName, e.Command)
	if c.own() {
		return
	}
	key, numbered := attemptOf(c)
	c.Body = clip(c.Body)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commands = append(m.commands, c)
	if numbered {
		if m.attempts[key] {
			return
		}
		m.attempts[key] = true
	}
	m.cost.Commands++
}

// attemptOf returns what tells a command from the next one, and whether the driver may send it twice.
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

func (m *Monitor) succeeded(name string, reply bson.Raw) {
	var written, returned int
	switch name {
	case "insert", "update", "delete":
		written = number(reply, "n")
	case "findAndModify", "findandmodify":
		written = number(reply, "lastErrorObject", "n")
	case "bulkWrite":
		for _, key := range []string{"nInserted", "nMatched", "nUpserted", "nDeleted"} {
			written += number(reply, key)
		}
	}
	if name != "bulkWrite" { // whose cursor is of results, not of documents
		returned = length(reply, "cursor", "firstBatch") + length(reply, "cursor", "nextBatch")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cost.Written += written
	m.cost.Returned += returned
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
