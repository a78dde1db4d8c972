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
// [CopySpec] says where a copy is stored:
//
//   - KeyPath "items.id": in an element of an array, next to the source's _id
//   - KeyPath "publisher.id": in the document itself, next to the source's _id
//   - Listed: in the documents whose _ids the source lists
//
// # Consistency
//
// [Copy.Set] writes the source, and then its copies. Between these writes, readers see
// old copies. After a crash, run the plan, change or job again.
//
// With CopySpec.Version, older values never overwrite newer values. Your own writes to
// copied fields must raise the version. Without a Version, the last write to a copy wins.
//
// If the source can change before you store its copy, use [Copy.Storing].
//
// Source: "Denormalization", "6 Rules of Thumb for MongoDB Schema Design", part 2; the
// Extended Reference pattern,
// https://www.mongodb.com/company/blog/building-with-patterns-the-extended-reference-pattern.
//
// Indexes returns the index that finds a source's copies. With Listed it returns the
// index of the source's list.
//
// Checks returns two checks, or with Listed only the first:
//
//   - Copies that differ from their source, or have a newer version. The repair writes
//     the source's values and version.
//   - Copies of missing sources. No write repairs them.
//
// Cost: the server looks up each copy's source by an index.
type Copy[S, SK, TK any] struct {
	model.Parts

	sources *model.Collection[S, SK]
	c       *copies.Copying
}

// A Field is a pair of paths. In CopySpec.Fields, the source's field From is copied to
// the path To. In CounterSpec.Sums, Mins and Maxs, the parent's field To is computed from
// the children's field From.
type Field struct {
	From string // path in the source or child, outside arrays; a copied field can be an array
	To   string // path in the parent, or in the document with the copy: "items.name"
}

// CopySpec says what a [Copy] copies, and to which paths.
type CopySpec struct {
	// KeyPath is the path of the source's _id in a document with a copy: "host",
	// "publisher.id", "items.id", "groups.items.id". If the _id is in an array's element,
	// this element holds the copied fields.
	KeyPath string

	// If a source lists the _ids of the documents with copies, Listed is the path of this
	// list. Give Listed instead of KeyPath.
	Listed string

	// Fields are the copied fields.
	Fields []Field

	// Version is a field of the source that grows with each change of a copied field,
	// and only then. [Copy.Set] increments an integer version. For a time, pass the new
	// time. VersionTo is the path where a copy stores the version. Give both or neither.
	//
	// If an embed.Versioned writes the source, don't use [Copy.Set]. Change copied fields
	// by Versioned.ChangeBy, with an $inc of Version. Then run [Copy.Refresh].
	Version, VersionTo string

	// CountUp is the version field of an embed.Versioned that writes the documents with
	// copies. Every write of the Copy increments this field. If you read a document
	// before the Copy's write and replace it later, you get embed.ErrVersion.
	CountUp string

	// Lock is an integer field of the source that no other code writes. In a transaction,
	// [Copy.Storing] increments Lock. A concurrent change of the source then conflicts.
	// Each Copy of a source needs its own Lock.
	Lock string

	// Lists says which prefixes of KeyPath are paths of arrays. Give Lists only for
	// untyped documents, such as bson.D.
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

// Snapshot returns the copy of a source as BSON. Store it with a write of your own: as an
// array element, or nested in the document. The copy contains the source's _id, unless
// CopySpec.Listed is set. With CopySpec.Version the copy also contains the version. The
// copy omits fields that the source lacks. When you store the copy, it can be outdated:
// see [Copy.Storing].
func (c *Copy[S, SK, TK]) Snapshot(source *S) (bson.D, error) {
	return c.c.Snapshot(source)
}

// Fields returns a copy of source as pairs of a path and a value. The paths are those of
// the document that will hold the copy. If that document is a child of a [Counter], pass
// the pairs to [Counter.Set]. A field that the source lacks has the value
// bson.RawValue{}. For copies in an array, use [Copy.Snapshot].
//
// The copy may be outdated when it is stored: see [Copy.Storing].
func (c *Copy[S, SK, TK]) Fields(source *S) (bson.D, error) {
	return c.c.Fields(source)
}

// Attach returns the write that stores the copy of source in the document with this _id.
// A missing document gives model.ErrNotFound. In an array, an existing copy of the source
// stays, even if old. If the source can have changed since its read, run [Copy.Refresh]
// afterwards. For an array inside an array, push the [Copy.Snapshot] instead. A retry is
// safe.
//
// Cost: one command, one document, by _id. If an existing copy stays, one more command.
func (c *Copy[S, SK, TK]) Attach(id TK, source *S) model.Write {
	return c.c.Attach(id, source)
}

// Detach returns the write that removes a copy, if any, from the document with this id.
// The parameter source is the _id of the copy's source. In an array, the write removes
// the copy's element. Outside an array, the write removes the source's _id and the copied
// fields. The source, with its list of ids, stays.
//
// Cost: one command, one document, by _id.
func (c *Copy[S, SK, TK]) Detach(id TK, source SK) model.Write {
	return c.c.Detach(id, source)
}

// Set returns the plan that sets fields of a source by paths, and then updates its
// copies. The parameter source is the document that you read. With CopySpec.Version, a
// plan that sets a copied field gives model.ErrStale if the stored version isn't that of
// source. The plan then writes nothing.
//
// Cost: two commands, or one if no copied field changes. It writes the source and each
// document with a copy. Consistency: see [Copy].
func (c *Copy[S, SK, TK]) Set(source *S, fields bson.D) model.Plan {
	return c.c.Set(source, fields)
}

// Propagate returns the plan that updates the copies to the values in source. With
// CopySpec.Version, only older copies change. Without, source must be current.
//
// Cost: one command, which writes each document with an older copy. CopySpec.Listed
// needs one command for each 16 MiB of ids.
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

// Refresh returns the change that reads a source by its _id, and updates its copies. The
// parameter docs lists the documents to update; without docs it updates all copies. Run
// it after a crash. The change returns the source, or model.ErrNotFound.
//
// Cost: one command more than [Copy.Propagate].
func (c *Copy[S, SK, TK]) Refresh(source SK, docs ...TK) model.Change[bson.Raw] {
	return c.c.Refresh(source, core.Anys(docs))
}

// Storing returns the change that stores copies of a source. The change reads the source,
// calls store, and runs the action that store returns, such as an insert. The action
// writes copies ([Copy.Snapshot], [Copy.Fields]) into the documents whose _ids are docs.
// store is called several times, and must return equal actions for equal sources. A
// missing source gives model.ErrNotFound.
//
// If another writer changes the source meanwhile:
//
//   - In a transaction with CopySpec.Lock, the other writer waits or fails, or the
//     transaction runs again.
//   - In your own transaction without a Lock, the copies can stay old.
//   - In all other cases, the change runs [Copy.Refresh] for docs. If docs is empty, all
//     copies are refreshed. After a crash, run the change again.
//
// For copies of two sources, let store return Storing of the second source. Outside a
// transaction, an action that needs one gives model.ErrTransactional.
//
// Cost: the action's commands, and three more commands. In a transaction with a Lock: the
// action's commands, and one or two more commands.
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

// Unfolded returns the check for sources whose deletion would lose data. [Copy.Fold]
// keeps these sources. Such a source has no copy, has a copy with other values, or has a
// top-level field that isn't copied whole. The check ignores uncopied fields in
// dropFields. It has no repair.
//
// Cost: one command, which reads every source and its copies.
func (c *Copy[S, SK, TK]) Unfolded(dropFields ...string) model.Check { return c.c.Unfolded(dropFields) }

// Fold returns the job that deletes the sources, so only the copies stay. It keeps
// sources that [Copy.Unfolded] finds. dropFields lists fields that can be lost. First run
// [Copy.Rebuild] and stop other writers. The job can be stopped and run again.
//
// Cost: two commands for each batch of 500 sources, and two commands at the end.
func (c *Copy[S, SK, TK]) Fold(dropFields ...string) model.Job { return c.c.Fold(dropFields) }

// Spread returns the aggregation that counts the documents with copies, their different
// sources, and the pairs of a document and a source, for [CopySpread.BreakEven]. It has
// one result, or none without copies.
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

// BreakEven returns a ratio of document reads to changes of copied fields. Above this
// ratio, copies are cheaper than references. Without copies, BreakEven returns 0.
//
// The parameter command prices a round trip (0 means 20). The parameter write prices the
// update of a document (0 means 8). The price of reading a document is 1.
func (s CopySpread) BreakEven(command, write float64) float64 {
	if s.Documents <= 0 || s.Sources <= 0 {
		return 0
	}
	command, pairs := cmp.Or(command, 20), float64(s.Pairs)
	change := command + cmp.Or(write, 8)*pairs/float64(s.Sources)
	read := command + pairs/float64(s.Documents)
	return change / read
}
