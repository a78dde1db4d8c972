package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Reaction says what a technique does when a [Store] writes a document of a collection.
// Its functions are pure. A nil function does nothing.
//
// A rule of your own takes part by [Parts.WithReactions].
type Reaction struct {
	Collection string

	// On are the kinds of writes that concern the functions, for example OnInsert|OnUpdate.
	// 0 means all.
	On Occasion

	// Paths are the fields that the functions look at. An update that changes none of
	// these fields doesn't call the functions. [Whole] stands for all fields.
	Paths []string

	// Fetch returns the other documents that the functions need. The store reads them at
	// the primary.
	Fetch func(StoreWrite) ([]Fetch, error)

	// AsBefore says that the queries of Fetch must find the written document as it was
	// before. Else a transaction may have written it.
	AsBefore bool

	// Amend returns fields that the store sets in the written document. A bson.RawValue{}
	// removes a field. A path in an array has the index of an element, as in "items.0.name".
	// It isn't called for deletions. All reactions get the same document in After: without
	// the amendments of the others.
	Amend func(StoreWrite) (bson.D, error)

	// Derives are owned paths that Amend computes, also in arrays. A caller's value must be
	// empty, as it is stored, or equal the computed value. Paths must contain them too.
	Derives []string

	// Accepts, if not nil, allows another value of a caller at a path of Derives, such as a
	// value of which Amend makes a key.
	Accepts func(path string, given, computed bson.RawValue) bool

	// Unread says that Amend computes the fields of Derives only of the other Paths in After,
	// whatever is stored. Then [Store.Set] of all these Paths reads no document. Amend gets a
	// document with only the set fields, and an empty Before.
	Unread bool

	// Transient are top-level fields that Amend sets in a new document, and that the technique
	// changes or removes later. A retry of the insert recognizes its document by the other
	// fields.
	Transient []string

	// ID returns the _id of a new document whose _id is made of its fields. The document's
	// own _id may be empty.
	ID func(doc bson.Raw) (bson.RawValue, error)

	// Applied reports that the stored document shows the token of an earlier run of this
	// update. The store then writes nothing. It isn't called in transactions.
	Applied func(StoreWrite) (bool, error)

	// React returns the other writes. It is called with the amended document. Outside
	// transactions, the writes must be safe to repeat: see [Plan.Repeatable] and
	// [Answer].Once. Another client can call React again to finish an interrupted action. Then
	// it leaves out answers with ErrNotFound, and errors of [Answer].Check.
	React func(StoreWrite) (Answer, error)

	// ParentPath says that the deletion of a document asks for nothing if the action also
	// deletes the document of the collection Parents whose _id is at the path. Then a
	// transaction can delete many documents without a read: see [Fetch].Deletes.
	Parents, ParentPath string

	// Correct is called outside transactions when all writes of the action are stored, with
	// the documents of Fetch as they are then. It returns writes that correct the document
	// if another client has changed the fetched documents meanwhile. The writes must be safe
	// to repeat.
	Correct func(StoreWrite) ([]Step, error)

	technique string // the name of the technique that reacts
}

// An Occasion is a set of kinds of writes: see [Reaction].On.
type Occasion uint8

const (
	OnInsert Occasion = 1 << iota
	OnUpdate
	OnDelete
)

// includes reports whether the set has a kind of writes.
func (o Occasion) includes(kind Occasion) bool { return o == 0 || o&kind != 0 }

// occasion returns the kind of the write.
func (e StoreWrite) occasion() Occasion {
	switch {
	case e.Before == nil:
		return OnInsert
	case e.After == nil:
		return OnDelete
	}
	return OnUpdate
}

// A StoreWrite is one write of a document, as a [Reaction] sees it.
type StoreWrite struct {
	Collection string
	Before     bson.Raw // the stored document without the field _m; nil for an insert
	After      bson.Raw // the document after the write; nil for a deletion
	Given      bson.Raw // After without the amendments of reactions

	// Tx says that the write is in a transaction, so that React needs no marks for a
	// later retry.
	Tx bool

	// Time is when the action began, by this computer's clock, in whole milliseconds.
	Time time.Time

	// Token names this write of the action: see [WithToken]. All attempts have the same token.
	Token bson.ObjectID

	// Change, in [Answer].Writes, stands for After. It returns the fields that the write
	// sets, given the document as the action's other writes leave it.
	Change func(doc bson.Raw) (bson.D, error)

	// Hold, in [Answer].Writes, also writes a document in which nothing changes, so that a
	// concurrent repair finds it changed.
	Hold bool

	// Weak, in [Answer].Writes, marks a deletion that only tidies up, so that a rule which
	// forbids the action takes precedence: see [Answer].Check.
	Weak bool

	found [][]bson.Raw
	asked string // the technique that asks for the write
	tx    *runctx.Tx
}

// Hope reports whether Fetch may leave out a read that seldom matters. If the read would
// have mattered, a write of the answer must be stale: it expects a match, and its filter
// has the condition. Then the transaction runs again, and Hope returns false. Outside
// transactions, Hope returns false.
func (e StoreWrite) Hope() bool { return e.tx.Hope() }

// Found returns the document of the reaction's fetch i, or the first of its query. It is
// nil if the document is missing. The document has the fields that all reactions fetch.
func (e StoreWrite) Found(i int) bson.Raw {
	if all := e.FoundAll(i); len(all) > 0 {
		return all[0]
	}
	return nil
}

// FoundAll returns the documents that the query of the reaction's fetch i found.
func (e StoreWrite) FoundAll(i int) []bson.Raw {
	if i >= 0 && i < len(e.found) {
		return e.found[i]
	}
	return nil
}

// With returns the write that sets fields of the document too, by their paths. A
// bson.RawValue{} removes a field.
func (e StoreWrite) With(fields bson.D) (_ StoreWrite, err error) {
	doc := e.After
	if doc == nil {
		doc = e.Before
	}
	e.After, err = withFields(doc, fields)
	return e, err
}

// ChangesBeside reports whether an update changes a field outside the given paths.
func (e StoreWrite) ChangesBeside(except ...string) bool {
	return slices.ContainsFunc(changedPaths(e.Before, e.After), func(changed string) bool {
		return !slices.ContainsFunc(except, func(path string) bool {
			return changed == path || strings.HasPrefix(changed, path+".")
		})
	})
}

// A Fetch names another document that a [Reaction] needs.
type Fetch struct {
	Collection string
	ID         bson.RawValue
	Paths      []string // the needed fields; none means only whether the document exists

	// By is a path. If it isn't empty, the fetch finds the documents that hold ID there, or
	// in an array there. The store joins the fetches of one path in one query.
	By string

	// Deleted also finds a document that a [Scope] marks as deleted.
	Deleted bool

	// Query, if not nil, finds the documents instead.
	Query *Query

	// Limit is the most documents that By finds, for all joined fetches. If By or a Query
	// has no limit and finds more than 1,000 documents, the store writes nothing and gives
	// a [*ValueError] that names Job.
	Limit int64
	Job   string // what to run instead, for example "Store.DeleteJob"

	// Deletes says that React only deletes the documents that By finds, for the deletion of
	// the document of ID. If no reaction needs these documents, a transaction deletes them by
	// one command without reading them, and nothing is found.
	Deletes bool

	// Hold says that the document of ID must still exist, unchanged by other transactions,
	// when the store's transaction commits. Outside transactions it has no effect.
	Hold bool

	// Missing, if not nil, is the store's error if the document of ID is missing. With Hold
	// and without Paths, a transaction finds this out by a write: Found returns nil.
	Missing error

	parents string // with Deletes: the collection of the deleted document
}

// An Answer is what a [Reaction] adds to a write.
type Answer struct {
	First []Step // writes before the document's write, such as the claim of a unique value
	Undo  []Step // writes that undo First, outside transactions, if the action is refused
	Then  []Step // writes after the document's write

	// Once lists updates after the document's write that must not run twice, such as a $inc.
	// Each is an updateOne with an equality on _id. Outside transactions, the updated document
	// stores the action's token in the field _m.ops.
	Once []Write

	// Check, if not nil, can refuse the action when all its writes are known. deleted
	// reports whether the action deletes a document by a write that isn't Weak.
	Check func(deleted func(collection string, id bson.RawValue) bool) error

	// Writes are writes of other documents in which the techniques of their collections
	// take part. Before is the whole stored document. They come before the document's own
	// write, in the opposite order, so that a deletion ends with the document.
	Writes []StoreWrite
}

// WithReactions returns p with the reactions of a technique. Each call of the function
// must return new values. A nil result takes part in a store and does nothing.
func (p Parts) WithReactions(reactions func() []Reaction) Parts {
	p.reactions, p.instead = reactions, ""
	return p
}

// WithoutReactions returns p for a technique that can't take part in a [Store] of the
// collections which it writes. [NewStore] panics with a [*DeclarationError]. Its remedy is
// to use what instead names, for example "Tree.Insert, Tree.Move and Tree.Delete".
func (p Parts) WithoutReactions(instead string) Parts {
	if instead == "" {
		core.Fail("instead is empty", "Parts.WithoutReactions", "name the methods that write the documents")
	}
	p.reactions, p.instead = nil, instead
	return p
}

// Reactions returns what the technique does when a [Store] writes.
func (p Parts) Reactions() []Reaction { return called(p.reactions) }

// reacts reports whether the technique says what it does when a store writes, and
// otherwise the methods to call instead.
func (p Parts) reacts() (ok bool, instead string) { return p.reactions != nil, p.instead }

// concerns reports whether the reaction is called for a write that changes paths.
func (r Reaction) concerns(e StoreWrite, changed []string) bool {
	if r.Collection != e.Collection {
		return false
	}
	if e.Before == nil || e.After == nil {
		return true
	}
	return slices.ContainsFunc(r.Paths, func(path string) bool {
		return path == Whole || slices.ContainsFunc(changed, func(other string) bool { return core.Overlap(path, other) })
	})
}

// String describes the write, for errors.
func (e StoreWrite) String() string {
	verb, doc := "update", e.Before
	switch e.occasion() {
	case OnInsert:
		verb, doc = "insert", e.After
	case OnDelete:
		verb = "delete"
	}
	return fmt.Sprintf("%s %s %s", verb, e.Collection, shell(doc.Lookup("_id")))
}

// reacting is a technique whose Parts say what it does when a store writes.
type reacting interface {
	reacts() (ok bool, instead string)
	Reactions() []Reaction
}

// reachesOthers reports whether the reaction reads or writes other documents.
func (r Reaction) reachesOthers() bool { return r.Fetch != nil || r.React != nil }
