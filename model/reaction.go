package model

import (
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Reaction says what a technique does when a [Store] writes a document of a collection.
// Its functions are pure. A nil function does nothing.
//
// A rule of your own takes part by [Parts.WithReactions].
type Reaction struct {
	Collection string

	// Paths are the fields that the functions look at. An update that changes none of
	// these fields doesn't call the functions.
	Paths []string

	// Fetch returns the other documents that the functions need. The store reads them at
	// the primary.
	Fetch func(StoreWrite) ([]Fetch, error)

	// Amend returns fields that the store sets in the written document. A bson.RawValue{}
	// removes a field. It isn't called for deletions.
	Amend func(StoreWrite) (bson.D, error)

	// React returns the other writes. It is called with the amended document. Outside
	// transactions, the writes must be safe to repeat: see [Plan.Repeatable].
	React func(StoreWrite) (Answer, error)
}

// A StoreWrite is one write of a document, as a [Reaction] sees it.
type StoreWrite struct {
	Before bson.Raw // the stored document; nil for an insert
	After  bson.Raw // the document after the write; nil for a deletion

	// Tx says that the write is in a transaction, so that React needs no marks for a
	// later retry.
	Tx bool

	found []bson.Raw
}

// Found returns document i of the reaction's Fetch. It is nil if the document is missing.
// The document has the fields that all reactions fetch.
func (e StoreWrite) Found(i int) bson.Raw {
	if i < len(e.found) {
		return e.found[i]
	}
	return nil
}

// A Fetch names another document that a [Reaction] needs.
type Fetch struct {
	Collection string
	ID         bson.RawValue
	Paths      []string // the needed fields; none means only whether the document exists

	// Query, if not nil, finds the document instead: the first of its results.
	Query *Query
}

// An Answer is what a [Reaction] adds to a write.
type Answer struct {
	// Hold lists documents that must still exist, unchanged by other transactions, when
	// the store's transaction commits. Outside transactions it has no effect.
	Hold []Fetch

	First []Step // writes before the document's write, such as the claim of a unique value
	Then  []Step // writes after the document's write
}

// WithReactions returns p with the reactions of a technique. Each call of the function
// must return new values.
func (p Parts) WithReactions(reactions func() []Reaction) Parts {
	p.reactions = reactions
	return p
}

// Reactions returns what the technique does when a [Store] writes.
func (p Parts) Reactions() []Reaction { return called(p.reactions) }

// reacts reports whether the technique says what it does when a store writes.
func (p Parts) reacts() bool { return p.reactions != nil }

// concerns reports whether the reaction is called for an event.
func (r Reaction) concerns(e StoreWrite, changed []string) bool {
	if e.Before == nil || e.After == nil {
		return true
	}
	return slices.ContainsFunc(r.Paths, func(path string) bool {
		return slices.ContainsFunc(changed, func(other string) bool { return core.Overlap(path, other) })
	})
}
