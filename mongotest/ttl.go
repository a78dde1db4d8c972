package mongotest

import (
	"errors"
	"sync"
	"time"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// A TTL decides when an engine removes documents that have expired by a TTL index.
// MongoDB removes expired documents once a minute, or later. Before the removal, commands
// find expired documents. Test with and without delay:
//
//	mongotest.NewClient(t)                // at once
//	ttl := mongotest.NewTTL(time.Minute)  // as MongoDB does, with NewClient(t, ttl)
//	ttl := mongotest.NewTTL(0)            // only by ttl.Sweep(), with NewClient(t, ttl)
//
// Several engines can share a TTL, also concurrently. As an [Option] of a real server's
// client, a TTL fails the test.
type TTL struct {
	every time.Duration

	mu      sync.Mutex
	engines []*engine.Engine
}

// NewTTL returns a TTL that removes expired documents after each interval, counted from
// the creation of the client. If the interval is 0 or less, only [TTL.Sweep]
// removes them.
func NewTTL(interval time.Duration) *TTL { return &TTL{every: interval} }

// Sweep removes expired documents now.
func (t *TTL) Sweep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.engines {
		e.RemoveExpired()
	}
}

func (t *TTL) apply(c *config) {
	if t == nil {
		panic("mongotest: the TTL is nil\n\tremedy: leave the option out")
	}
	c.ttl = t
}

var errServerTTL = errors.New("TTL: a real server decides by itself when it removes what has expired\n\tremedy: use NewClient, " +
	"which has an engine")

// drive takes control of an engine.
func (t *TTL) drive(e *engine.Engine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	every := t.every
	if every <= 0 {
		every = -1
	}
	e.SetTTL(every)
	t.engines = append(t.engines, e)
}
