package denorm

import (
	"cmp"
	"context"

	"github.com/docmodel/docmodel/denorm/internal/copies"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Copy keeps copies of a source document's fields in the documents where they are read.
//
// CopySpec says where a copy is stored:
//
//   - In an element of an array (KeyPath "items.id"), or of an array inside an array. A
//     document can have copies of many sources.
//   - In the document itself, next to the source's _id (KeyPath "publisher.id").
//   - In the documents whose _ids the source lists (Listed), without the source's _id.
//
// # Consistency
//
// [Copy.Set] writes the source first, and then its copies. Between the two writes readers
// see old copies. The write to the copies isn't atomic over several documents: a crash
// leaves old copies. Run the plan, change or job again.
//
// With CopySpec.Version, a copy also stores the version of its source, and values of an
// older version never overwrite it. For this, every write to a copied field must raise
// the version, as [Copy.Set] does. Without a Version, the last write to a copy wins.
//
// A version can't prevent one race: the caller reads the source, another client changes
// it, and then the caller stores a copy of the old values. [Copy.Storing] excludes this
// race or repairs its result.
//
// Source: "Denormalization", "6 Rules of Thumb for MongoDB Schema Design", part 2; the
// Extended Reference pattern,
// https://www.mongodb.com/company/blog/building-with-patterns-the-extended-reference-pattern.
//
// Indexes returns the index that finds the copies of a source, or with Listed the index
// of the source's list.
//
// Checks returns two checks, or with Listed only the first:
//
//   - Copies with other values or a newer version than their source. A copy that differs
//     only by an older version is not a finding. The repair writes the source's values
//     and version, as the check read them.
//   - Copies of missing sources. No write repairs them.
//
// Cost: the server looks up each copy's source by _id, with Listed by the index of the
// list.
type Copy[S, SK, TK any] struct {
	model.Parts

	sources *model.Collection[S, SK]
	c       *copies.Copying
}

// A Field names a field of a source and the path of its copy (CopySpec.Fields), or a
// field of a child and the path of the parent's number that is computed from it
// (CounterSpec.Sums, Mins and Maxs).
type Field struct {
	From string // path in the source or child, outside arrays; a copied field may be an array
	To   string // path in the documents with the copy, as "items.name", or in the parent
}

// CopySpec says what a [Copy] copies, and to which paths.
type CopySpec struct {
	// KeyPath is the path, in a document with a copy, of the source's _id: "host",
	// "publisher.id", "items.id", "groups.items.id". In an array, the same element holds
	// the copied fields.
	KeyPath string

	// If the source lists the _ids of the documents with its copies, Listed is the path
	// of this list in the source. Give it instead of KeyPath.
	Listed string

	// Fields are the copied fields.
	Fields []Field

	// Version is a field of the source that grows with each change of a copied field: an
	// integer, which [Copy.Set] increments, or a time, which the caller of Copy.Set
	// gives. VersionTo is the path where a copy stores it. Give both or neither. Don't
	// use a field that grows for other reasons. If an embed.Versioned writes the source,
	// don't use [Copy.Set]. Change copied fields by Versioned.ChangeBy, with an $inc of
	// Version, then run [Copy.Refresh].
	Version, VersionTo string

	// CountUp is the version field of an embed.Versioned over the documents with copies.
	// Every write of the Copy increments it, so that a replacement computed before that
	// write gives embed.ErrVersion and doesn't restore the old copy.
	CountUp string

	// Lock is an integer field of the source that no other code writes. In a transaction,
	// [Copy.Storing] increments it, so that a concurrent change of the source conflicts.
	// Each Copy of a source needs its own Lock.
	Lock string

	// Lists says which prefixes of KeyPath are paths of arrays. Give it only for untyped
	// documents, such as bson.D. For typed documents [NewCopy] panics.
	Lists []string
}

// NewCopy declares that documents of targets hold copies of the sources' fields. It
// panics with a [*model.DeclarationError] if a path or a type doesn't fit, paths overlap,
// or the array of copies can be stored as null.
func NewCopy[S, SK, T, TK any](sources *model.Collection[S, SK], targets *model.Collection[T, TK], spec CopySpec) *Copy[S, SK, TK] {
	c := copies.Declare(sources.Docs(), targets.Docs(), copies.Spec{
		KeyPath: spec.KeyPath, Listed: spec.Listed, Fields: fieldsOf(spec.Fields), Version: spec.Version, VersionTo: spec.VersionTo,
		CountUp: spec.CountUp, Lock: spec.Lock, Lists: spec.Lists,
	})
	return &Copy[S, SK, TK]{model.NewParts(c.Indexes, c.Relations, c.Checks, c.Footprints), sources, c}
}

func fieldsOf(list []Field) (out []copies.Field) {
	for _, f := range list {
		out = append(out, copies.Field(f))
	}
	return out
}

// Snapshot returns the copy of a source as BSON that the caller stores by another write:
// an array element, or fields to nest in the document. It contains the source's _id and
// version, and omits fields that the source lacks. The copy may be outdated when it is
// stored: see [Copy.Storing].
func (c *Copy[S, SK, TK]) Snapshot(source *S) (bson.D, error) {
	return c.c.Snapshot(source)
}

// Fields returns a copy of source as paths, in the document that will hold the copy, and
// values. If that document is a child of a [Counter], pass the result to [Counter.Set].
// Without CopySpec.Listed the result includes the source's _id. A field that the source
// lacks has the value bson.RawValue{}, with which Counter.Set removes the field. If the
// spec puts copies in an array, Fields returns a [*model.ValueError]. The copy may be
// outdated when it is stored: see [Copy.Storing].
func (c *Copy[S, SK, TK]) Fields(source *S) (bson.D, error) {
	return c.c.Fields(source)
}

// Attach returns the write that stores the copy of source in the document with this _id.
// In an array, it pushes the copy, unless the array has a copy of this source. Outside
// arrays it sets the source's _id and the fields, unless the document has a copy of the
// same or a newer version of this source. For an array inside an array it gives a
// [*model.ValueError]: push the [Copy.Snapshot]. A missing document gives
// model.ErrNotFound. If others may have changed the source since you read it, run
// [Copy.Refresh] for the document afterwards.
//
// It can be run again. Cost: one command, one document, by _id. If it wrote nothing, one
// more command.
func (c *Copy[S, SK, TK]) Attach(id TK, source *S) model.Write {
	return c.c.Attach(id, source)
}

// Detach returns the write that removes a copy, if any, from a document. id is the
// document's _id, source the _id of the copy's source. It removes the array element, or
// outside arrays the source's _id and the copied fields. It doesn't change the source's
// list (CopySpec.Listed).
//
// Cost: one command, one document, by _id.
func (c *Copy[S, SK, TK]) Detach(id TK, source SK) model.Write {
	return c.c.Detach(id, source)
}

// Set returns the plan that sets fields of a source by their paths, and then updates its
// copies. source is the document that you read. A nil value stores null. If copied fields
// change, Set increments an integer CopySpec.Version. If Version is a time, the parameter
// fields must then contain a later time.
//
// If you set a copied field or a time Version, and the stored Version differs from
// source's, running the plan gives model.ErrStale and writes nothing. Otherwise the plan
// checks only that the source exists.
//
// Cost: two commands, or one if no copied field changes. It writes the source and each
// document with a copy. After a crash, run the plan again, or [Copy.Refresh].
func (c *Copy[S, SK, TK]) Set(source *S, fields bson.D) model.Plan {
	return c.c.Set(source, fields)
}

// Propagate returns the plan that updates every copy to the values in source. It skips
// copies of the same or a newer version. Without CopySpec.Version it skips only documents
// whose copies are equal, so source must be current.
//
// Cost: one command. With CopySpec.Listed, one command for each 16 MiB of ids. It writes
// the documents with an older copy, found by [Copy.Indexes] or the listed _ids.
func (c *Copy[S, SK, TK]) Propagate(source *S) model.Plan {
	return c.c.Propagate(source)
}

// PropagateJob is [Copy.Propagate] as a job, in batches, for sources with very many
// copies. If CopySpec.Listed is set, running it gives a [*model.ValueError].
//
// Cost: two commands for each batch of 500 documents, and two at the end. If no copy is
// older than source, one command.
func (c *Copy[S, SK, TK]) PropagateJob(source *S) model.Job {
	return c.c.PropagateJob(source)
}

// Refresh returns the change that reads the source with this _id and updates its copies.
// docs are the _ids of the documents to update; without docs it updates all copies. Run
// it after storing a copy, or after a crash. Running it returns the source. A missing
// source gives model.ErrNotFound.
//
// Cost: one command to read the source, and the cost of [Copy.Propagate].
func (c *Copy[S, SK, TK]) Refresh(source SK, docs ...TK) model.Change[bson.Raw] {
	return c.c.Refresh(source, core.Anys(docs))
}

// Storing returns the change that stores copies and keeps them up to date. It reads the
// source with this _id, passes it to the function store, and runs the action that store
// returns, for example an insert. The action writes copies ([Copy.Snapshot],
// [Copy.Fields]) into the documents whose _ids are docs. If the source changed meanwhile, Storing updates the copies in
// docs or, without docs, all copies. A missing source gives model.ErrNotFound.
//
// store is called several times, and must return equal actions for equal sources. For
// copies of two sources, let store return Storing of the second source.
//
// How Storing keeps the copies up to date depends on where it runs:
//
//   - Without a transaction, [Copy.Refresh] follows the writes. After a crash, run the
//     change again, if store's action allows it.
//   - In a transaction with CopySpec.Lock, Storing increments that field of the source. A
//     concurrent change of the source then waits or fails, or this transaction runs
//     again.
//   - In a transaction without a Lock, Refresh follows. If the caller began the
//     transaction, Refresh runs inside it and can't see newer values of the source.
//
// Outside a transaction, an action with Change.Tx, or with a transactional plan, gives
// model.ErrTransactional. A store that is nil, returns nil, or returns a change with a
// [model.Lease] gives a [*model.ValueError].
//
// Cost: the commands of store's action, and three more. In a transaction with a Lock,
// only one more, or two before MongoDB 8.0.
func (c *Copy[S, SK, TK]) Storing(source SK, store func(source *S) model.Action, docs ...TK) model.Change[any] {
	if store == nil {
		return model.Change[any]{Err: &model.ValueError{Field: "store", Reason: "is nil: give a function that returns the action that stores the copies"}}
	}
	read := func(ctx context.Context, db model.DB) (any, error) {
		s, err := c.sources.ByID(source).One(ctx, db)
		return &s, err
	}
	return c.c.Storing(source, core.Anys(docs), read, func(source any) model.Action { return store(source.(*S)) })
}

// Rebuild returns the job that updates the copies of all sources. It also corrects wrong
// copies that have the same version as their source, but leaves copies with a newer
// version.
//
// Cost: two commands for each batch of 500 sources, and two at the end.
func (c *Copy[S, SK, TK]) Rebuild() model.Job {
	return c.c.Rebuild()
}

// Unfolded returns the check that finds the sources that [Copy.Fold] doesn't delete,
// because data would be lost. They have no copy, a copy with other values, or a top-level
// field that isn't copied whole. The parameter names lists top-level fields that may be
// lost. No write repairs these sources.
//
// Cost: one command; it reads every source, and looks up its copies by [Copy.Indexes] or
// _id.
func (c *Copy[S, SK, TK]) Unfolded(names ...string) model.Check { return c.c.Unfolded(names) }

// Fold returns the job that deletes the sources, so that only the copies stay. The job
// keeps the sources that [Copy.Unfolded] finds for the same parameter names. Run
// [Copy.Rebuild] first.
//
// The job keeps a source that changes meanwhile. Stop other writers while it runs: a copy
// that they store after the source was deleted stays old.
//
// Cost: two commands for each batch of 500 sources, and two at the end, with the lookups
// of [Copy.Unfolded]. It can be stopped and run again.
func (c *Copy[S, SK, TK]) Fold(names ...string) model.Job { return c.c.Fold(names) }

// Spread returns the aggregation that counts the documents with copies, their different
// sources, and the copies, for [CopySpread.BreakEven]. It has one result, or none without
// copies.
//
// Cost: one command; it reads every document of the collection with the copies.
func (c *Copy[S, SK, TK]) Spread() *model.Aggregate[CopySpread] {
	return &model.Aggregate[CopySpread]{Aggregation: c.c.Spread()}
}

// A CopySpread counts the copies of a [Copy].
type CopySpread struct {
	Documents int64 `bson:"documents"` // documents with copies
	Sources   int64 `bson:"sources"`   // sources with copies
	Pairs     int64 `bson:"pairs"`     // pairs of a document and a source that it copies
	Most      int64 `bson:"most"`      // most documents that copy the same source
}

// BreakEven returns the ratio of document reads to changes of copied fields above which
// copies are cheaper than references, or 0 without copies.
//
// command is the price of a round trip, and write the price of updating a document. The
// price of reading a document is 1. 0 means 20 for command and 8 for write.
func (s CopySpread) BreakEven(command, write float64) float64 {
	if s.Documents <= 0 || s.Sources <= 0 {
		return 0
	}
	command, pairs := cmp.Or(command, 20), float64(s.Pairs)
	change := command + cmp.Or(write, 8)*pairs/float64(s.Sources)
	read := command + pairs/float64(s.Documents)
	return change / read
}
