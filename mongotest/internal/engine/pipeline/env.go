package pipeline

// This file has what a pipeline needs of the engine. The engine's type environment implements it.

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

// Action says what the engine does with a document that $merge computed. The kinds of changes differ in their events
// for change streams.
type Action uint8

// The actions of MergeOne's apply.
const (
	Keep      Action = iota // leave the target as it is
	Replace                 // put the returned document in place of the old one
	Update                  // the returned document is the old one with changed fields
	Transform               // as Update, by a pipeline
	Insert                  // insert the returned document; there is no old one, or the insert must fail
)

// Env is what a pipeline needs of the engine. It serves one command. A db of "" is the pipeline's own database.
type Env interface {
	// Watch ends the pipeline when its command is over. It may be nil.
	Watch() *interrupt.Watch
	// AllowDiskUse reports whether $group and $sort may take more than 100 MB.
	AllowDiskUse() bool
	// InTransaction reports whether the pipeline's command runs in a transaction.
	InTransaction() bool
	// Collation returns the collation under which the whole pipeline compares.
	Collation() *collation.Collator
	// Now returns the time of $$NOW, the same for the whole command.
	Now() time.Time
	// TextIndex returns the text index of the collection that the command reads, or the error of a $text without one.
	TextIndex() (*fts.Index, error)
	// Find streams the documents of a collection or view that match. It uses an index if one serves the filter. A
	// collection that doesn't exist has no documents.
	Find(db, coll string, m *query.Matcher) Docs
	// ReplaceCollection replaces the collection's documents by the sequence, for $out. It adds the _ids that
	// are missing. An error in the sequence leaves the collection as it was, and is returned.
	ReplaceCollection(db, coll string, docs Docs) error
	// IsUnique reports whether a unique index has exactly these fields, in any order, and the pipeline's collation. A
	// partial index doesn't count. $merge finds at most one document by such fields.
	IsUnique(db, coll string, on []string) (bool, error)
	// MergeOne calls apply with the target's document that equals doc in the fields on, or with nil if there is none,
	// and does what apply returns. It creates the collection if it doesn't exist. The insert of a duplicate is an error
	// of code DuplicateKey.
	MergeOne(db, coll string, on []string, doc bson.D,
		apply func(old bson.D) (next bson.D, action Action, err error)) error
	// CollStats returns the document of $collStats for a collection. A coll of "" is the command's own collection.
	CollStats(db, coll string, want CollStats) (bson.D, error)
	// IndexStats returns the document of $indexStats for each index of a collection.
	IndexStats(db, coll string) ([]bson.D, error)
	// Sessions returns the document of $listLocalSessions for each session of a client.
	Sessions() []bson.D
}

// CollStats says which parts a $collStats asks for.
type CollStats struct {
	Count bool  // the part "count"
	Scale int64 // sizes in the part "storageStats" are divided by it; 0: the part isn't asked for
}
