package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// Store holds the current state and lets one writer at a time change it. An engine has one. The methods may be called
// by several goroutines.
type Store struct {
	mu      lock
	state   atomic.Pointer[State]
	txns    []*Txn // the open transactions that have written; guarded by mu
	begins  sync.Mutex
	begun   []*Txn       // all transactions that have begun and not ended; guarded by begins
	records atomic.Int64 // the latest record number
	ids     atomic.Int64 // the latest number for collections and their schemas
	history history
	clock   atomic.Pointer[func() time.Time] // nil: the real clock
}

// New returns an empty store.
func New() *Store {
	s := &Store{mu: newLock()}
	s.state.Store(newState())
	s.history.now = s.Now
	s.history.begin(s.state.Load())
	return s
}

// Snapshot returns the current state.
func (s *Store) Snapshot() *State { return s.state.Load() }

// nextRecord returns a number that no record had before, nextID one that no collection had.
func (s *Store) nextRecord() int64 { return s.records.Add(1) }
func (s *Store) nextID() int64     { return s.ids.Add(1) }

// heldError is the error of a write that has to wait for a transaction's end.
type heldError struct{ by *Txn }

func (heldError) Error() string { return "held by an open transaction" }

// IsHeld reports whether a write failed because an open transaction holds what it changes. If the function that Write
// runs returns such an error, Write waits and runs the function again. A function that has done a part of its work,
// such as an update of many documents, may return nil instead, and go on in a further Write.
func IsHeld(err error) bool {
	return errors.As(err, &heldError{})
}

// Write runs fn and publishes what it did if it returns nil. It runs fn again, from the then current state, each time
// that an open transaction was in the way and has ended. fn must not call the store's own methods, which would wait for
// its lock.
func (s *Store) Write(ctx context.Context, fn func(w *Writer) error) error {
	for {
		err := s.tryWrite(ctx, fn)
		var h heldError
		if err == nil || !errors.As(err, &h) {
			return err
		}
		if err := h.by.wait(ctx); err != nil {
			return err
		}
	}
}

// tryWrite runs fn once, and publishes what it did. The caller waits after a heldError, without the lock.
func (s *Store) tryWrite(ctx context.Context, fn func(w *Writer) error) error {
	if err := s.mu.LockContext(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	w := &Writer{store: s, base: s.state.Load()}
	w.watch.Follow(ctx)
	if err := fn(w); err != nil {
		return err
	}
	if w.HasChanges() {
		s.publish(w.State(), w.events)
	}
	return nil
}

// publish makes a state the current one. Each transaction that doesn't see what was done learns which unique keys were
// added, even if they are gone again: an insert of such a key is a write conflict.
func (s *Store) publish(state *State, events []*Event) {
	s.begins.Lock()
	now := s.Now()
	s.begun = slices.DeleteFunc(s.begun, func(t *Txn) bool { return now.After(t.deadline) })
	if len(s.begun) > 0 {
		for _, e := range events {
			s.noteKeys(state.Collection(e.NS), e)
		}
	}
	s.state.Store(state)
	s.begins.Unlock()
	s.history.publish(state, events)
}

// noteKeys tells the transactions that have begun which unique keys an event added to a collection.
func (s *Store) noteKeys(c *Collection, e *Event) {
	if c == nil || e.New == nil {
		return // a transaction notices that a collection is gone
	}
	for _, x := range c.Indexes {
		if !x.Spec.Guards() {
			continue
		}
		keys, _, err := x.Spec.Keys(e.New)
		if err == nil && e.Old != nil {
			var old []Key
			if old, _, err = x.Spec.Keys(e.Old); err == nil {
				_, keys = x.Spec.subtractKeys(old, keys)
			}
		}
		if err != nil {
			continue // it was refused
		}
		for _, t := range s.begun {
			addKeys(t.added, c.id, x.Spec, keys)
		}
	}
}

// removeBegun takes an ended transaction out of the list of those that have begun.
func (s *Store) removeBegun(t *Txn) {
	s.begins.Lock()
	defer s.begins.Unlock()
	s.begun = slices.DeleteFunc(s.begun, func(x *Txn) bool { return x == t })
}

// wait returns when the transaction has ended, which its lifetime makes sure
// of, or with the context's error.
func (t *Txn) wait(ctx context.Context) error {
	left := min(t.deadline.Sub(t.store.Now()), Lifetime)
	timer := time.NewTimer(left) // real time: where the clock stands still, the wait still ends
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
		t.Abort()
	case <-ctx.Done():
		return interrupt.Cause(ctx)
	}
	return nil
}
