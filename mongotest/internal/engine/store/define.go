package store

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Definition is what a change of a collection itself was about. The fields depend on the event's kind. Expanded change
// streams show them.
type Definition struct {
	Form    Form         // of the collection
	Options bson.D       // Created: as the collection shows them
	Indexes []*IndexSpec // IndexesCreated and IndexesDropped: those; Created: the one on _id
	To      Namespace    // Renamed: the new name
	Target  *bson.Binary // Renamed: the UUID of the collection that was replaced, nil if there was none
	Asked   bson.D       // Modified: by the command
	Before  bson.D       // Modified: what of it was there before
}

// OfView reports whether the change is one of a view or a time series collection, which no stream of a collection
// shows.
func (e *Event) OfView() bool {
	return e.Of != nil && (e.Of.Form.View != nil || e.Of.Form.Series != nil)
}

// noteDefinition remembers a change of a collection itself, as noteEvent remembers one of a document.
func (w *Writer) noteDefinition(kind string, c *Collection, d Definition) {
	if w.mute {
		return
	}
	d.Form = c.Form
	size := bsonval.Size(d.Options) + bsonval.Size(d.Asked) + bsonval.Size(d.Before)
	w.events = append(w.events, &Event{Kind: kind, NS: c.NS, UUID: c.UUID, Of: &d, size: size})
}

// NoteIndexes remembers indexes that AddIndex has built: those of a collection with documents in one event, those of an
// empty collection in one event each, as MongoDB does. Time series collections and views show none.
func (w *Writer) NoteIndexes(ns Namespace, specs []*IndexSpec) {
	c := w.Collection(ns)
	switch {
	case len(specs) == 0 || c.Series != nil:
	case c.Records.Len() > 0:
		w.noteDefinition(IndexesCreated, c, Definition{Indexes: specs})
	default:
		w.noteEach(IndexesCreated, c, specs)
	}
}

// noteEach notes a change of several indexes as one event for each.
func (w *Writer) noteEach(kind string, c *Collection, specs []*IndexSpec) {
	for i := range specs {
		w.noteDefinition(kind, c, Definition{Indexes: specs[i : i+1]})
	}
}

// NoteModification remembers what collMod asked for, and what of it was there before.
func (w *Writer) NoteModification(ns Namespace, asked, before bson.D) {
	w.noteDefinition(Modified, w.Collection(ns), Definition{Asked: asked, Before: before})
}

// keepsImages reports whether the collection has changeStreamPreAndPostImages.
func (c *Collection) keepsImages() bool {
	v, _ := bsonval.Get(c.Options, "changeStreamPreAndPostImages")
	d, _ := v.(bson.D)
	on, _ := bsonval.Get(d, "enabled")
	return on == true
}

// Overwrite runs fn, which puts documents into the collection in place of others. In place of fn's changes the history
// gets one event: a temporary collection was renamed to this one, as $out does it on a server. So the collection gets
// another UUID. An overwrite that changes no document gives the event too. There is none if the collection is missing.
func (w *Writer) Overwrite(ns Namespace, fn func() error) error {
	target := w.readUUID(ns)
	was := w.mute
	w.mute = true
	err := fn()
	w.mute = was
	e := w.findEdit(ns)
	if err != nil || e == nil {
		return err
	}
	c := *e.freeze()
	if target != nil && bsonval.Equal(*target, c.UUID) {
		c.UUID = newUUID()
		next := c
		e.base, e.changed = &next, true
	}
	id := bson.NewObjectIDFromTimestamp(w.store.Now())
	c.NS = Namespace{DB: ns.DB, Coll: "tmp.agg_out." + id.Hex()}
	w.noteDefinition(Renamed, &c, Definition{To: ns, Target: target})
	return nil
}

// readUUID returns the UUID of a collection that is about to be replaced, nil if there is none.
func (w *Writer) readUUID(ns Namespace) *bson.Binary {
	c := w.Collection(ns)
	if c == nil {
		return nil
	}
	uuid := c.UUID
	return &uuid
}
