package mongotest

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// A Clock is the time of an in-memory engine. Only the test moves the clock:
//
//	clock := mongotest.NewClock(time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC))
//	client := mongotest.NewClient(t, clock)
//	shop := shop.New(client.Database("shop"), clock.Now) // for code that reads the time
//	…
//	clock.Advance(24 * time.Hour)
//
// The engine uses the clock for $$NOW, $currentDate, TTL indexes, timestamps,
// [Settings].ChangeLag, and transaction timeouts.
//
// The driver's new _ids, fail points, [Delay], maxTimeMS, and waits for locks or events
// use the real time.
//
// Several engines and goroutines can share a Clock. As an [Option] of a real server's client,
// a Clock fails the test.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	engines []*engine.Engine
}

// NewClock returns a Clock that shows the time t.
func NewClock(t time.Time) *Clock { return &Clock{now: t.Round(0)} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock by d, which can be negative. Advance then waits until the
// clock's in-memory engines have aborted overdue transactions and removed expired
// documents. An engine with a [TTL] can remove expired documents later.
//
// The operationTime of commands and the clusterTime of change events never go back. While
// the clock is behind them, both stay at the latest time.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	engines := slices.Clone(c.engines)
	c.mu.Unlock()
	for _, e := range engines {
		e.ClockMoved()
	}
}

func (c *Clock) apply(to *config) {
	if c == nil {
		panic("mongotest: the Clock is nil\n\tremedy: leave the option out")
	}
	to.clock = c
}

var errServerClock = errors.New("Clock: a real server has a clock of its own\n\tremedy: use NewClient, which has an engine")

// drive connects the clock to an engine. Several clients may do this for the same engine.
func (c *Clock) drive(e *engine.Engine) {
	c.mu.Lock()
	known := slices.Contains(c.engines, e)
	if !known {
		c.engines = append(c.engines, e)
	}
	c.mu.Unlock()
	if !known {
		e.SetClock(c.Now)
	}
}
