package store

import (
	"cmp"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// Writer makes changes, which its owner then publishes or forgets: Store.Write for one call, a Txn from its begin to
// its end. Documents that it stores must not change afterwards.
type Writer struct {
	store *Store
	txn   *Txn // nil outside transactions
	base  *State
	edits []*collEdit
	ddl   bool        // collections came or went, or their indexes changed
	drops []Namespace // the collections that it removed

	events []*Event // what it did, for the history
	mute   bool     // nothing is noted: see Overwrite

	watch interrupt.Watch

	Unchecked bool // skip the collection's check: bypassDocumentValidation

	// Placed, when not nil, may refuse a document in the place of another, which is nil for an insert. The engine's
	// router checks shard keys by it.
	Placed func(ns Namespace, old, next bson.D) error
}

// Time returns a cluster time that no commit has, for an empty timestamp that the server fills in.
func (w *Writer) Time() bson.Timestamp { return w.store.history.takeTime() }

// Now returns the time of the store's clock.
func (w *Writer) Now() time.Time { return w.store.Now() }

// State returns what the writer would publish now.
func (w *Writer) State() *State {
	s := *w.base
	e := s.colls.Edit()
	for _, ns := range w.drops {
		e.Delete(&Collection{NS: ns})
	}
	for _, edit := range w.edits {
		if edit.changed {
			e.Set(edit.freeze())
		}
	}
	s.colls = e.Tree()
	// Only then the number of collections with TTL indexes can have changed.
	if w.ddl {
		s.ttl = 0
		for c := range s.Collections("") {
			if c.hasExpiry() {
				s.ttl++
			}
		}
	}
	return &s
}

// HasChanges reports whether the writer has done anything.
func (w *Writer) HasChanges() bool {
	for _, e := range w.edits {
		if e.changed {
			return true
		}
	}
	return w.ddl || len(w.events) > 0
}

// Collection returns the collection as the writer has it now, or nil.
func (w *Writer) Collection(ns Namespace) *Collection {
	if e := w.findEdit(ns); e != nil {
		return e.freeze()
	}
	return nil
}

// findEdit returns the collection's edit, which it begins if needed, or nil when there is no such collection.
func (w *Writer) findEdit(ns Namespace) *collEdit {
	for _, e := range w.edits {
		if e.base.NS == ns {
			return e
		}
	}
	for _, d := range w.drops {
		if d == ns {
			return nil
		}
	}
	c := w.base.Collection(ns)
	if c == nil {
		return nil
	}
	e := editCollection(c)
	w.edits = append(w.edits, e)
	return e
}

// Insert stores a document, which has an _id. The collection is made if it isn't there.
func (w *Writer) Insert(ns Namespace, doc bson.D) (*Record, error) {
	size, err := measure(doc)
	if err != nil {
		return nil, err
	}
	if size > MaxDocument {
		return nil, mongoerr.New(mongoerr.BSONObjectTooLarge,
			"BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB) First element: %s",
			size, size, MaxDocument, showFirstElement(doc))
	}
	e := w.findEdit(ns)
	if e == nil {
		if err := w.Create(ns, nil); err != nil {
			return nil, err
		}
		e = w.findEdit(ns)
	}
	if err := w.checkForm(e); err != nil {
		return nil, err
	}
	if e.base.Series != nil {
		if doc, err = e.base.Series.arrangeFields(doc); err != nil {
			return nil, err
		}
	}
	if err := w.callCheck(e, nil, doc); err != nil {
		return nil, err
	}
	if err := w.callPlaced(ns, nil, doc); err != nil {
		return nil, err
	}
	next := &Record{ID: w.store.nextRecord(), Doc: doc}
	if err := w.putRecord(e, nil, next); err != nil {
		return next, err
	}
	w.noteEvent(Inserted, e.base, nil, doc, size, nil)
	return next, w.trimCapped(e, next)
}

// Replace stores doc in place of old, which must be a record that the writer has now. It is an error if the _id would
// change.
func (w *Writer) Replace(ns Namespace, old *Record, doc bson.D) (*Record, error) {
	return w.replace(Replaced, ns, old, doc, nil)
}

// Update is Replace for a document that is old's with changes. The history has another kind of event for it, and how
// describes the changes there.
func (w *Writer) Update(ns Namespace, old *Record, doc bson.D, how Description) (*Record, error) {
	return w.replace(Updated, ns, old, doc, how)
}

func (w *Writer) replace(kind string, ns Namespace, old *Record, doc bson.D, how Description) (*Record, error) {
	size, err := measure(doc)
	if err != nil {
		return nil, err
	}
	if size > MaxDocument {
		return nil, mongoerr.New(17419, "Resulting document after update is larger than %d", MaxDocument)
	}
	if !sameID(old.Doc, doc) {
		return nil, mongoerr.New(mongoerr.ImmutableField,
			"Performing an update on the path '_id' would modify the immutable field '_id'")
	}
	next := &Record{ID: old.ID, Doc: doc}
	// A check is asked before unique keys are, so that its error comes first, as on a server.
	e := w.findEdit(ns)
	if err := w.checkForm(e); err != nil {
		return nil, err
	}
	if err := w.callCheck(e, old.Doc, doc); err != nil {
		return nil, err
	}
	if err := w.callPlaced(ns, old.Doc, doc); err != nil {
		return nil, err
	}
	if err := w.putRecord(e, old, next); err != nil {
		return next, err
	}
	w.noteEvent(kind, e.base, old.Doc, doc, size, how)
	return next, nil
}

// callCheck calls the collection's check, unless the command bypasses it.
func (w *Writer) callCheck(e *collEdit, old, next bson.D) error {
	if e.base.Check == nil || w.Unchecked {
		return nil
	}
	return e.base.Check(&w.watch, old, next)
}

// callPlaced calls Placed if it is set.
func (w *Writer) callPlaced(ns Namespace, old, next bson.D) error {
	if w.Placed == nil {
		return nil
	}
	return w.Placed(ns, old, next)
}

// Delete removes old, which must be a record that the writer has now.
func (w *Writer) Delete(ns Namespace, old *Record) error {
	e := w.findEdit(ns)
	if err := w.checkForm(e); err != nil {
		return err
	}
	if err := w.putRecord(e, old, nil); err != nil {
		return err
	}
	w.noteEvent(Deleted, e.base, old.Doc, nil, bsonval.Size(old.Doc), nil)
	return nil
}

// putRecord turns old into next, either of which may be nil. It does all or nothing: first it computes and checks, and
// then it changes.
func (w *Writer) putRecord(e *collEdit, old, next *Record) error {
	list, err := e.computeChanges(old, next)
	if err != nil {
		return err
	}
	if err := w.store.claimChange(w, e, list, old, next); err != nil {
		return err
	}
	if next != nil {
		if err := e.checkUnique(list, next.ID); err != nil {
			return err
		}
	}
	if w.txn != nil {
		w.txn.noteChange(e, list, old, next)
	}
	e.unlinkKeys(list, old)
	e.linkRecord(list, old, next)
	return nil
}

// Record returns the record of that id as the writer has it now.
func (w *Writer) Record(ns Namespace, id int64) (*Record, bool) {
	e := w.findEdit(ns)
	if e == nil {
		return nil, false
	}
	return e.records.View().Find(func(r *Record) int { return cmp.Compare(r.ID, id) })
}
