package denorm

import (
	"cmp"
	"context"

	"github.com/docmodel/docmodel/denorm/internal/copies"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Copy keeps fields of a source document where they are read: the part's name in the products that list it, the product's
// name in each of its parts, the host's address in its log messages, the authors' names in books. Make it with [NewCopy].
//
// A copy is one of three things, by where the source's _id is stored:
//
//   - an element of an array (items.id), or of an array within the elements of another: many documents hold copies of many
//     sources;
//   - fields of the document itself, beside the source's _id (host, or publisher.id): each document is of one source;
//   - fields of the documents that the source lists (CopySpec.Listed): nothing of the source's _id is stored with them.
//
// # Consistency
//
// The source says what is true. Its copies follow in writes of their own: between the two a reader sees the old value. A
// write to many documents is not atomic over them, and can be cut; run again, it completes itself.
//
// With a Version, a copy holds the version of the source that it was made from, and is never overwritten by an older one,
// in whatever order changes arrive. That rests on one rule: whoever changes a copied field of the source gives the source a
// greater version in the same write, as [Copy.Set] does. Since any change may be the only one that arrives, each carries all
// copied fields. Without a Version the last write wins, and only the fields that differ are written.
//
// What no version can prevent is a copy that is stored, from a source as it was read earlier, after a change of the source has
// passed over the copies that were there. [Copy.Storing] runs such a write so that this can't happen, or is mended at once;
// [Copy.Checks] finds it.
//
// Source: "Denormalization", "6 Rules of Thumb for MongoDB Schema Design", part 2 (seed 004); authors in books (seed 000);
// the Extended Reference pattern, https://www.mongodb.com/company/blog/building-with-patterns-the-extended-reference-pattern.
//
// Indexes returns the index by which the copies of a source are found, in the order of the documents' _id, so that
// [Copy.PropagateJob] reads a batch without sorting. Where the source lists its documents, it is the index of the list.
//
// Checks returns the checks of the copies. The first finds the copies that differ from their sources: copies with other
// values, and copies with a version beyond the source's, which no change would reach. Mending gives them the values and the
// version that the source had when it was read. A copy that only lags in its version is no finding: the changes in between
// touched no copied field.
//
// The second finds the copies of missing sources. Nothing mends them: they may be all that is left of the source. A Copy
// with Listed has no second check.
//
// Cost: see [model.Check]. The server looks up the source of each copy by _id. With Listed it looks it up by the index of
// that list ([Copy.Indexes]): without the index it reads all sources for each document. Mending writes one document each, by
// _id.
type Copy[S, SK, TK any] struct {
	model.Parts

	sources *model.Collection[S, SK]
	c       *copies.Copying
}

// A Field is a field of one document, and where another document keeps a copy of it ([Copy]) or a number that is made of it
// ([Counter]).
type Field struct {
	From string // in the source or the child; it must not lie inside an array, but a copied field can be one
	To   string // in the documents that hold the copy: "items.name"; or in the parent
}

// CopySpec says what a [Copy] keeps, and where.
type CopySpec struct {
	// KeyPath is where the documents hold the source's _id: "host", "publisher.id", "items.id", "groups.items.id". In an
	// array, the fields of the copy are in the same element.
	KeyPath string

	// Listed is the path of the source that lists the _ids of the documents that hold its copies, in the place of KeyPath.
	Listed string

	// Fields are what is copied.
	Fields []Field

	// Version is a field of the source that grows with each change of a copied field: a whole number that [Copy.Set] counts
	// up, or a time. VersionTo is where a copy keeps it. Both or none. Give it a field of its own: one that grows for other
	// reasons too, as an embed.Versioned's does with every write, makes [Copy.Refresh] write copies that hold the same already.
	// Where the source is an embed.Versioned, count both up by its ChangeBy, and run [Copy.Refresh] then.
	Version, VersionTo string

	// CountUp is the path of the version in the documents that hold copies, if a
	// embed.Versioned is declared over them. Every write of the Copy to such a document
	// counts its version up. A replacement that was computed before that write then gives
	// embed.ErrVersion, and embed.Versioned.Change decides again. Without CountUp the
	// replacement stores the old copy again.
	CountUp string

	// Lock is the path of a whole number of the source, a field for it alone, which [Copy.Storing] counts up in a transaction. A copy
	// that is stored there, and a change of the source in another transaction, then meet in the source: one waits, or is run again.
	Lock string

	// Lists are the paths of arrays on KeyPath, for documents whose fields are not known (bson.D and the like). It is refused
	// where the type tells.
	Lists []string
}

// NewCopy declares that documents hold copies of the sources' fields. It panics with a
// [*model.DeclarationError] when a path doesn't exist; when KeyPath doesn't hold the
// sources' _id, or is itself an array of ids, which has no room for a copy; when a copy
// is of another type than its source, outside the key's element or inside a further
// array; when paths overlap; when the array that copies are pushed to can be stored as
// null; and when CountUp or Lock is no whole number outside arrays and copies.
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

// Snapshot returns the copy of a source: an element of the array, with the source's _id, the copied fields and the version;
// or the fields of a document, nested as it stores them. It is for the documents that the caller writes by other means. A
// field that the source doesn't have is left out.
//
// What is stored from it is as old as the source that was read: see [Copy.Refresh].
func (c *Copy[S, SK, TK]) Snapshot(source *S) (bson.D, error) {
	return c.c.Snapshot(source)
}

// Fields returns the copy of a source as paths and values, with the source's _id, in the
// form that [Counter.Set] takes. A field that the source doesn't have gets a
// bson.RawValue of type 0, by which Set removes it. Fields refuses a copy that is an
// element of an array.
//
// What is stored from it is as old as the source that was read: see [Copy.Refresh].
func (c *Copy[S, SK, TK]) Fields(source *S) (bson.D, error) {
	return c.c.Fields(source)
}

// Attach returns the write that gives a document the copy of a source. In an array, the copy is pushed unless the array has
// one of this source; then nothing is written, for [Copy.Propagate] keeps that one. Beside a single key, key and copy are
// set, unless a newer copy of this source is there. Into an array that lies within another it is refused, for which element
// of the outer one is meant is not known: push [Copy.Snapshot] there.
//
// Consistency: one document, atomic; it expects that the document exists, else running it
// gives model.ErrNotFound. It can be run again. Run [Copy.Refresh] of the document after it
// if the source may have changed since it was read. Cost: one command, one document, by
// _id; one more to ask when it wrote nothing.
func (c *Copy[S, SK, TK]) Attach(id TK, source *S) model.Write {
	return c.c.Attach(id, source)
}

// Detach returns the write that takes the copy of a source out of a document: the element, or key and fields. It writes
// nothing where there is none. Where the source lists its documents, the copied fields are unset; the list is not the copy's.
//
// Consistency: one document, atomic. Cost: one command, one document, by _id.
func (c *Copy[S, SK, TK]) Detach(id TK, source SK) model.Write {
	return c.c.Detach(id, source)
}

// Set returns the plan that sets fields of a source, as it was read, by their paths, and then those of its copies. nil stores
// null. With a whole-number Version the version is counted up by one; a time is to be among the fields, later than the one
// that was read. When no copied field changes, only the source is written.
//
// With a Version, the write to the source is guarded by the one that was read: when another change came in between, running
// it gives model.ErrStale, and nothing is written. Without, it only expects that the source is there.
//
// Cost: two commands, one when no copied field changes; the source, and each document that holds a copy. Cut, it leaves copies
// that are older than the source: run it again, or [Copy.Refresh].
func (c *Copy[S, SK, TK]) Set(source *S, fields bson.D) model.Plan {
	return c.c.Set(source, fields)
}

// Propagate returns the plan that brings every copy of a source up to date: an update of many documents, in which copies in
// arrays are reached by array filters, each copy of the source in each element. Copies that are of this version or a newer
// one are not touched; without a Version, documents in which nothing differs.
//
// Cost: one command; where the source lists its documents, one for the ids that fit 16 MiB. Documents written: those with an
// older copy, found by [Copy.Indexes], or by the _ids listed. A cut leaves some documents to do; it can be run again, and
// late.
func (c *Copy[S, SK, TK]) Propagate(source *S) model.Plan {
	return c.c.Propagate(source)
}

// PropagateJob returns the job that does what [Copy.Propagate] does in batches of documents in the order of _id, with progress,
// a dry run, and going on where it stopped: for sources with so many copies that one command would take too long. It reads and
// writes only documents with an older copy. Where the source lists its documents it is refused: the list bounds them.
//
// Cost: two commands for each batch of 500 documents, and two to find the end; one where there is nothing to do. Cut, it leaves some
// documents to do, and is run again.
func (c *Copy[S, SK, TK]) PropagateJob(source *S) model.Job {
	return c.c.PropagateJob(source)
}

// Refresh returns the change that reads a source and brings its copies up to date: for
// after a copy was stored, or a plan was cut. With docs it reads and writes only these
// documents. A source that is not there gives model.ErrNotFound. The state that it
// returns is the source as it is stored.
//
// Run after [Copy.Attach], with the document, it closes the gap in which the source
// changed: a later change finds the new copy by itself.
//
// Cost: two commands; documents written: those with an older copy. The second reads all
// documents that hold a copy of the source, by [Copy.Indexes], or these docs, by _id.
// Cut, it leaves some documents to do: run it again.
func (c *Copy[S, SK, TK]) Refresh(source SK, docs ...TK) model.Change[bson.Raw] {
	return c.c.Refresh(source, core.Anys(docs))
}

// Storing returns the change that stores copies of a source in documents, and leaves them up to date. It reads the source, calls store
// with it, and runs the change that store returns, by any technique ([Copy.Snapshot] and [Copy.Fields] give the copy). docs are the
// documents with the new copies; without docs, all copies of the source are looked at. For a document with copies of several sources,
// store returns the change of another Storing. store is called several times: for equal sources it must return equal changes. A source
// that is not there gives model.ErrNotFound, before store is called.
//
// Without a transaction, the source is read again after all writes, as by [Copy.Refresh]. Run again after a cut, it completes itself if
// the change of store does. Give the copies a Version: without one, the last write wins.
//
// In a transaction, the writes of store come with one that counts up CopySpec.Lock. A writer who changes the source at the same time
// then waits or is refused by the server, or this transaction is run again. Without a Lock, Refresh follows the transaction of this
// change. In a transaction that it joined, Refresh sees nothing new, and the copy is as old as that transaction.
//
// A change that needs a transaction (Change.Tx) needs one here too, [model.WithTransactions] or [model.InTx]; without, it gives
// model.ErrTransactional. One under a [model.Lease] is refused.
//
// Cost: the commands of store's change, and three more: the source, and those of Refresh. In a transaction with a Lock: one more.
func (c *Copy[S, SK, TK]) Storing(source SK, store func(source *S) model.Change[any], docs ...TK) model.Change[any] {
	if store == nil {
		return model.Change[any]{Err: &model.ValueError{Field: "store", Reason: "is nil: give what makes the change that stores the copies"}}
	}
	read := func(ctx context.Context, db model.DB) (any, error) {
		s, err := c.sources.ByID(source).One(ctx, db)
		return &s, err
	}
	return c.c.Storing(source, core.Anys(docs), read, func(source any) model.Change[any] { return store(source.(*S)) })
}

// Rebuild returns the job over the sources that brings every copy up to date, whatever its version says but for newer ones: for
// documents that were loaded beside the copy, or after a field was added to it.
//
// Cost: two commands for each batch of 500 sources, and two to find the end; documents written: those with a copy that is older
// or differs. Cut, it leaves the copies of some sources old; it can be run again, and while others write.
func (c *Copy[S, SK, TK]) Rebuild() model.Job {
	return c.c.Rebuild()
}

// Unfolded returns the check of the sources that [Copy.Fold] would leave, and why: no document holds a copy, a copy has other
// values, or they have fields that aren't copied. drop names fields that need no copy. It can't mend.
//
// A field counts as copied when it is copied whole, from the top level of the source.
//
// Cost: one command; it reads every source, and the server reads its copies by [Copy.Indexes], or by the _ids listed, until
// one differs. Without that index it reads all documents that hold copies for each source, twice.
func (c *Copy[S, SK, TK]) Unfolded(drop ...string) model.Check { return c.c.Unfolded(drop) }

// Fold returns the job that does away with the sources: what is left of each is its copies, found by the key or by a copied
// field. It deletes a source when at least one document holds a copy of it, none holds a stale one, and every field of it is
// copied, or named by drop; others it leaves, and [Copy.Unfolded] says why. Run [Copy.Rebuild] before it.
//
// A source is deleted only as it was read; one that changes meanwhile stays. A copy that somebody stores from an older read of
// a source, after it was deleted, stays as it is: have nobody write sources or copies that way while it runs.
//
// Cost: two commands for each batch of 500 sources, and two to find the end, with the lookups of [Copy.Unfolded]; documents
// written: the sources. It can be stopped anywhere and run again, and has a dry run.
//
// Source: "denormalize them all into the squillions side and get rid of the one collection" (seed 004).
func (c *Copy[S, SK, TK]) Fold(drop ...string) model.Job { return c.c.Fold(drop) }

// Spread returns one row, of how many documents hold how many copies of how many sources, from which
// [CopySpread.BreakEven] computes at which ratio of reads to writes the copy pays. No documents give no row.
//
// Cost: one command; it reads every document.
func (c *Copy[S, SK, TK]) Spread() *model.Aggregate[CopySpread] {
	return &model.Aggregate[CopySpread]{Aggregation: c.c.Spread()}
}

// A CopySpread is how copies lie: what a change of a source costs, and what a read without copies would.
type CopySpread struct {
	Documents int64 `bson:"documents"` // that hold copies
	Sources   int64 `bson:"sources"`   // of which there are copies
	Pairs     int64 `bson:"pairs"`     // of a document and a source of which it holds copies
	Most      int64 `bson:"most"`      // documents that hold copies of one source
}

// BreakEven returns the ratio of reads to writes from which on copies pay: reads of documents, each of which would else fetch
// its sources, to changes of copied fields. Both are of the whole collection, in the same time. Above it copies are the cheaper
// model; below, references. It is 0 when there is nothing to compute it from.
//
// A read without copies costs one command more, and as many documents as it refers to; a change with copies costs one command
// more, and as many documents as hold a copy.
//
// command and write are the prices of a round trip and of a document found and changed among many, in reads of one document.
// Zero means the default: 20 for a command, 8 for a write. Measure your own: they differ with the network, the size of the
// documents and the indexes on them.
func (s CopySpread) BreakEven(command, write float64) float64 {
	if s.Documents <= 0 || s.Sources <= 0 {
		return 0
	}
	command, pairs := cmp.Or(command, 20), float64(s.Pairs)
	change := command + cmp.Or(write, 8)*pairs/float64(s.Sources)
	read := command + pairs/float64(s.Documents)
	return change / read
}
