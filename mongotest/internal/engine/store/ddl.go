package store

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// Create makes an empty ordinary collection with the index on _id.
func (w *Writer) Create(ns Namespace, options bson.D) error { return w.CreateAs(ns, options, Form{}) }

// CreateAs makes an empty collection of that form.
func (w *Writer) CreateAs(ns Namespace, options bson.D, form Form) error {
	if w.edit(ns) != nil {
		return mongoerr.New(mongoerr.NamespaceExists, "Collection %s already exists.", ns)
	}
	for _, t := range w.store.txns {
		if t != w.txn && t.created[ns] {
			return w.blocked(t, ns)
		}
	}
	if w.txn != nil {
		if w.store.state.Load().Collection(ns) != nil {
			return writeConflict("collection %s was created since the transaction began", ns)
		}
		w.txn.join()
		w.txn.created[ns] = true
	}
	by, err := defaultCollation(options)
	if err != nil {
		return err
	}
	id := idSpec(by, w.store.Now())
	if form.Series != nil {
		id = seriesID(w.store.Now())
	}
	if form.Clustered != nil {
		id.cluster(form.Clustered)
	}
	c := &Collection{
		NS: ns, Options: options, Collation: by, Form: form, UUID: newUUID(),
		Records: NewTree(compareRecords), Indexes: []*Index{newIndex(id)}, id: w.store.nextID(),
	}
	w.adopt(c)
	w.define(Created, c, Definition{Options: options, Indexes: []*IndexSpec{id}})
	return nil
}

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

// SetOptions gives a collection, which must be there, other options, and the check that they ask for.
func (w *Writer) SetOptions(ns Namespace, options bson.D, check Check) error {
	if err := w.alter(ns); err != nil {
		return err
	}
	e := w.edit(ns)
	c := *e.freeze()
	c.Options, c.Check = options, check
	e.base, e.dirty, e.changed = &c, true, true
	return nil
}

// SetForm gives a collection, which must be there, other options and another form.
func (w *Writer) SetForm(ns Namespace, options bson.D, form Form) error {
	if err := w.alter(ns); err != nil {
		return err
	}
	e := w.edit(ns)
	c := *e.freeze()
	c.Options, c.Form = options, form
	e.base, e.dirty, e.changed = &c, true, true
	return nil
}

// adopt makes c a collection that the writer creates.
func (w *Writer) adopt(c *Collection) {
	e := editCollection(c)
	e.created, e.changed = true, true
	w.edits = append(w.edits, e)
	w.ddl = true
}

// Drop removes a collection. It reports whether there was one.
func (w *Writer) Drop(ns Namespace) (bool, error) {
	c, err := w.remove(ns)
	if c == nil || err != nil {
		return false, err
	}
	w.define(Dropped, c, Definition{})
	return true, nil
}

// Discard is Drop for a view that goes with the list of all of its database, of which no change stream tells.
func (w *Writer) Discard(ns Namespace) error {
	_, err := w.remove(ns)
	return err
}

// remove removes a collection, which it returns, nil if there is none.
func (w *Writer) remove(ns Namespace) (*Collection, error) {
	e := w.edit(ns)
	if e == nil {
		return nil, nil
	}
	if err := w.alter(ns); err != nil {
		return nil, err
	}
	w.forget(e)
	w.drops = append(w.drops, ns)
	return e.base, nil
}

// DropDatabase removes all collections of a database. It reports whether there
// were any.
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

// alter asks whether the writer may change the collection itself: not while an
// open transaction has changed anything in it.
func (w *Writer) alter(ns Namespace) error {
	for _, t := range w.store.txns {
		if t != w.txn && t.touchedCollection(ns) {
			return w.blocked(t, ns)
		}
	}
	if w.txn != nil && !w.txn.created[ns] {
		return mongoerr.New(mongoerr.OperationNotSupportedInTransaction,
			"Cannot change the indexes of an existing collection in a multi-document transaction.")
	}
	w.ddl = true
	return nil
}

// AddIndex builds an index over what the collection holds. NoteIndexes tells of it.
func (w *Writer) AddIndex(ns Namespace, spec *IndexSpec) error {
	if err := w.alter(ns); err != nil {
		return err
	}
	e := w.edit(ns)
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
				if _, taken := spec.find(x.entries.View(), key, r.ID); taken {
					return duplicateKey(ns, spec, key)
				}
			}
			x.entries.Set(Entry{key, r.ID})
		}
		x.multikey |= multikey
	}
	e.indexes = append(e.indexes, x)
	e.reshape(w.store)
	return nil
}

// DropIndex removes an index, which must be there.
func (w *Writer) DropIndex(ns Namespace, name string) error {
	if err := w.alter(ns); err != nil {
		return err
	}
	e := w.edit(ns)
	for i, x := range e.indexes {
		if x.spec.Name == name {
			e.indexes = append(e.indexes[:i:i], e.indexes[i+1:]...)
			if e.base.Series == nil {
				w.noteEach(IndexesDropped, e.base, []*IndexSpec{x.spec})
			}
			break
		}
	}
	e.reshape(w.store)
	return nil
}

// AlterIndex puts another spec of the same key and name in the place of an
// index's.
func (w *Writer) AlterIndex(ns Namespace, spec *IndexSpec) error {
	if err := w.alter(ns); err != nil {
		return err
	}
	e := w.edit(ns)
	for i, x := range e.indexes {
		if x.spec.Name == spec.Name {
			spec.Uses = x.spec.Uses
			e.indexes[i] = &indexEdit{spec: spec, entries: x.entries, multikey: x.multikey}
		}
	}
	e.reshape(w.store)
	return nil
}

// reshape marks the collection as one whose indexes have changed.
func (e *collEdit) reshape(s *Store) {
	c := *e.base
	c.schema = s.nextID()
	e.base, e.dirty, e.changed = &c, true, true
}
