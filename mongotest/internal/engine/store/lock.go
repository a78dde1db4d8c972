package store

import (
	"context"

	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// lock is a mutex whose waiting a context ends: the channel holds one value while it is locked. A sync.Mutex can't do
// that.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

// Lock locks, however long it takes. An abort calls it, which must happen even if its command is over.
func (l lock) Lock()   { l <- struct{}{} }
func (l lock) Unlock() { <-l }

// LockContext locks unless the context ends before.
func (l lock) LockContext(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	default:
	}
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return interrupt.Cause(ctx)
	}
}
