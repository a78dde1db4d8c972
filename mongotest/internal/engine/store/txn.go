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

// Txn is a transaction: what it has read from, and what it has written. Only
// one goroutine at a time may use it, but any may abort it.
type Txn struct {
	Origin   Origin // what change events say of it
	store    *Store
	writer   *Writer
	deadline time.Time
	done     chan struct{} // closed at its end
	ended    bool          // guarded by store.mu, as all below
	open     bool          // it is among store.txns
	records  map[recordKey]touched
	keys     map[indexKey]*Editor[Entry] // unique keys that it added
	added    map[indexKey]*Editor[Entry] // unique keys that others have added since its begin
	created  map[Namespace]bool
}

type recordKey struct{ coll, record int64 }

// touched is a record that a transaction changed: as it was at its begin, and
// as it is now. Either may be nil.
type touched struct {
	ns        Namespace
	old, next *Record
}

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
	if !t.writer.Changed() {
		return t.writer.base
	}
	return t.writer.State()
}

// Ended reports whether the transaction has been committed or aborted, which
// it is when its lifetime is over.
func (t *Txn) Ended() bool {
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

// Over reports whether the transaction has ended, as Ended does, but never ends it.
func (t *Txn) Over() bool {
	select {
	case <-t.done:
		return true
	default:
		return t.store.Now().After(t.deadline)
	}
}

// Write runs fn. After an error the transaction must be aborted: a part of
// what fn did may have been done.
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

func (t *Txn) end() {
	if t.ended {
		return
	}
	t.ended = true
	t.store.leave(t)
	t.store.txns = slices.DeleteFunc(t.store.txns, func(x *Txn) bool { return x == t })
	close(t.done)
}

// Commit publishes what the transaction did, all at once.
func (t *Txn) Commit(ctx context.Context) error {
	if t.Ended() {
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
	if !t.open {
		return nil
	}
	w := &Writer{store: s, base: s.state.Load()}
	if err := t.apply(w); err != nil {
		return err
	}
	for _, e := range t.writer.events {
		e.Origin = &t.Origin
	}
	s.publish(w.State(), t.writer.events)
	return nil
}

// apply repeats what the transaction did on the current state. What it touched
// has not changed meanwhile, so nothing can be in the way: neither records nor
// unique keys. Old keys go before new ones come, as two records may have
// swapped theirs.
func (t *Txn) apply(w *Writer) error {
	for _, e := range t.writer.edits {
		if e.created && t.created[e.base.NS] {
			w.adopt(e.freeze())
		}
	}
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
		e := w.edit(r.ns)
		list, err := e.changes(r.old, r.next)
		if err != nil {
			return err
		}
		e.unlink(list, r.old)
		steps = append(steps, step{e, list, r})
	}
	for _, st := range steps {
		st.edit.link(st.list, st.old, st.next)
	}
	return nil
}

// NoSuchTransaction returns the error for a transaction that isn't there.
func NoSuchTransaction(format string, args ...any) error {
	return transient(mongoerr.New(mongoerr.NoSuchTransaction, format, args...))
}

func writeConflict(format string, args ...any) error {
	return transient(mongoerr.New(mongoerr.WriteConflict, format, args...))
}

func transient(err *mongoerr.Error) error {
	err.Labels = append(err.Labels, TransientTransactionError)
	return err
}
