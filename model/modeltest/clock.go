package modeltest

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/docmodel/docmodel/internal/engine"
)

// A Clock is the time of an engine. It stands still until the test moves it:
//
//	clock := modeltest.NewClock(time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC))
//	client := modeltest.NewClient(t, modeltest.WithClock(clock))
//	shop := shop.New(client.Database("shop"), clock.Now) // where the code under test asks for the time, too
//	…
//	clock.Advance(24 * time.Hour)
//
// All that the engine stores, answers and compares goes by it: $$NOW and $currentDate, what TTL indexes let expire, the ObjectIDs
// and timestamps that the engine makes, the times of operations and of change events, a transaction's 60 seconds, the 300
// seconds for which a snapshot can be read, and a [WithChangeLag]. The driver is not part of the engine: the _ids that it makes have
// the real time.
//
// A wait for somebody else takes real time: a getMore that awaits data, a command that a fail point or [Delay] holds up, a write
// that a transaction is in the way of, and maxTimeMS. In a testing/synctest bubble, which has a clock of its own for
// all of this, no Clock is needed.
//
// A Clock is safe for concurrent use. Several engines may share one.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	engines []*engine.Engine
}

// NewClock returns a Clock that shows the time.
func NewClock(at time.Time) *Clock { return &Clock{now: at.Round(0)} }

// Now returns what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock by d, and returns when the engines have done what is due: documents that have expired are gone, unless a
// [TTL] decides, and so are transactions that were open for too long. The clock goes back if d is negative.
func (c *Clock) Advance(d time.Duration) {
	c.move(func(now time.Time) time.Time { return now.Add(d) })
}

// Set makes the clock show the time, as [Clock.Advance] does. It may go back. Then the times of operations and change events stay at
// the latest one, as on a server, until the clock has passed it again.
func (c *Clock) Set(at time.Time) {
	c.move(func(time.Time) time.Time { return at.Round(0) })
}

func (c *Clock) move(to func(now time.Time) time.Time) {
	c.mu.Lock()
	c.now = to(c.now)
	engines := slices.Clone(c.engines)
	c.mu.Unlock()
	for _, e := range engines {
		e.ClockMoved()
	}
}

// WithClock gives the client's engine its time. A real server has its own: a client of one fails with this option.
func WithClock(clock *Clock) Option {
	if clock == nil {
		panic("modeltest: WithClock: the Clock is nil\n\tremedy: leave the option out")
	}
	return func(c *config) { c.clock = clock }
}

var errServerClock = errors.New("WithClock: a real server has a clock of its own\n\tremedy: use NewClient, which has an engine")

// drive gives the clock to an engine, of which several clients may bring it.
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
