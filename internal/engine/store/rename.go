package store

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Rename gives a collection another name, in the place of a collection of that name if dropTarget. In another database it becomes
// a new collection there.
func (w *Writer) Rename(from, to Namespace, dropTarget bool) error {
	source, target := w.edit(from), w.edit(to)
	switch {
	case source == nil:
		return mongoerr.New(mongoerr.NamespaceNotFound, "Source collection %s does not exist", from)
	case source.base.View != nil:
		return mongoerr.New(mongoerr.CommandNotSupportedOnView, "cannot rename view: %s", from)
	case source.base.Series != nil || target != nil && target.base.Series != nil:
		return mongoerr.New(mongoerr.IllegalOperation, "Cannot rename a time-series collection, nor another to one: %s to %s", from, to)
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
	return w.noteRename(&old, &c)
}

// noteRename notes what a rename does: to another database, it copies the collection and drops it.
func (w *Writer) noteRename(old, c *Collection) error {
	if w.mute {
		return nil
	}
	from := old.NS
	if old.NS.DB != c.NS.DB {
		from = Namespace{DB: c.NS.DB, Coll: "tmp" + bson.NewObjectIDFromTimestamp(w.store.Now()).Hex()[:5] + ".renameCollection"}
		copied := *c
		copied.NS = from
		for r := range c.Records.All() {
			if err := w.watch.Step(); err != nil {
				return err
			}
			w.note(Inserted, &copied, nil, r.Doc, bsonval.Size(r.Doc), nil)
		}
	}
	w.events = append(w.events, &Event{Kind: Renamed, NS: from, To: c.NS, UUID: c.UUID})
	if old.NS.DB != c.NS.DB {
		w.note(Dropped, old, nil, nil, 0, nil)
	}
	return nil
}

// forget takes an edit out of the writer.
func (w *Writer) forget(e *collEdit) {
	w.edits = slices.DeleteFunc(w.edits, func(x *collEdit) bool { return x == e })
}
