// Package copies keeps copies of another document's fields: see [Copy].
package copies

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Copy keeps copies of a source document's fields in other documents. [Spec] has two
// ways to find the copies:
//
//   - KeyPath. Beside the copy, a document stores the source's _id. Examples are
//     "publisher.id" and, in array elements, "items.id".
//   - Listed. The source lists the _ids of documents with copies.
//
// Write sources and documents with copies by a [model.Store]. It fills the copies of a new
// document, element or _id of a source. If a copied field changes, it counts an integer
// Version up and updates the copies. A missing source, and a missing document in Listed,
// give model.ErrNotFound. A document that a source no longer lists has the copy of another
// source that lists it, or no copy.
//
// # Consistency
//
// In transactions, copies always equal their sources. Without transactions, readers see
// old copies while an action runs, and the store reads the source again after it has stored
// a new copy. With Spec.Version, older values never overwrite newer values. Without a
// Version, the last write wins.
//
// Source: "Denormalization", "6 Rules of Thumb for MongoDB Schema Design", part 2; the
// Extended Reference pattern,
// https://www.mongodb.com/company/blog/building-with-patterns-the-extended-reference-pattern.
//
// # Indexes and checks
//
// Indexes returns an index on Spec.Listed if set, else on KeyPath.
//
// Checks returns these checks:
//
//   - Copies that differ from the source, or have a newer version. The repair writes the
//     source's values and version.
//   - With KeyPath, copies of missing sources. There is no repair.
//
// Cost: each check looks up every copy's source by an index.
type Copy[S, SK, TK any] struct {
	model.Parts

	sources *model.Collection[S, SK]
	c       *untypedCopy
}

// A Field is a pair of paths: the source's value at From is copied to To.
type Field struct {
	From string // path of a field in the source, not inside an array
	To   string // path in the document with the copy
}

// Spec says what a [Copy] copies, and to which paths.
type Spec struct {
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
	// A [model.Store] increments an integer version. For a time, set the new time together
	// with the copied field. If other code writes the source, it must increment the version
	// too. Then run [Copy.Refresh].
	Version, VersionTo string

	// If an embed.Versioned writes the target documents, CountUp is its version field.
	// Every write to a copy increments CountUp.
	CountUp string

	// Lists names the arrays in KeyPath, for untyped documents only.
	Lists []string
}

// New declares that target documents contain copies of source documents' fields. It
// panics with a [*model.DeclarationError] if a path or a type doesn't fit, paths overlap,
// or the array of copies can be stored as null.
func New[S, SK, T, TK any](
	sources *model.Collection[S, SK], targets *model.Collection[T, TK], spec Spec,
) *Copy[S, SK, TK] {
	c := declareCopy(sources.Docs(), targets.Docs(), spec)
	parts := model.NewParts(c.listIndexes, c.listRelations, c.listChecks, c.listFootprints).
		WithDocs(sources.Docs(), targets.Docs())
	return &Copy[S, SK, TK]{parts.WithReactions(c.makeReactions), sources, c}
}

// Propagate returns the plan that updates the copies to the values in source, after a write
// that no [model.Store] made. With
// Spec.Version, only older copies change. Without a Version, pass the current source.
//
// Cost: one command, which writes each changed document. Spec.Listed needs one
// command for each 16 MiB of ids.
func (c *Copy[S, SK, TK]) Propagate(source *S) model.Plan {
	return c.c.propagateDocument(source)
}

// PropagateJob is [Copy.Propagate] as a job, in batches, for sources with very many
// copies. With Spec.Listed, the job gives a [*model.ValueError].
//
// Cost: two commands for each batch of 500 documents, and two at the end. If no copy is
// outdated, one command.
func (c *Copy[S, SK, TK]) PropagateJob(source *S) model.Job {
	return c.c.makePropagateJob(source)
}

// Refresh returns the change that reads a source and updates its copies. To update only
// some documents, pass their _ids as docs. After a crash, run the change to correct the
// copies. The change returns the source. A missing source gives model.ErrNotFound.
//
// Cost: one command more than [Copy.Propagate].
func (c *Copy[S, SK, TK]) Refresh(source SK, docs ...TK) model.ChangeOf[bson.Raw] {
	return c.c.refreshCopies(source, core.Anys(docs))
}

// Rebuild returns the job that corrects the copies of all sources, even if a copy already
// has the source's version. Copies with a newer version stay unchanged.
//
// Cost: two commands for each batch of 500 sources, and two commands at the end.
func (c *Copy[S, SK, TK]) Rebuild() model.Job {
	return c.c.makeRebuildJob()
}

// Unfolded returns the check that finds the sources that [Copy.Fold] doesn't delete. Such
// a source has no copy, a different copy, or a field that isn't copied completely. Fields
// in dropFields don't count. There is no repair.
//
// Cost: one command, which reads every source and its copies.
func (c *Copy[S, SK, TK]) Unfolded(dropFields ...string) model.Check {
	return c.c.checkUnfolded(dropFields)
}

// Fold returns the job that deletes the sources and leaves their copies. First stop other
// writers and run [Copy.Rebuild]. The job keeps the sources that [Copy.Unfolded] finds.
// Fields in dropFields can be lost: Fold doesn't test whether they are copied. After a
// crash, run the job again.
//
// Cost: two commands for each batch of 500 sources, and two commands at the end.
func (c *Copy[S, SK, TK]) Fold(dropFields ...string) model.Job { return c.c.foldSources(dropFields) }
