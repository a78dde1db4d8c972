package engine

import (
	"context"
	"sync"
	"time"
)

// ttl is when the engine next looks for documents that have expired by a TTL index.
type ttl struct {
	mu    sync.Mutex
	every time.Duration // 0: before each command; less: never
	Next  time.Time
}

// SetTTL sets the interval at which the engine removes expired documents, as MongoDB does
// every minute
// (https://www.mongodb.com/docs/manual/core/index-ttl/#timing-of-the-delete-operation).
// 0, the default, means before each command. With a negative interval only Sweep removes
// them.
func (e *Engine) SetTTL(every time.Duration) {
	e.ttl.mu.Lock()
	defer e.ttl.mu.Unlock()
	e.ttl.every, e.ttl.Next = every, e.now().Add(every)
}

// RemoveExpired removes expired documents.
func (e *Engine) Sweep() { e.store.RemoveExpired(context.Background(), e.now()) }

// sweepDue removes expired documents if it is time. The first command after the end of an interval removes what the end
// would have removed: no earlier command could see the difference.
func (e *Engine) sweepDue(ctx context.Context, now time.Time) {
	e.ttl.mu.Lock()
	every, at := e.ttl.every, now
	due := every == 0
	if every > 0 && !now.Before(e.ttl.Next) {
		due, at = true, e.ttl.Next.Add(now.Sub(e.ttl.Next)/every*every)
		e.ttl.Next = at.Add(every)
	}
	e.ttl.mu.Unlock()
	if due {
		e.store.RemoveExpired(ctx, at)
	}
}
