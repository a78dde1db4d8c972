package store

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Rename gives a collection another name, in the place of a collection of that name if dropTarget. In another database
// it becomes a new collection there.
func (w *Writer) Rename(from, to Namespace, dropTarget bool) error {
	source, target := w.edit(from), w.edit(to)
	switch {
	case source == nil:
		return mongoerr.New(mongoerr.NamespaceNotFound, "Source collection %s does not exist", from)
	case source.base.View != nil:
		return mongoerr.New(mongoerr.CommandNotSupportedOnView, "cannot rename view: %s", from)
	case source.base.Series != nil || target != nil && target.base.Series != nil:
		return mongoerr.New(mongoerr.IllegalOperation,
			"Cannot rename a time-series collection, nor another to one: %s to %s", from, to)
	case from == to:
		return mongoerr.New(mongoerr.IllegalOperation, "Can't rename a collection to itself")
	case target != nil && target.base.View != nil:
		return mongoerr.New(mongoerr.NamespaceExists, "a view already exists with that name: %s", to)
	case target != nil && !dropTarget:
		return mongoerr.New(mongoerr.NamespaceExists, "target namespace exists")
	}
	for _, ns := range []Namespace{from, to} {
		if err := w.alter(ns); err != nil {
			return err
		}
	}
	c := *source.freeze()
	w.forget(source)
	w.drops = append(w.drops, from)
	replaced := w.replaced(to)
	if target != nil {
		w.forget(target)
	}
	old := c
	c.NS, c.schema = to, w.store.nextID()
	if from.DB != to.DB {
		c.UUID, c.id = newUUID(), w.store.nextID()
	}
	w.drops = slices.DeleteFunc(w.drops, func(ns Namespace) bool { return ns == to })
	w.adopt(&c)
	return w.noteRename(&old, &c, replaced)
}

// noteRename notes what a rename does: to another database, it copies the collection and drops it.
func (w *Writer) noteRename(old, c *Collection, replaced *bson.Binary) error {
	if old.NS.DB == c.NS.DB {
		w.define(Renamed, old, Definition{To: c.NS, Target: replaced})
		return nil
	}
	copied := *c
	copied.NS = Namespace{
		DB:   c.NS.DB,
		Coll: "tmp" + bson.NewObjectIDFromTimestamp(w.store.Now()).Hex()[:5] + ".renameCollection",
	}
	specs := make([]*IndexSpec, len(c.Indexes))
	for i, x := range c.Indexes {
		specs[i] = x.Spec
	}
	w.define(Created, &copied, Definition{Options: c.Options, Indexes: specs[:1]})
	w.noteEach(IndexesCreated, &copied, specs[1:])
	for r := range c.Records.All() {
		if err := w.watch.Step(); err != nil {
			return err
		}
		w.note(Inserted, &copied, nil, r.Doc, bsonval.Size(r.Doc), nil)
	}
	w.define(Renamed, &copied, Definition{To: c.NS, Target: replaced})
	w.define(Dropped, old, Definition{})
	return nil
}

// forget takes an edit out of the writer.
func (w *Writer) forget(e *collEdit) {
	w.edits = slices.DeleteFunc(w.edits, func(x *collEdit) bool { return x == e })
}
