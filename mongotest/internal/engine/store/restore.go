package store

import "slices"

// Restore makes s hold what from holds, and nothing else. Both share it until one of them changes it. Open transactions
// of s are aborted, and its history begins anew. Nothing may write to from meanwhile.
func (s *Store) Restore(from *Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range slices.Clone(s.txns) {
		t.end()
	}
	s.state.Store(from.state.Load())
	// Numbers are never used again, because cursors may remember those of s.
	s.records.Store(max(s.records.Load(), from.records.Load()))
	s.ids.Store(max(s.ids.Load(), from.ids.Load()))
	s.history.restart(from.history.readLatest(), s.state.Load())
}

// readLatest returns the latest position.
func (h *history) readLatest() Position {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// restart forgets all changes. What comes is after a position, for documents may hold its time.
func (h *history) restart(after Position, state *State) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last.Compare(after) < 0 {
		h.last = after
	}
	h.events, h.head, h.bytes, h.lost = nil, 0, 0, h.last
	h.versions, h.pinned = nil, nil
	h.keepVersion(state)
	h.wakeCommitWaiters()
	h.wakeReaders()
}
