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

// Store holds the current state and lets one writer at a time change it.
type Store struct {
	mu      lock
	state   atomic.Pointer[State]
	txns    []*Txn // the open ones that have written
	begins  sync.Mutex
	begun   []*Txn // all that have begun and not ended; guarded by begins
	records atomic.Int64
	ids     atomic.Int64
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

func (s *Store) nextRecord() int64 { return s.records.Add(1) }
func (s *Store) nextID() int64     { return s.ids.Add(1) }

// held is the error of a write that has to wait for a transaction's end.
type held struct{ by *Txn }

func (held) Error() string { return "held by an open transaction" }

// IsHeld reports whether a write failed because an open transaction holds what
// it changes. When the function that Write runs returns such an error, Write
// waits and runs it again; one that has done a part may return nil instead,
// and go on in a further Write.
func IsHeld(err error) bool {
	return errors.As(err, &held{})
}

// Write runs fn and publishes what it did if it returns nil. It runs fn again,
// from the then current state, each time that an open transaction was in the
// way and has ended. fn must not call the store's own methods.
func (s *Store) Write(ctx context.Context, fn func(w *Writer) error) error {
	for {
		err := s.try(ctx, fn)
		var h held
		if err == nil || !errors.As(err, &h) {
			return err
		}
		if err := h.by.wait(ctx); err != nil {
			return err
		}
	}
}

func (s *Store) try(ctx context.Context, fn func(w *Writer) error) error {
	if err := s.mu.LockContext(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	w := &Writer{store: s, base: s.state.Load()}
	w.watch.Follow(ctx)
	if err := fn(w); err != nil {
		return err
	}
	if w.Changed() {
		s.publish(w.State(), w.events)
	}
	return nil
}

// publish makes a state the current one. Each transaction that doesn't see what
// was done learns which unique keys were added, even if they are gone again: an
// insert of such a key is a write conflict.
func (s *Store) publish(state *State, events []*Event) {
	s.begins.Lock()
	now := s.Now()
	s.begun = slices.DeleteFunc(s.begun, func(t *Txn) bool { return now.After(t.deadline) })
	if len(s.begun) > 0 {
		for _, e := range events {
			s.tellKeys(state.Collection(e.NS), e)
		}
	}
	s.state.Store(state)
	s.begins.Unlock()
	s.history.publish(state, events)
}

func (s *Store) tellKeys(c *Collection, e *Event) {
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
				_, keys = x.Spec.difference(old, keys)
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

func (s *Store) leave(t *Txn) {
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
