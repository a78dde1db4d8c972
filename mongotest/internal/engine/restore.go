package engine

// This file reads and replaces the data of a whole engine, without commands: for copies of a server in tests.

import (
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Restore replaces all data of e by the collections of another engine. Both engines share
// them until one changes them, so Restore is cheap. It aborts e's open transactions.
// Earlier change streams can't be resumed. Nothing may write to the other engine
// meanwhile. The other engine may be closed.
func (e *Engine) Restore(from *Engine) { e.store.Restore(from.store) }

// Documents returns a database's current documents by collection, in _id order. Callers
// must not change them. The same version of a document is the same slice each time.
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
