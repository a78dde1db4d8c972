package modeltest

import (
	"context"
	"errors"
	"math"
	"net"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Faults lets chosen commands of a client fail, break its connection, or wait: on an engine and on any other server, for
// it works where the client dials. Make it with [NewFaults] and connect it by [WithFaults] or [Faults.Dialer]. It is safe
// for concurrent use, and starts no goroutine.
//
//	f := modeltest.NewFaults()
//	client := modeltest.NewClient(t, modeltest.WithFaults(f))
//	f.On(modeltest.Writes, 2, modeltest.CutAfter()) // the second write is applied, and its answer lost
//
// # Retries
//
// The driver sends a read, and a write to single documents, a second time when its connection breaks or the server's
// error has the label RetryableWriteError, and a commit always. The second attempt is one more command. So a single cut
// is mended by the driver, as it would be in production. A cut that shall be final needs [Faults.From], which meets the
// second attempt too, or a client with options.Client().SetRetryWrites(false).SetRetryReads(false). After a cut the
// driver waits up to half a second before it connects anew.
//
// Encrypted and compressed connections can't be read; a command on one ends its connection.
type Faults struct {
	mu       sync.Mutex
	rules    []*rule
	seen     []Command
	dead     bool
	sessions []bson.RawValue // of transactions
	reset    chan struct{}   // closed by Reset

	// What is done to commands that no rule is for, and to what the driver sends for itself. Reset doesn't change it.
	usual, own func(c *faultConn, m *message) error
}

// rule applies an action to the commands that match, from the from-th to the to-th.
type rule struct {
	match    Match
	from, to int
	count    int
	action   Action
}

// NewFaults returns faults that let everything pass.
func NewFaults() *Faults {
	forward := (*faultConn).forward
	return &Faults{reset: make(chan struct{}), usual: forward, own: forward}
}

// On has the action done to the n-th command from now that matches; the first is 1. Rules are independent; of those that
// a command meets, the first one given acts. It returns f.
func (f *Faults) On(m Match, n int, a Action) *Faults { return f.add(m, n, n, a) }

// From has the action done to the n-th command from now that matches, and to every later one. It returns f.
func (f *Faults) From(m Match, n int, a Action) *Faults { return f.add(m, n, math.MaxInt, a) }

func (f *Faults) add(m Match, from, to int, a Action) *Faults {
	if m == nil || from < 1 || a.do == nil {
		panic("modeltest: Faults: a rule needs a match, a number from 1 on, and an action of this package")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, &rule{match: m, from: from, to: to, action: a})
	return f
}

// Reset removes all rules, lets go of what they hold back, and forgets what was counted.
func (f *Faults) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules, f.seen, f.sessions, f.dead = nil, nil, nil, false
	close(f.reset)
	f.reset = make(chan struct{})
}

// Count returns how many commands since the last Reset match, including those that were let fail.
func (f *Faults) Count(m Match) int {
	n := 0
	for _, c := range f.Commands() {
		if m(c) {
			n++
		}
	}
	return n
}

// Commands returns the commands since the last Reset, in the order in which they were sent.
func (f *Faults) Commands() []Command {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.seen)
}

// Dialer returns a dialer whose connections are under f's rules: options.Client().SetDialer(f.Dialer(nil)). The next
// dialer makes the connection; nil is a net.Dialer.
func (f *Faults) Dialer(next options.ContextDialer) options.ContextDialer {
	if next == nil {
		next = &net.Dialer{}
	}
	return &faultDialer{f, next}
}

type faultDialer struct {
	faults *Faults
	next   options.ContextDialer
}

var errDead = errors.New("modeltest: the client is cut off")

func (d *faultDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d.faults.mu.Lock()
	dead := d.faults.dead
	d.faults.mu.Unlock()
	if dead {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errDead}
	}
	conn, err := d.next.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &faultConn{Conn: conn, faults: d.faults, closed: make(chan struct{})}, nil
}

// decide notes a command and returns what is done to it, and what ends its waiting.
func (f *Faults) decide(c Command) (Action, <-chan struct{}) {
	kept := c
	kept.Body = clip(c.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return CutBefore(), f.reset
	}
	f.seen = append(f.seen, kept)
	if starts, _ := c.Body.Lookup("startTransaction").BooleanOK(); starts {
		if id, err := kept.Body.LookupErr("lsid"); err == nil {
			f.sessions = append(f.sessions, id)
		}
	}
	action := Action{f.usual}
	chosen := false
	for _, r := range f.rules {
		if !r.match(c) {
			continue
		}
		r.count++
		if !chosen && r.count >= r.from && r.count <= r.to {
			action, chosen = r.action, true
		}
	}
	return action, f.reset
}

// kill makes the client one of a process that has died: nothing that it sends arrives any more.
func (f *Faults) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
}
