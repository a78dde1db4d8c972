package store

import (
	"cmp"
	"iter"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// State is all collections at one instant. It never changes.
type State struct {
	colls Tree[*Collection]
	ttl   int // how many collections have TTL indexes
}

// Namespace names a collection.
type Namespace struct{ DB, Coll string }

// String returns the name as commands and messages have it: "db.coll".
func (ns Namespace) String() string { return ns.DB + "." + ns.Coll }

// compareNamespaces orders collections in a state: by database, then by name.
func compareNamespaces(a, b Namespace) int {
	if c := strings.Compare(a.DB, b.DB); c != 0 {
		return c
	}
	return strings.Compare(a.Coll, b.Coll)
}

// Collection is one version of a collection. It never changes.
type Collection struct {
	NS      Namespace
	UUID    bson.Binary
	Options bson.D // as create got them, or collMod changed them: see package forms
	Check   Check  // nil lets everything through
	// Collation is the default collation, of commands and new indexes that don't name one.
	Collation *collation.Collator
	Records   Tree[*Record]
	Indexes   []*Index // the first is the index on _id
	Form

	bytes  int64 // of documents, in a capped collection
	id     int64 // tells collections apart that had the same name
	schema int64 // changes whenever the indexes do
}

// A Check returns an error if a document may not be stored in the place of another, which is nil for an insert. The
// store doesn't know the rules: package forms makes checks from validators.
type Check func(w *interrupt.Watch, old, next bson.D) error

// Index returns the index of that name, or nil.
func (c *Collection) Index(name string) *Index {
	for _, x := range c.Indexes {
		if x.Spec.Name == name {
			return x
		}
	}
	return nil
}

// Record returns the record of that number, false if it was deleted.
func (c *Collection) Record(id int64) (*Record, bool) {
	return c.Records.Find(func(r *Record) int { return cmp.Compare(r.ID, id) })
}

// hasExpiry reports whether the collection has a TTL index.
func (c *Collection) hasExpiry() bool {
	for _, x := range c.Indexes {
		if x.Spec.Expires {
			return true
		}
	}
	return false
}

// newState returns a state without collections.
func newState() *State {
	return &State{colls: NewTree(func(a, b *Collection) int { return compareNamespaces(a.NS, b.NS) })}
}

// Collection returns the collection of that name, or nil.
func (s *State) Collection(ns Namespace) *Collection {
	c, _ := s.colls.Find(func(c *Collection) int { return compareNamespaces(c.NS, ns) })
	return c
}

// Collections ranges over the collections of a database in the order of their names. With "" it ranges over those of
// all databases, in the order of the databases' names.
func (s *State) Collections(db string) iter.Seq[*Collection] {
	return func(yield func(*Collection) bool) {
		c := s.colls.Cursor()
		for ok := c.Seek(func(c *Collection) bool { return c.NS.DB < db }); ok; ok = c.Next() {
			if db != "" && c.Item().NS.DB != db || !yield(c.Item()) {
				return
			}
		}
	}
}
