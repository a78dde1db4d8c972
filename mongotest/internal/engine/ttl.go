package engine

import (
	"context"
	"sync"
	"time"
)

// ttl says when the engine next looks for documents that have expired by a TTL index.
type ttl struct {
	mu    sync.Mutex
	every time.Duration // 0: before each command; less: never
	next  time.Time     // the end of the interval, by the engine's clock
}

// SetTTL sets the interval at which the engine removes expired documents, as MongoDB does
// every minute
// (https://www.mongodb.com/docs/manual/core/index-ttl/#timing-of-the-delete-operation).
// 0, the default, means before each command. With a negative interval only RemoveExpired removes
// them.
func (e *Engine) SetTTL(every time.Duration) {
	e.ttl.mu.Lock()
	defer e.ttl.mu.Unlock()
	e.ttl.every, e.ttl.next = every, e.now().Add(every)
}

// RemoveExpired removes expired documents now. A test calls it in place of waiting.
func (e *Engine) RemoveExpired() { e.store.RemoveExpired(context.Background(), e.now()) }

// sweepDue removes expired documents if it is time. The first command after the end of an interval removes the same
// documents as at the end: no earlier command could see the difference.
func (e *Engine) sweepDue(ctx context.Context, now time.Time) {
	e.ttl.mu.Lock()
	every, at := e.ttl.every, now
	due := every == 0
	if every > 0 && !now.Before(e.ttl.next) {
		due, at = true, e.ttl.next.Add(now.Sub(e.ttl.next)/every*every)
		e.ttl.next = at.Add(every)
	}
	e.ttl.mu.Unlock()
	if due {
		e.store.RemoveExpired(ctx, at)
	}
}
