package store

import (
	"cmp"
	"sort"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// The kinds of changes, as change events name them.
const (
	Inserted        = "insert"
	Updated         = "update"
	Replaced        = "replace"
	Deleted         = "delete"
	Dropped         = "drop"
	Renamed         = "rename"
	DatabaseDropped = "dropDatabase"

	// Kinds that only streams of expanded events show.
	Created        = "create"
	IndexesCreated = "createIndexes"
	IndexesDropped = "dropIndexes"
	Modified       = "modify"
)

// Event is one change that was committed. It never changes. It shares its documents with the records.
type Event struct {
	Position
	Wall   time.Time
	Kind   string
	NS     Namespace
	UUID   bson.Binary
	Old    bson.D // Updated, Replaced, Deleted
	New    bson.D // Inserted, Updated, Replaced
	Images bool   // the collection records documents before and after changes
	Origin *Origin
	How    Description // Updated: nil if comparing the documents is enough
	Of     *Definition // nil for a change of documents, and for DatabaseDropped

	size int // bytes that the history keeps alive by it, about
}

// Description says what an update did, as change events do.
type Description interface {
	Describe(old, next bson.D) bson.D
	IsLoggedWhole(old, next bson.D) bool // its event is a replacement
}

// ID returns the _id of the changed document.
func (e *Event) ID() any {
	doc := e.New
	if doc == nil {
		doc = e.Old
	}
	id, _ := bsonval.Get(doc, "_id")
	return id
}

// Origin is the transaction that a change belongs to.
type Origin struct {
	Session string // the 16 bytes of its id
	Number  int64
}

// Position is a place in the order of changes: the cluster time of the commit, and the number of the change within it,
// from 1 on. A Position with N = 0 is before the first change of its time.
type Position struct {
	bson.Timestamp
	N uint32
}

// Compare orders positions.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.T, q.T), cmp.Compare(p.I, q.I), cmp.Compare(p.N, q.N))
}

// How much the history keeps: the latest changes, up to a number and to about
// so many bytes of documents, but at least one.
const (
	keepEvents = 10_000
	keepBytes  = 32 << 20
)

// history is the latest changes, in order, and the latest states. A store whose changes nobody watches pays a reference
// for each change.
type history struct {
	now      func() time.Time
	mu       sync.Mutex
	events   []*Event
	head     int // events before it have been forgotten
	bytes    int
	lost     Position      // of the latest event that was forgotten
	last     Position      // of the latest event, or a later time that was taken
	first    Position      // the time of the state that it began with
	wake     chan struct{} // closed when a change can be seen; nil when nobody waits
	stored   chan struct{} // closed by the next commit; nil when nobody waits
	versions []version     // the latest ones, in order
	pinned   []version     // those that somebody has read, in order
	lag      time.Duration // how long after its commit a change can be seen
}

// begin starts an empty history of a state at the present.
func (h *history) begin(state *State) {
	now := uint32(h.now().Unix())
	h.lost = Position{Timestamp: bson.Timestamp{T: now}}
	h.last = Position{Timestamp: bson.Timestamp{T: now, I: 1}}
	h.first = h.last
	h.keepVersion(state)
}

// nextTime returns the cluster time of the next commit: the second, and an increment that makes it later than the
// latest. A clock that goes back doesn't matter.
func (h *history) nextTime(now time.Time) bson.Timestamp {
	if t := uint32(now.Unix()); t > h.last.T {
		return bson.Timestamp{T: t, I: 1}
	}
	return bson.Timestamp{T: h.last.T, I: h.last.I + 1}
}

// takeTime returns a time that no commit has, as a commit would get it now.
func (h *history) takeTime() bson.Timestamp {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = Position{Timestamp: h.nextTime(h.now())}
	return h.last.Timestamp
}

// publish adds what one commit did, and the state that it made. All changes of a transaction have one time. Other
// changes each have their own time.
func (h *history) publish(state *State, events []*Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	// A commit that nobody sees as a change, such as one of a time series collection, takes a time too.
	if len(events) == 0 {
		h.last = Position{Timestamp: h.nextTime(h.now())}
		h.keepVersion(state)
		return
	}
	now := h.now()
	// N counts up within a time, so the changes of a transaction stay in order.
	for i, e := range events {
		if i == 0 || e.Origin == nil {
			h.last = Position{Timestamp: h.nextTime(now)}
		}
		h.last.N++
		e.Position, e.Wall = h.last, now
		h.bytes += e.size
		h.events = append(h.events, e)
	}
	h.keepVersion(state)
	h.forgetEvents()
	h.wakeCommitWaiters()
	if h.lag > 0 {
		time.AfterFunc(h.lag, func() { // real time: it only wakes those who look again
			h.mu.Lock()
			defer h.mu.Unlock()
			h.wakeReaders()
		})
		return
	}
	h.wakeReaders()
}

// wakeReaders wakes those who wait for a change.
func (h *history) wakeReaders() {
	if h.wake != nil {
		close(h.wake)
		h.wake = nil
	}
}

// wakeCommitWaiters wakes those who wait for a commit. Change streams may see its changes only later.
func (h *history) wakeCommitWaiters() {
	if h.stored != nil {
		close(h.stored)
		h.stored = nil
	}
}

// SignalCommit returns a channel that is closed by the next commit that changes documents or collections. Tailable
// cursors wait for it.
func (s *Store) SignalCommit() <-chan struct{} {
	h := &s.history
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stored == nil {
		h.stored = make(chan struct{})
	}
	return h.stored
}

// forgetEvents drops the oldest events beyond the limits.
func (h *history) forgetEvents() {
	for n := len(h.events) - h.head; n > 1 && (n > keepEvents || h.bytes > keepBytes); n-- {
		e := h.events[h.head]
		h.bytes -= e.size
		h.lost = e.Position
		h.events[h.head] = nil // so that its documents can be freed
		h.head++
	}
	if h.head > keepEvents/10 && h.head > len(h.events)/2 {
		n := copy(h.events, h.events[h.head:])
		clear(h.events[n:])
		h.events, h.head = h.events[:n], 0
	}
}

// searchAfter returns the index of the first kept event after the position.
func (h *history) searchAfter(after Position) int {
	kept := h.events[h.head:]
	return h.head + sort.Search(len(kept), func(i int) bool { return kept[i].Compare(after) > 0 })
}

// findShown returns the index after the last event that can be seen by now.
func (h *history) findShown() int {
	if h.lag == 0 {
		return len(h.events)
	}
	limit := h.now().Add(-h.lag)
	kept := h.events[h.head:]
	return h.head + sort.Search(len(kept), func(i int) bool { return kept[i].Wall.After(limit) })
}

// DelayEvents lets Events see each change only so long after its commit, as in a replica set whose majority is late.
func (s *Store) DelayEvents(lag time.Duration) {
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	s.history.lag = lag
	s.history.wakeReaders()
}

// Latest returns the position of the latest change. Its time is the cluster time.
func (s *Store) Latest() Position {
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	return s.history.last
}

// Forgotten returns the position of the latest change that is no longer kept.
func (s *Store) Forgotten() Position {
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	return s.history.lost
}

// Events returns at most limit changes that came after the position. If there are none, it returns a channel that is
// closed when there may be some. kept is false if changes after the position have been forgotten.
func (s *Store) Events(after Position, limit int) (list []*Event, wake <-chan struct{}, kept bool) {
	h := &s.history
	h.mu.Lock()
	defer h.mu.Unlock()
	if after.Compare(h.lost) < 0 {
		return nil, nil, false
	}
	from := h.searchAfter(after)
	list = append(list, h.events[from:max(from, min(from+limit, h.findShown()))]...)
	if len(list) > 0 {
		return list, nil, true
	}
	if h.wake == nil {
		h.wake = make(chan struct{})
	}
	return nil, h.wake, true
}

// Event returns the change at exactly that position, or nil.
func (s *Store) Event(at Position) *Event {
	h := &s.history
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := h.searchAfter(at) - 1; i >= h.head && h.events[i].Position == at {
		return h.events[i]
	}
	return nil
}

// noteEvent remembers a change of a document, which is in the history when it is published. size is the document's.
func (w *Writer) noteEvent(kind string, c *Collection, old, next bson.D, size int, how Description) {
	if w.mute || c.Series != nil {
		return
	}
	e := &Event{Kind: kind, NS: c.NS, UUID: c.UUID, Old: old, New: next, Images: c.keepsImages(), How: how, size: size}
	w.events = append(w.events, e)
}
