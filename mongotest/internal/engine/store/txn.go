package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Lifetime is how long a transaction may stay open.
const Lifetime = 60 * time.Second

// TransientTransactionError labels errors after which a transaction may be
// run again from its start.
const TransientTransactionError = "TransientTransactionError"

// Txn is a transaction: what it has read from, and what it has written. Package session keeps it between commands. Only
// one goroutine at a time may use it, but any may abort it.
type Txn struct {
	Origin   Origin // what change events say of it
	store    *Store
	writer   *Writer
	deadline time.Time                   // by the store's clock
	done     chan struct{}               // closed at its end
	ended    bool                        // guarded by store.mu, as all below
	open     bool                        // it is among store.txns
	records  map[recordKey]touched       // the records that it changed
	keys     map[indexKey]*Editor[Entry] // unique keys that it added
	added    map[indexKey]*Editor[Entry] // unique keys that others have added since its begin
	created  map[Namespace]bool          // the collections that it made
}

// recordKey is a record by the collection's id and the record's number.
type recordKey struct{ coll, record int64 }

// touched is a record that a transaction changed: as it was at its begin, and
// as it is now. Either may be nil.
type touched struct {
	ns        Namespace
	old, next *Record
}

// indexKey is an index by the collection's id and the index's name.
type indexKey struct {
	coll int64
	name string
}

// Begin starts a transaction on the current state.
func (s *Store) Begin() *Txn {
	t := &Txn{
		store:    s,
		deadline: s.Now().Add(Lifetime),
		done:     make(chan struct{}),
		records:  map[recordKey]touched{},
		keys:     map[indexKey]*Editor[Entry]{},
		added:    map[indexKey]*Editor[Entry]{},
		created:  map[Namespace]bool{},
	}
	s.begins.Lock()
	defer s.begins.Unlock()
	t.writer = &Writer{store: s, txn: t, base: s.state.Load()}
	s.begun = append(s.begun, t)
	return t
}

// Snapshot returns the state as the transaction sees it.
func (t *Txn) Snapshot() *State {
	if !t.writer.HasChanges() {
		return t.writer.base
	}
	return t.writer.State()
}

// EndIfLate reports whether the transaction has been committed or aborted. It aborts a transaction whose lifetime is
// over.
func (t *Txn) EndIfLate() bool {
	if t.store.Now().After(t.deadline) {
		t.Abort()
	}
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// IsOver reports whether the transaction has ended or its lifetime is over. It changes nothing.
func (t *Txn) IsOver() bool {
	select {
	case <-t.done:
		return true
	default:
		return t.store.Now().After(t.deadline)
	}
}

// Write runs fn. After an error the caller must abort the transaction, because a part of what fn did may have been
// done.
func (t *Txn) Write(ctx context.Context, fn func(w *Writer) error) error {
	if err := t.store.mu.LockContext(ctx); err != nil {
		return err
	}
	defer t.store.mu.Unlock()
	t.writer.watch.Follow(ctx)
	if t.ended {
		return NoSuchTransaction("the transaction has been aborted")
	}
	return fn(t.writer)
}

// Abort ends the transaction without a trace. It may be called again.
func (t *Txn) Abort() {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	t.end()
}

// end takes the transaction out of the store's lists, and wakes those who wait for it. The caller has the store's lock.
func (t *Txn) end() {
	if t.ended {
		return
	}
	t.ended = true
	t.store.removeBegun(t)
	t.store.txns = slices.DeleteFunc(t.store.txns, func(x *Txn) bool { return x == t })
	close(t.done)
}

// Commit publishes what the transaction did, all at once.
func (t *Txn) Commit(ctx context.Context) error {
	if t.EndIfLate() {
		return NoSuchTransaction("the transaction has been aborted")
	}
	s := t.store
	if err := s.mu.LockContext(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if t.ended {
		return NoSuchTransaction("the transaction has been aborted")
	}
	defer t.end()
	if !t.open { // it has written nothing
		return nil
	}
	// What the transaction touched hasn't changed since, but other records of the same collections may have.
	w := &Writer{store: s, base: s.state.Load()}
	if err := t.applyRecords(w); err != nil {
		return err
	}
	for _, e := range t.writer.events {
		e.Origin = &t.Origin
	}
	s.publish(w.State(), t.writer.events)
	return nil
}

// applyRecords repeats what the transaction did on the current state. What it touched
// has not changed meanwhile, so nothing can be in the way: neither records nor
// unique keys. Old keys go before new ones come, as two records may have
// swapped theirs.
func (t *Txn) applyRecords(w *Writer) error {
	for _, e := range t.writer.edits {
		if e.created && t.created[e.base.NS] {
			w.adoptCollection(e.freeze())
		}
	}
	// All old keys go first, and then all new ones come.
	type step struct {
		edit *collEdit
		list []change
		touched
	}
	var steps []step
	order := slices.SortedFunc(maps.Keys(t.records), func(a, b recordKey) int { return int(a.record - b.record) })
	for _, k := range order {
		r := t.records[k]
		if t.created[r.ns] || r.old == nil && r.next == nil {
			continue
		}
		e := w.findEdit(r.ns)
		list, err := e.computeChanges(r.old, r.next)
		if err != nil {
			return err
		}
		e.unlinkKeys(list, r.old)
		steps = append(steps, step{e, list, r})
	}
	for _, st := range steps {
		st.edit.linkRecord(st.list, st.old, st.next)
	}
	return nil
}

// NoSuchTransaction returns the error (251) for a transaction that isn't there. A driver runs the whole transaction
// again.
func NoSuchTransaction(format string, args ...any) error {
	return markTransient(mongoerr.New(mongoerr.NoSuchTransaction, format, args...))
}

// newWriteConflict returns the error WriteConflict (112).
func newWriteConflict(format string, args ...any) error {
	return markTransient(mongoerr.New(mongoerr.WriteConflict, format, args...))
}

// markTransient adds the label after which a driver runs the transaction again.
func markTransient(err *mongoerr.Error) error {
	err.Labels = append(err.Labels, TransientTransactionError)
	return err
}
