package pipeline

import (
	"iter"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/fts"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// Docs is a sequence of documents that ends at the first error.
type Docs = iter.Seq2[bson.D, error]

// Action is what a merge does with a document of the target.
type Action uint8

// The actions of MergeOne's apply.
const (
	Keep      Action = iota // leave the target as it is
	Replace                 // put the returned document in place of the old one
	Update                  // Replace, the returned document being the old one with changes
	Transform               // Update, by a pipeline
	Insert                  // insert the returned document, there being no old one
)

// Env is what a pipeline needs of the engine, which serves one command. A database of "" is
// the pipeline's own.
type Env interface {
	// Watch ends the pipeline when its command is over. It may be nil.
	Watch() *interrupt.Watch
	// AllowDiskUse says that $group and $sort may take more than 100 MB.
	AllowDiskUse() bool
	// InTransaction says that the pipeline's command runs in a transaction.
	InTransaction() bool
	// Collation is what the whole pipeline compares under.
	Collation() *collation.Collator
	// Now is the time of $$NOW, the same for the whole command.
	Now() time.Time
	// TextIndex returns the text index of the collection that the command is for, an error if there is none.
	TextIndex() (*fts.Index, error)
	// Find streams the documents of a collection that match, by an index when
	// one fits. A collection that doesn't exist has none.
	Find(db, coll string, m *query.Matcher) Docs
	// Out replaces the collection's documents by those of the sequence; an
	// error in the sequence leaves the collection as it was, and is returned.
	ReplaceCollection(db, coll string, docs Docs) error
	// IsUnique reports whether a unique index (of all documents) has exactly
	// these fields, in any order, and the pipeline's collation.
	IsUnique(db, coll string, on []string) (bool, error)
	// MergeOne calls apply with the target's document that equals doc in the
	// fields, nil when there is none, and does what apply says. It makes the
	// collection when it doesn't exist. Inserting a duplicate is an error of
	// code DuplicateKey.
	MergeOne(db, coll string, on []string, doc bson.D,
		apply func(old bson.D) (next bson.D, action Action, err error)) error
	// CollStats returns what $collStats tells of a collection; a name of "" is
	// that of the command's own.
	CollStats(db, coll string, want CollStats) (bson.D, error)
	// IndexStats returns what $indexStats tells of each index of a collection.
	IndexStats(db, coll string) ([]bson.D, error)
	// Sessions returns a document about each session of a client.
	Sessions() []bson.D
}

// CollStats is what a $collStats asks for.
type CollStats struct {
	Count bool
	Scale int64 // what sizes are divided by; 0: there is no storageStats
}
