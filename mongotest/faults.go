package mongotest

import (
	"context"
	"errors"
	"math"
	"net"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/testserver"
)

// Faults makes chosen commands of a client fail, wait, or lose their connection, on any
// server. Give them to [NewClient] as an [Option], or connect a client by [Faults.Dialer],
// without TLS and compression. Faults are safe for concurrent use, and reset when the client
// is closed. Of several Faults of one client, the first ones act first.
//
//	f := mongotest.NewFaults()
//	client := mongotest.NewClient(t, f)
//	f.On(mongotest.Writes, 2, mongotest.CutAfter()) // lose the second write's answer
//
// # Retries
//
// The driver sends most commands a second time after a broken connection or an error
// labeled RetryableWriteError. To cut both attempts, use [Faults.From].
type Faults struct {
	mu    sync.Mutex
	rules []*rule
	seen  []Command
	dead  bool
	reset chan struct{} // closed by Reset

	// Actions for commands without a rule, and for the driver's own commands. Reset keeps
	// them.
	usual, own Action
}

// rule applies an action to matching commands, from the from-th to the to-th.
type rule struct {
	match    Match
	from, to int
	count    int
	action   Action
}

// NewFaults returns Faults without actions.
func NewFaults() *Faults {
	forward := act((*faultConn).forward)
	return &Faults{reset: make(chan struct{}), usual: forward, own: forward}
}

func (f *Faults) apply(c *config) {
	if f == nil {
		panic("mongotest: the Faults are nil\n\tremedy: leave the option out")
	}
	c.layers = append(c.layers, f)
}

// On applies the action a to one later command: the n-th command that m matches, counted
// from 1. If several actions are for the same command, only the action that was added
// first is applied.
func (f *Faults) On(m Match, n int, a Action) *Faults { return f.add(m, n, n, a) }

// From is [Faults.On] for the n-th matching command and all later ones.
func (f *Faults) From(m Match, n int, a Action) *Faults { return f.add(m, n, math.MaxInt, a) }

func (f *Faults) add(m Match, from, to int, a Action) *Faults {
	if m == nil || from < 1 || a == nil {
		panic("mongotest: Faults: a rule needs a match, a number from 1 on, and an action of this package")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, &rule{match: m, from: from, to: to, action: a})
	return f
}

// Reset removes all actions, releases waiting commands, and clears what [Faults.Count]
// and [Faults.Commands] return.
func (f *Faults) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules, f.seen, f.dead = nil, nil, false
	close(f.reset)
	f.reset = make(chan struct{})
}

// Count returns the number of commands that m matches, including failed commands.
// Counting begins at the last Reset.
func (f *Faults) Count(m Match) int {
	n := 0
	for _, c := range f.Commands() {
		if m(c) {
			n++
		}
	}
	return n
}

// Commands returns the commands since the last Reset, in the order sent.
func (f *Faults) Commands() []Command {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.seen)
}

// Dialer returns a dialer that applies f to its connections:
// options.Client().SetDialer(f.Dialer(nil)). The dialer next opens the connections. A nil
// next means a net.Dialer.
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

var errDead = errors.New("mongotest: the client is cut off")

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

// decide records a command, and returns its action and the channel that ends its wait.
func (f *Faults) decide(c Command) (Action, <-chan struct{}) {
	kept := c
	kept.Body = testserver.Clip(c.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return CutBefore(), f.reset
	}
	f.seen = append(f.seen, kept)
	action := f.usual
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

// kill simulates the death of the client's process: nothing that it sends arrives
// anymore.
func (f *Faults) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
}
