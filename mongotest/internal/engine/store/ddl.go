package store

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// Create makes an empty ordinary collection with the index on _id. Inserts call it too, for a collection that isn't
// there.
func (w *Writer) Create(ns Namespace, options bson.D) error { return w.CreateAs(ns, options, Form{}) }

// CreateAs makes an empty collection of that form. options are as listCollections shows them. Of two transactions that
// create the same collection the second fails with WriteConflict.
func (w *Writer) CreateAs(ns Namespace, options bson.D, form Form) error {
	if w.findEdit(ns) != nil {
		return mongoerr.New(mongoerr.NamespaceExists, "Collection %s already exists.", ns)
	}
	for _, t := range w.store.txns {
		if t != w.txn && t.created[ns] {
			return w.newBlocked(t, ns)
		}
	}
	if w.txn != nil {
		if w.store.state.Load().Collection(ns) != nil {
			return newWriteConflict("collection %s was created since the transaction began", ns)
		}
		w.txn.markOpen()
		w.txn.created[ns] = true
	}
	by, err := defaultCollation(options)
	if err != nil {
		return err
	}
	id := newIDSpec(by, w.store.Now())
	if form.Series != nil {
		id = newSeriesID(w.store.Now())
	}
	if form.Clustered != nil {
		id.makeClustered(form.Clustered)
	}
	c := &Collection{
		NS: ns, Options: options, Collation: by, Form: form, UUID: newUUID(),
		Records: NewTree(compareRecords), Indexes: []*Index{newIndex(id)}, id: w.store.nextID(),
	}
	w.adoptCollection(c)
	w.noteDefinition(Created, c, Definition{Options: options, Indexes: []*IndexSpec{id}})
	return nil
}

// newUUID returns a unique UUID for a collection, with the bits of a random one.
func newUUID() bson.Binary {
	id := bson.NewObjectID() // real time: it makes the UUID unique, and is not told
	uuid := append([]byte{0, 0, 0, 0}, id[:]...)
	uuid[6], uuid[8] = uuid[6]&0x0f|0x40, uuid[8]&0x3f|0x80
	return bson.Binary{Subtype: 4, Data: uuid}
}

// defaultCollation returns the collation that a collection's options name.
func defaultCollation(options bson.D) (*collation.Collator, error) {
	d, _ := bsonval.Get(options, "collation")
	if spec, ok := d.(bson.D); ok {
		return collation.Parse(spec, "collation")
	}
	return nil, nil
}

// SetOptions gives a collection, which must be there, other options, and the check that they ask for. It serves
// collMod.
func (w *Writer) SetOptions(ns Namespace, options bson.D, check Check) error {
	if err := w.beginAlter(ns); err != nil {
		return err
	}
	e := w.findEdit(ns)
	c := *e.freeze()
	c.Options, c.Check = options, check
	e.base, e.dirty, e.changed = &c, true, true
	return nil
}

// SetForm gives a collection, which must be there, other options and another form: collMod changes a view's pipeline
// and a capped collection's size.
func (w *Writer) SetForm(ns Namespace, options bson.D, form Form) error {
	if err := w.beginAlter(ns); err != nil {
		return err
	}
	e := w.findEdit(ns)
	c := *e.freeze()
	c.Options, c.Form = options, form
	e.base, e.dirty, e.changed = &c, true, true
	return nil
}

// adoptCollection makes c a collection that the writer creates.
func (w *Writer) adoptCollection(c *Collection) {
	e := editCollection(c)
	e.created, e.changed = true, true
	w.edits = append(w.edits, e)
	w.ddl = true
}

// Drop removes a collection. It reports whether there was one.
func (w *Writer) Drop(ns Namespace) (bool, error) {
	c, err := w.removeCollection(ns)
	if c == nil || err != nil {
		return false, err
	}
	w.noteDefinition(Dropped, c, Definition{})
	return true, nil
}

// Discard is Drop for a view, of which no change stream tells because its database's list of views goes with it.
func (w *Writer) Discard(ns Namespace) error {
	_, err := w.removeCollection(ns)
	return err
}

// removeCollection removes a collection, which it returns, nil if there is none.
func (w *Writer) removeCollection(ns Namespace) (*Collection, error) {
	e := w.findEdit(ns)
	if e == nil {
		return nil, nil
	}
	if err := w.beginAlter(ns); err != nil {
		return nil, err
	}
	w.dropEdit(e)
	w.drops = append(w.drops, ns)
	return e.base, nil
}

// DropDatabase removes all collections of a database. It reports whether there were any. The history has an event for
// each collection, and then one for the database.
func (w *Writer) DropDatabase(db string) (bool, error) {
	found := false
	for c := range w.State().Collections(db) {
		found = true
		var err error
		if c.View != nil || c.Series != nil {
			err = w.Discard(c.NS)
		} else {
			_, err = w.Drop(c.NS)
		}
		if err != nil {
			return true, err
		}
	}
	if found {
		w.events = append(w.events, &Event{Kind: DatabaseDropped, NS: Namespace{DB: db}})
	}
	return found, nil
}

// beginAlter asks whether the writer may change the collection itself: not while an open transaction has changed
// anything in it, and in a transaction only if the transaction made it.
func (w *Writer) beginAlter(ns Namespace) error {
	for _, t := range w.store.txns {
		if t != w.txn && t.touchedCollection(ns) {
			return w.newBlocked(t, ns)
		}
	}
	if w.txn != nil && !w.txn.created[ns] {
		return mongoerr.New(mongoerr.OperationNotSupportedInTransaction,
			"Cannot change the indexes of an existing collection in a multi-document transaction.")
	}
	w.ddl = true
	return nil
}

// AddIndex builds an index over what the collection holds. Documents that share a key of a unique index are an error,
// but not those of an index that only has prepareUnique. NoteIndexes tells the history.
func (w *Writer) AddIndex(ns Namespace, spec *IndexSpec) error {
	if err := w.beginAlter(ns); err != nil {
		return err
	}
	e := w.findEdit(ns)
	spec.Uses = newUses(w.store.Now())
	x := &indexEdit{spec: spec, entries: NewTree(spec.compareEntries).Edit()}
	for r := range e.records.View().All() {
		if err := w.watch.Step(); err != nil {
			return err
		}
		keys, multikey, err := spec.Keys(r.Doc)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if spec.Unique {
				if _, taken := spec.findOther(x.entries.View(), key, r.ID); taken {
					return newDuplicateKey(ns, spec, key)
				}
			}
			x.entries.Set(Entry{key, r.ID})
		}
		x.multikey |= multikey
	}
	e.indexes = append(e.indexes, x)
	e.markReshaped(w.store)
	return nil
}

// DropIndex removes an index, which must be there, and tells the history.
func (w *Writer) DropIndex(ns Namespace, name string) error {
	if err := w.beginAlter(ns); err != nil {
		return err
	}
	e := w.findEdit(ns)
	for i, x := range e.indexes {
		if x.spec.Name == name {
			e.indexes = append(e.indexes[:i:i], e.indexes[i+1:]...)
			if e.base.Series == nil {
				w.noteEach(IndexesDropped, e.base, []*IndexSpec{x.spec})
			}
			break
		}
	}
	e.markReshaped(w.store)
	return nil
}

// AlterIndex puts another spec of the same key and name in the place of an index's spec. collMod hides an index by it,
// and changes the time after which documents expire.
func (w *Writer) AlterIndex(ns Namespace, spec *IndexSpec) error {
	if err := w.beginAlter(ns); err != nil {
		return err
	}
	e := w.findEdit(ns)
	for i, x := range e.indexes {
		if x.spec.Name == spec.Name {
			spec.Uses = x.spec.Uses
			e.indexes[i] = &indexEdit{spec: spec, entries: x.entries, multikey: x.multikey}
		}
	}
	e.markReshaped(w.store)
	return nil
}

// markReshaped marks the collection as one whose indexes have changed: a transaction that began before can't write to
// it.
func (e *collEdit) markReshaped(s *Store) {
	c := *e.base
	c.schema = s.nextID()
	e.base, e.dirty, e.changed = &c, true, true
}
