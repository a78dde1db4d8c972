package modeltest

import (
	"errors"
	"sync"
	"time"

	"github.com/docmodel/docmodel/internal/engine"
)

// A TTL decides when an engine removes the documents that its TTL indexes say have expired.
//
// Without a TTL an engine removes them at once: no command finds an expired document. A MongoDB looks for expired
// documents once a minute, so that its commands may still find them for a minute, and longer under load. Code that
// reads such a collection must not rely on either. Test it with each:
//
//	modeltest.NewClient(t)                                                        // at once
//	modeltest.NewClient(t, modeltest.WithTTL(modeltest.NewTTL(time.Minute)))      // as a MongoDB does
//	ttl := modeltest.NewTTL(0); modeltest.NewClient(t, modeltest.WithTTL(ttl))    // by ttl.Sweep() alone
//
// A TTL is safe for concurrent use. Several engines may share one.
type TTL struct {
	every time.Duration

	mu      sync.Mutex
	engines []*engine.Engine
}

// NewTTL returns a TTL that removes what has expired at intervals, counted from the client's creation. With an interval
// of 0 or less, only [TTL.Sweep] removes it.
func NewTTL(every time.Duration) *TTL { return &TTL{every: every} }

// Sweep removes what has expired by now, and returns when it is gone.
func (t *TTL) Sweep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.engines {
		e.Sweep()
	}
}

// WithTTL makes t decide when the client's engine removes what has expired. A real server decides by itself: a client of
// one fails with this option.
func WithTTL(t *TTL) Option {
	if t == nil {
		panic("modeltest: WithTTL: the TTL is nil\n\tremedy: leave the option out")
	}
	return func(c *config) { c.ttl = t }
}

var errServerTTL = errors.New("WithTTL: a real server decides by itself when it removes what has expired\n\tremedy: use NewClient, " +
	"which has an engine")

// drive takes over an engine.
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
