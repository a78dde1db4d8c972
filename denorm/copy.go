package denorm

import (
	"cmp"
	"context"

	"github.com/docmodel/docmodel/denorm/internal/copies"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Copy keeps copies of a source document's fields in other documents. [CopySpec] says
// where a copy is stored:
//
//   - KeyPath "items.id": in an array element, with the source's _id
//   - KeyPath "publisher.id": outside arrays, with the source's _id
//   - Listed: in the documents whose _ids the source lists
//
// # Consistency
//
// [Copy.Set] writes the source first, and then the copies. Between these writes, readers
// see old copies. After a crash, run the plan, change or job again.
//
// With CopySpec.Version, older values never overwrite newer values. Without a Version,
// the last write to a copy wins.
//
// To store a copy while other clients change the source, use [Copy.Storing].
//
// Source: "Denormalization", "6 Rules of Thumb for MongoDB Schema Design", part 2; the
// Extended Reference pattern,
// https://www.mongodb.com/company/blog/building-with-patterns-the-extended-reference-pattern.
//
// Indexes returns the index that finds a source's copies. With Listed, the index is on
// the source's list.
//
// Checks returns two checks, or with Listed only the first:
//
//   - Copies that differ from the source, or have a newer version. The repair writes the
//     source's values and version.
//   - Copies of missing sources. There is no repair.
//
// Cost: each check looks up the source of every copy by an index.
type Copy[S, SK, TK any] struct {
	model.Parts

	sources *model.Collection[S, SK]
	c       *copies.Copying
}

// A Field is a pair of paths. For a [Copy], the source's value at From is copied to To.
// For a [Counter], the parent's value at To is computed from the children's values at
// From.
type Field struct {
	From string // path of a field in the source or child, not inside an array
	To   string // path in the document with the copy ("items.name"), or in the parent
}

// CopySpec says what a [Copy] copies, and to which paths.
type CopySpec struct {
	// KeyPath is the path of the source's _id in a document with a copy: "host",
	// "publisher.id", "items.id", "groups.items.id".
	KeyPath string

	// Listed, instead of KeyPath, is the path at which a source lists the _ids of the
	// documents with copies.
	Listed string

	Fields []Field // the copied fields

	// Version is a field of the source that must grow exactly when a copied field
	// changes. VersionTo is the path of the version in a copy. [Copy.Set] increments an
	// integer version. If Version is a time, pass the new time to Set.
	//
	// If an embed.Versioned writes the source, use Versioned.ChangeBy with an $inc of
	// Version, not Set. After that, run [Copy.Refresh].
	Version, VersionTo string

	// CountUp is the version field of an embed.Versioned that writes the documents with
	// copies. Every write of the Copy increments this field, so Versioned.Replace can't
	// undo the write.
	CountUp string

	// Lock is an integer field of the source that only this Copy writes. In a
	// transaction, [Copy.Storing] increments Lock to detect concurrent changes.
	Lock string

	// Lists contains the prefixes of KeyPath that are arrays, for untyped documents only.
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

// Snapshot returns the copy of a source as BSON. Store the copy with your own write, as
// an array element or a nested document. The copy contains the source's _id and version,
// if CopySpec.KeyPath and VersionTo are set. The copy omits fields that the source lacks.
// If the source can change before your write, use [Copy.Storing].
func (c *Copy[S, SK, TK]) Snapshot(source *S) (bson.D, error) {
	return c.c.Snapshot(source)
}

// Fields returns a copy of source as pairs of a path and a value, for the document that
// will store the copy. If this document is a child of a [Counter], pass the pairs to
// [Counter.Set]. A field that the source lacks gets a bson.RawValue{}, which Counter.Set
// removes. For copies in an array, use [Copy.Snapshot].
//
// The source can change before you store the copy: see [Copy.Storing].
func (c *Copy[S, SK, TK]) Fields(source *S) (bson.D, error) {
	return c.c.Fields(source)
}

// Attach returns the write that stores the copy of source in the document with this _id.
// A missing document gives model.ErrNotFound. An array that contains a copy of source
// stays unchanged. If the source can have changed since you read it, run [Copy.Refresh]
// afterwards. A retry is safe.
//
// Cost: one command, one document, by _id. If an existing copy stays, two commands.
func (c *Copy[S, SK, TK]) Attach(id TK, source *S) model.Write {
	return c.c.Attach(id, source)
}

// Detach returns the write that removes a source's copy from a document. Pass both _ids.
// In an array, the write removes the element with the copy. A missing copy isn't an
// error. With CopySpec.Listed, the source's list keeps the document's _id.
//
// Cost: one command, one document, by _id.
func (c *Copy[S, SK, TK]) Detach(id TK, source SK) model.Write {
	return c.c.Detach(id, source)
}

// Set returns the plan that sets fields (paths and values) of a source, and then updates
// the copies. Pass source as you read it. With CopySpec.Version, model.ErrStale means
// that the stored version has changed, and that nothing was written.
//
// Cost: two commands, or one if no copied field changes. The plan writes the source and
// each document with a copy. Consistency: see [Copy].
func (c *Copy[S, SK, TK]) Set(source *S, fields bson.D) model.Plan {
	return c.c.Set(source, fields)
}

// Propagate returns the plan that updates the copies to the values in source. With
// CopySpec.Version, only older copies change. Without a Version, pass the current source.
//
// Cost: one command, which writes each changed document. CopySpec.Listed needs one
// command for each 16 MiB of ids.
func (c *Copy[S, SK, TK]) Propagate(source *S) model.Plan {
	return c.c.Propagate(source)
}

// PropagateJob is [Copy.Propagate] as a job, in batches, for sources with very many
// copies. With CopySpec.Listed, the job gives a [*model.ValueError].
//
// Cost: two commands for each batch of 500 documents, and two at the end. If no copy is
// outdated, one command.
func (c *Copy[S, SK, TK]) PropagateJob(source *S) model.Job {
	return c.c.PropagateJob(source)
}

// Refresh returns the change that reads a source and updates its copies. To update only
// some documents, pass their _ids as docs. Run the change after a crash. The change
// returns the source, or model.ErrNotFound.
//
// Cost: one command more than [Copy.Propagate].
func (c *Copy[S, SK, TK]) Refresh(source SK, docs ...TK) model.Change[bson.Raw] {
	return c.c.Refresh(source, core.Anys(docs))
}

// Storing returns the change that stores copies of a source. The change reads the source,
// calls store, and runs the action that store returns, such as an insert. The action must
// write copies ([Copy.Snapshot], [Copy.Fields]) into the documents whose _ids are docs.
// The change calls store several times. For equal sources, store must return equal
// actions. A missing source gives model.ErrNotFound.
//
// If another writer changes the source meanwhile:
//
//   - In a transaction with CopySpec.Lock, the other writer waits or fails. If the other
//     writer was first, the transaction runs again.
//   - In your own transaction without a Lock, the copies can stay old.
//   - In all other cases, a final [Copy.Refresh] corrects the copies in docs, or all
//     copies if docs is empty. After a crash, run the change again.
//
// For copies of two sources, let store return a Storing change of the second source.
//
// Cost: the action's commands, and three more commands. In a transaction with a Lock, one
// or two more commands.
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

// Rebuild returns the job that corrects the copies of all sources, even copies with the
// source's version. Copies with a newer version than the source stay.
//
// Cost: two commands for each batch of 500 sources, and two commands at the end.
func (c *Copy[S, SK, TK]) Rebuild() model.Job {
	return c.c.Rebuild()
}

// Unfolded returns the check for the sources that [Copy.Fold] keeps, because a deletion
// would lose data. Such a source has no copy, a different copy, or a field that isn't
// copied completely. Fields in dropFields don't count. There is no repair.
//
// Cost: one command, which reads every source and its copies.
func (c *Copy[S, SK, TK]) Unfolded(dropFields ...string) model.Check { return c.c.Unfolded(dropFields) }

// Fold returns the job that deletes the sources and leaves their copies. First stop other
// writers and run [Copy.Rebuild]. The job keeps sources with uncopied data: see
// [Copy.Unfolded]. Uncopied fields in dropFields are lost. After a crash, run the job
// again.
//
// Cost: two commands for each batch of 500 sources, and two commands at the end.
func (c *Copy[S, SK, TK]) Fold(dropFields ...string) model.Job { return c.c.Fold(dropFields) }

// Spread returns the aggregation that counts copies, for [CopySpread.BreakEven]. The
// aggregation has one result. If there are no copies, it has no result.
//
// Cost: one command, which reads every document of the collection with the copies.
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

// BreakEven returns a number of document reads per change of copied fields. Above this
// number, copies are cheaper than references. If s counts no copies, the result is 0.
//
// The parameters are prices: command of a round trip (0 means 20), write of an update (0
// means 8). Reading a document costs 1.
func (s CopySpread) BreakEven(command, write float64) float64 {
	if s.Documents <= 0 || s.Sources <= 0 {
		return 0
	}
	command, pairs := cmp.Or(command, 20), float64(s.Pairs)
	change := command + cmp.Or(write, 8)*pairs/float64(s.Sources)
	read := command + pairs/float64(s.Documents)
	return change / read
}
