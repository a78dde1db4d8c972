package store

import (
	"sort"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Window is how long the store can still be read as it was: minSnapshotHistoryWindowInSeconds of MongoDB, at its
// default.
const Window = 300 * time.Second

// keepVersions is how many versions are kept at most, beside those that somebody has pinned. A version shares with the
// others all that hasn't changed between them.
const keepVersions = 1000

// version is the state from the time of a commit on.
type version struct {
	from  bson.Timestamp
	state *State
}

// isBefore reports whether a cluster time is before another.
func isBefore(a, b bson.Timestamp) bool {
	return Position{Timestamp: a}.Compare(Position{Timestamp: b}) < 0
}

// keepVersion adds the state that a commit has made, and drops versions that are too old or too many. The caller has
// the history's lock.
func (h *history) keepVersion(state *State) {
	now := h.last.Timestamp
	if n := len(h.versions); n > 0 && h.versions[n-1].from == now {
		h.versions[n-1].state = state
		return
	}
	h.versions = append(h.versions, version{now, state})
	oldest := uint32(h.now().Add(-Window).Unix())
	drop := max(len(h.versions)-keepVersions, 0)
	for drop < len(h.versions)-1 && h.versions[drop+1].from.T < oldest {
		drop++
	}
	// Dropping copies the list, so it waits until there is much to drop.
	if drop > keepVersions/10 || drop == len(h.versions)-1 {
		h.versions = append(h.versions[:0:0], h.versions[drop:]...)
	}
}

// Pin returns the present time and the state at it, for a snapshot session. FindState returns this state as long as its
// window lasts, however many commits follow.
func (s *Store) Pin() (bson.Timestamp, *State) {
	h := &s.history
	h.mu.Lock()
	defer h.mu.Unlock()
	v := version{h.last.Timestamp, h.versions[len(h.versions)-1].state}
	oldest := uint32(h.now().Add(-Window).Unix())
	for len(h.pinned) > 0 && h.pinned[0].from.T < oldest {
		h.pinned = h.pinned[1:]
	}
	if n := len(h.pinned); n == 0 || h.pinned[n-1].from != v.from {
		h.pinned = append(h.pinned, v)
	}
	return v.from, v.state
}

// FindState returns the state at a time that isn't long ago, for reads with atClusterTime. A time in the future is
// InvalidOptions, a time before the window SnapshotTooOld (239).
func (s *Store) FindState(t bson.Timestamp) (*State, error) {
	h := &s.history
	h.mu.Lock()
	defer h.mu.Unlock()
	if isBefore(h.last.Timestamp, t) {
		return nil, mongoerr.New(mongoerr.InvalidOptions,
			"readConcern atClusterTime value must not be greater than the current clusterTime. "+
				"Requested clusterTime: %s; current clusterTime: %s", Show(t), Show(h.last.Timestamp))
	}
	// A state that is still kept by chance is too old all the same, as it would be on a server.
	old := t.T < uint32(h.now().Add(-Window).Unix())
	if i := sort.Search(len(h.versions), func(i int) bool { return isBefore(t, h.versions[i].from) }); i > 0 && !old {
		return h.versions[i-1].state, nil
	}
	for _, v := range h.pinned {
		if v.from == t && !old {
			return v.state, nil
		}
	}
	return nil, mongoerr.New(mongoerr.SnapshotTooOld,
		"Read timestamp %s is older than the oldest available timestamp.", Show(t))
}
