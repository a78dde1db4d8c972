package session

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// Set is the sessions of an engine. Several commands use it at the same time.
type Set struct {
	mu   sync.Mutex
	byID map[string]*Session // the sessions in which a command with a number came
	use  use                 // of all sessions, also of those without a number
}

// Checkout waits until no other command has the session. It makes the session if it doesn't exist. The caller must call
// release.
func (x *Set) Checkout(ctx context.Context, id string) (s *Session, release func(), err error) {
	x.mu.Lock()
	if x.byID == nil {
		x.byID = map[string]*Session{}
	}
	if s = x.byID[id]; s == nil {
		s = &Session{busy: make(chan struct{}, 1), number: -1}
		x.byID[id] = s
	}
	x.mu.Unlock()
	select {
	case s.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, interrupt.Cause(ctx)
	}
	return s, func() { <-s.busy }, nil
}

// End forgets a session, and aborts its transaction.
func (x *Set) End(id string) {
	x.mu.Lock()
	s := x.byID[id]
	delete(x.byID, id)
	x.mu.Unlock()
	x.use.forget(id)
	if s == nil {
		return
	}
	if t := s.txn.Load(); t != nil {
		t.Abort()
	}
}

// IDs returns the ids of the sessions that have a number.
func (x *Set) IDs() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Collect(maps.Keys(x.byID))
}

// CountTransactions returns the number of open transactions.
func (x *Set) CountTransactions() (n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.byID {
		if t := s.txn.Load(); t != nil && !t.IsOver() {
			n++
		}
	}
	return n
}

// NoteUse notes that a session is used now.
func (x *Set) NoteUse(id string, now time.Time) { x.use.note(id, now) }

// List returns the sessions as $listLocalSessions shows them, in the order of their ids.
func (x *Set) List(now time.Time) []bson.D { return x.use.list(now) }
