package engine

import (
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Restore makes e hold the collections of another engine, and nothing else, at next to no cost: both share them until one changes them.
// Open transactions of e are aborted, and a change stream of before can't be resumed. Nothing may write to the other engine meanwhile. It
// may be closed.
func (e *Engine) Restore(from *Engine) { e.store.Restore(from.store) }

// Documents are those of a database as they are now, by collection, in the order of _id. Who ranges over them must not change them. The
// same version of a document is the same slice each time.
func (e *Engine) Documents(db string) iter.Seq2[string, bson.D] {
	return func(yield func(string, bson.D) bool) {
		for c := range e.store.Snapshot().Collections(db) {
			for x := range c.Indexes[0].Entries.All() {
				if r, ok := c.Record(x.Record); ok && !yield(c.NS.Coll, r.Doc) {
					return
				}
			}
		}
	}
}
