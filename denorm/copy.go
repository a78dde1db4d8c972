package denorm

import (
	"cmp"
	"context"

	"github.com/docmodel/docmodel/denorm/internal/copies"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Copy keeps copies of a source document's fields in other documents. [CopySpec] has two
// ways to find the copies:
//
//   - KeyPath. Beside the copy, a document stores the source's _id. Examples are
//     "publisher.id" and, in array elements, "items.id".
//   - Listed. The source lists the _ids of documents with copies.
//
// # Consistency
//
// [Copy.Set] writes the source before the copies. Between these writes, readers see old
// copies. After a crash, run the interrupted operation again.
//
// With CopySpec.Version, older values never overwrite newer values. Without a Version,
// the last write wins.
//
// If a source can change while you store a copy of it, use [Copy.Storing].
//
// A [model.Store] fills copies and brings them up to date, and counts an integer Version
// up. It can't if copies are in arrays, or if Listed, CountUp or Lock is set.
//
// Source: "Denormalization", "6 Rules of Thumb for MongoDB Schema Design", part 2; the
// Extended Reference pattern,
// https://www.mongodb.com/company/blog/building-with-patterns-the-extended-reference-pattern.
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
	To   string // path in the document with the copy; for a [Counter], in the parent
}

// CopySpec says what a [Copy] copies, and to which paths.
type CopySpec struct {
	// KeyPath is the path of the source's _id in a document with a copy: "host",
	// "publisher.id", "items.id", "groups.items.id".
	KeyPath string

	// If a source lists the _ids of documents with copies, Listed is the list's path, and
	// KeyPath is "".
	Listed string

	Fields []Field // the copied fields

	// Version is the path of the source's version, an integer or a time. The version must
	// grow when a copied field changes, and only then. VersionTo is the version's path in
	// a copy.
	//
	// [Copy.Set] increments an integer version. For a time, pass the new time to Set. If
	// an embed.Versioned writes the source, don't use Set. Use Versioned.ChangeBy with an
	// $inc of Version. Then run [Copy.Refresh].
	Version, VersionTo string

	// If an embed.Versioned writes the target documents, CountUp is its version field.
	// Every write to a copy increments CountUp.
	CountUp string

	// Lock is an integer field of the source. In a transaction, [Copy.Storing] increments
	// Lock to detect concurrent changes. Nothing else may write Lock.
	Lock string

	// Lists names the arrays in KeyPath, for untyped documents only.
	Lists []string
}

// NewCopy declares that target documents contain copies of source documents' fields. It
// panics with a [*model.DeclarationError] if a path or a type doesn't fit, paths overlap,
// or the array of copies can be stored as null.
func NewCopy[S, SK, T, TK any](sources *model.Collection[S, SK], targets *model.Collection[T, TK], spec CopySpec) *Copy[S, SK, TK] {
	c := copies.Declare(sources.Docs(), targets.Docs(), copies.Spec{
		KeyPath: spec.KeyPath, Listed: spec.Listed, Fields: fieldsOf(spec.Fields), Version: spec.Version, VersionTo: spec.VersionTo,
		CountUp: spec.CountUp, Lock: spec.Lock, Lists: spec.Lists,
	})
	parts := model.NewParts(c.Indexes, c.Relations, c.Checks, c.Footprints).WithDocs(sources.Docs(), targets.Docs())
	if reactions := c.Reactions(); reactions != nil {
		parts = parts.WithReactions(reactions)
	} else {
		parts = parts.WithoutReactions("Copy.Set, Copy.Attach and Copy.Storing")
	}
	return &Copy[S, SK, TK]{parts, sources, c}
}

func fieldsOf(list []Field) (out []copies.Field) {
	for _, f := range list {
		out = append(out, copies.Field(f))
	}
	return out
}

// Indexes returns an index on CopySpec.Listed if set, else on KeyPath.
func (c *Copy[S, SK, TK]) Indexes() []model.Index { return c.Parts.Indexes() }

// Checks returns these checks:
//
//   - Copies that differ from the source, or have a newer version. The repair writes the
//     source's values and version.
//   - With KeyPath, copies of missing sources. There is no repair.
//
// Cost: each check looks up every copy's source by an index.
func (c *Copy[S, SK, TK]) Checks() []model.Check { return c.Parts.Checks() }

// Snapshot returns the copy of a source as BSON. Store the copy with your own write, as
// an array element or a nested document. The copy contains the source's _id and version,
// if CopySpec.KeyPath and VersionTo are set. The copy omits fields that the source lacks.
// If the source can change before your write, use [Copy.Storing].
func (c *Copy[S, SK, TK]) Snapshot(source *S) (bson.D, error) {
	return c.c.Snapshot(source)
}

// Fields returns a copy of source as pairs of a path and a value, for the document that
// will store the copy. If this document is a child of a [Counter], pass the pairs to
// [Counter.Set]. A field that the source lacks gets a bson.RawValue{}, which tells
// Counter.Set to remove the field. The driver can't write this value. For copies in an
// array, use [Copy.Snapshot].
//
// The source can change before you store the copy: see [Copy.Storing].
func (c *Copy[S, SK, TK]) Fields(source *S) (bson.D, error) {
	return c.c.Fields(source)
}

// Attach returns the write that stores the copy of source in the document with this _id.
// A missing document gives model.ErrNotFound. In an array, an existing copy of source
// stays unchanged. Outside arrays, it is replaced, unless its version is the same or
// newer. If the source can have changed since you read it, run [Copy.Refresh] afterwards.
// A retry is safe.
//
// Cost: one command, one document, by _id. If nothing is written, two commands.
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
// some documents, pass their _ids as docs. After a crash, run the change to correct the
// copies. The change returns the source. A missing source gives model.ErrNotFound.
//
// Cost: one command more than [Copy.Propagate].
func (c *Copy[S, SK, TK]) Refresh(source SK, docs ...TK) model.Change[bson.Raw] {
	return c.c.Refresh(source, core.Anys(docs))
}

// Storing returns the change that stores copies of a source, even if the source changes
// meanwhile. The change reads the source, and passes the source to your function. The
// function returns the action to run, such as an insert. The action must write
// [Copy.Snapshot] or [Copy.Fields] into the documents with the _ids in docs.
//
// The change calls the function several times. For equal sources, the function must
// return equal actions. To copy a second source, return another Storing change.
//
// A missing source gives model.ErrNotFound. After a crash, run the change again. If the
// action is a change with Tx, set Tx in the Storing change too.
//
// A final [Copy.Refresh] corrects old copies in docs. Without docs, Refresh corrects all
// copies. Exceptions:
//
//   - With CopySpec.Lock, a transaction has no Refresh. It conflicts with concurrent
//     changes of the source.
//   - Without a Lock, the Refresh in your own transaction can miss changes.
//
// Cost: three commands more than the action. In a transaction with a Lock, one or two
// more.
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

// Rebuild returns the job that corrects the copies of all sources, even if a copy already
// has the source's version. Copies with a newer version stay unchanged.
//
// Cost: two commands for each batch of 500 sources, and two commands at the end.
func (c *Copy[S, SK, TK]) Rebuild() model.Job {
	return c.c.Rebuild()
}

// Unfolded returns the check that finds the sources that [Copy.Fold] doesn't delete. Such
// a source has no copy, a different copy, or a field that isn't copied completely. Fields
// in dropFields don't count. There is no repair.
//
// Cost: one command, which reads every source and its copies.
func (c *Copy[S, SK, TK]) Unfolded(dropFields ...string) model.Check { return c.c.Unfolded(dropFields) }

// Fold returns the job that deletes the sources and leaves their copies. First stop other
// writers and run [Copy.Rebuild]. The job keeps the sources that [Copy.Unfolded] finds.
// Fields in dropFields can be lost: Fold doesn't test whether they are copied. After a
// crash, run the job again.
//
// Cost: two commands for each batch of 500 sources, and two commands at the end.
func (c *Copy[S, SK, TK]) Fold(dropFields ...string) model.Job { return c.c.Fold(dropFields) }

// Spread returns the aggregation that counts copies, for [CopySpread.BreakEven]. The
// aggregation has one result, or no result if there are no copies.
//
// Cost: one command, which reads every document of the collection with the copies. With
// CopySpec.Listed, it also looks up the sources of each document.
func (c *Copy[S, SK, TK]) Spread() *model.Aggregate[CopySpread] {
	return &model.Aggregate[CopySpread]{Aggregation: c.c.Spread()}
}

// A CopySpread counts the copies of a [Copy].
type CopySpread struct {
	Documents int64 `bson:"documents"` // number of documents with copies
	Sources   int64 `bson:"sources"`   // number of sources with copies
	Pairs     int64 `bson:"pairs"`     // number of pairs of a document and a copied source
	Most      int64 `bson:"most"`      // greatest number of documents that copy one source
}

// BreakEven returns the break-even number of document reads per source change. Above it,
// copies are cheaper than references. If s counts no copies, the result is 0.
//
// command is a round trip's cost (0 means 20). write is an update's cost (0 means 8).
// Reading a document costs 1.
func (s CopySpread) BreakEven(command, write float64) float64 {
	if s.Documents <= 0 || s.Sources <= 0 {
		return 0
	}
	command, pairs := cmp.Or(command, 20), float64(s.Pairs)
	change := command + cmp.Or(write, 8)*pairs/float64(s.Sources)
	read := command + pairs/float64(s.Documents)
	return change / read
}
