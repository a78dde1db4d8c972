package store

import (
	"context"
	"time"
)

// Now returns the time of the store's clock, by which documents expire, transactions end, and changes get their times.
func (s *Store) Now() time.Time {
	if now := s.clock.Load(); now != nil {
		return (*now)()
	}
	return time.Now() // real time: of a store without a clock of its own
}

// SetClock gives the store a clock. The history of a store that nothing has been written to begins anew, at the present
// of that clock. Otherwise the times of changes go on from the latest one.
func (s *Store) SetClock(now func() time.Time) {
	s.clock.Store(&now)
	s.history.rebegin(s.Snapshot())
}

// NoteClock does what time alone brings, after a test has moved the clock to now: it ends the transactions whose
// lifetime is over, and wakes those who wait for changes, which may have been delayed until now.
func (s *Store) NoteClock(ctx context.Context, now time.Time) {
	_ = s.reap(ctx, now) // an error says that the engine is closed
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	s.history.wakeReaders()
}

// rebegin begins a history anew in which nothing has happened.
func (h *history) rebegin(state *State) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last != h.first {
		return
	}
	h.versions, h.pinned = nil, nil
	h.begin(state)
}
