package store

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Rename gives a collection another name. With dropTarget it takes the place of a collection of that name, which
// otherwise is the error NamespaceExists (48). In another database it becomes a new collection, with another UUID.
func (w *Writer) Rename(from, to Namespace, dropTarget bool) error {
	source, target := w.findEdit(from), w.findEdit(to)
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
		if err := w.beginAlter(ns); err != nil {
			return err
		}
	}
	c := *source.freeze()
	w.dropEdit(source)
	w.drops = append(w.drops, from)
	replaced := w.readUUID(to)
	if target != nil {
		w.dropEdit(target)
	}
	// Within a database the collection keeps its identity: a transaction finds by the schema that it was renamed.
	old := c
	c.NS, c.schema = to, w.store.nextID()
	if from.DB != to.DB {
		c.UUID, c.id = newUUID(), w.store.nextID()
	}
	w.drops = slices.DeleteFunc(w.drops, func(ns Namespace) bool { return ns == to })
	w.adoptCollection(&c)
	return w.noteRename(&old, &c, replaced)
}

// noteRename tells the history. A rename within a database is one event. One to another database is what a server does:
// it creates a temporary collection there, copies indexes and documents into it, renames it, and drops the old
// collection. replaced is the UUID of the collection that was replaced, nil if there was none.
func (w *Writer) noteRename(old, c *Collection, replaced *bson.Binary) error {
	if old.NS.DB == c.NS.DB {
		w.noteDefinition(Renamed, old, Definition{To: c.NS, Target: replaced})
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
	w.noteDefinition(Created, &copied, Definition{Options: c.Options, Indexes: specs[:1]})
	w.noteEach(IndexesCreated, &copied, specs[1:])
	for r := range c.Records.All() {
		if err := w.watch.Step(); err != nil {
			return err
		}
		w.noteEvent(Inserted, &copied, nil, r.Doc, bsonval.Size(r.Doc), nil)
	}
	w.noteDefinition(Renamed, &copied, Definition{To: c.NS, Target: replaced})
	w.noteDefinition(Dropped, old, Definition{})
	return nil
}

// dropEdit takes an edit out of the writer, with all that it changed.
func (w *Writer) dropEdit(e *collEdit) {
	w.edits = slices.DeleteFunc(w.edits, func(x *collEdit) bool { return x == e })
}
