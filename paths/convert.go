package paths

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/convert"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Convert returns the change that adds the target's fields, such as paths, to the
// source's documents. The trees can differ in kind, but not in collection or [TreeSpec].
// After a crash, run Convert again.
//
// To replace the source:
//  1. Create the target's indexes, before or after the first Convert.
//  2. Stop changes through the source, and run Convert again.
//  3. Use the target. [Tree.Drop] removes the source's fields.
//  4. Delete the indexes that only the source has.
//
// Under a [model.Scope] with Tenant, convert one tenant after another. Delete the source's
// indexes after the last tenant.
//
// # Same fields
//
// Two trees of one kind can have the same fields, such as nested sets with different
// gaps. Then Convert changes the source's fields, and Drop isn't needed:
//  1. Stop changes and queries through the source.
//  2. Run Convert.
//  3. Create the target's indexes, and delete the indexes that only the source has.
//  4. Use the target.
//
// Trees of different kinds must have different fields. Otherwise the change returns a
// [*model.ValueError].
//
// Cost: as the target's check and its repair: see [Tree].Checks.
func Convert[D, K any](source, target *Tree[D, K]) model.Change {
	mustHave("Convert", source != nil && target != nil)
	return target.t.ConvertTree(source.t)
}

// mustHave panics if a tree is nil.
func mustHave(place string, there bool) {
	if !there {
		core.Fail("a tree is nil", place, "give a result of NewParentTree, NewDocumentTree or another constructor")
	}
}

// IntoSpec says where nodes go in another tree: see [ConvertInto] and [Extract].
type IntoSpec[K any] struct {
	Under *K // _id of the source roots' parent in the target; nil keeps them as roots

	// Delete deletes target nodes that the source lacks. With Under, only nodes below
	// Under are deleted. Without Delete, these nodes stay, and come last among their
	// siblings.
	Delete bool
}

// ConvertInto returns the job that copies a tree to another collection, as any kind of
// tree. First create the target's indexes.
//
// The pure function build turns a source document into a target document, and sets the
// target document's _id. The job fills in the tree's fields. If a target document
// differs, the job replaces the whole document.
//
// Under a [model.Scope], the job ignores fields of Set in this comparison, and fields of
// Tenant and Insert that build doesn't set. A new document replaces a document with the
// same _id that Scope.Delete marked as deleted.
//
// JobOptions.BatchSize is the number of nodes per [model.Lease]. 0 means 500.
//
// # Consistency
//
// After an interruption, or a change of the source, run the job again. Before the job has
// ended, queries by path or number can miss target nodes.
//
// # Errors
//
//   - [model.ErrNotFound]: the node spec.Under isn't in the target
//   - [model.ErrTaken]: two new documents have one _id, or a new document's _id is in
//     the target, but not below spec.Under, or is hidden by a [model.Scope]
//   - [ErrSegment]: a segment is invalid, or two nodes would have the same path
//   - [ErrDamaged]: repair the trees first
//   - [model.ErrLeased], [model.ErrStale]: another client changes a tree. Run the job
//     again.
//
// Cost: one command reads the source, and one the target, in batches. Each batch of
// changed nodes takes at most one read, two commands for the lease, and one to three
// writes. Under Scope.Delete, a batch with new nodes takes one or two more reads, and
// documents that were marked can take more writes. Last, the job checks the target. The tree's fields of all nodes are
// in memory.
func ConvertInto[D, K, E, L any](
	source *Tree[D, K], target *Tree[E, L], build func(D) (E, error), spec IntoSpec[L],
) model.Job {
	mustHave("ConvertInto", source != nil && target != nil)
	place := "ConvertInto of " + source.t.Collection + " to " + target.t.Collection
	if source.t.Collection == target.t.Collection {
		core.Fail("both trees are in the same collection", place, "use Convert")
	}
	if build == nil {
		core.Fail("build is nil", place, "give a function that makes the target's documents")
	}
	under, err := target.under(spec)
	job := convert.MakeJob(convert.MakeTreeOrigin(source.t, through(source.t.Decode, build, target.document),
		bson.RawValue{}), target.t, under, spec.Delete)
	job.Err = err
	return job
}

// under encodes the _id of spec.Under, if it has one.
func (t *Tree[D, K]) under(spec IntoSpec[K]) (id bson.RawValue, err error) {
	if spec.Under != nil {
		id, err = t.id(*spec.Under)
	}
	return id, err
}

// through decodes a document, calls make, and encodes the result.
func through[D, E any](
	decode func(bson.Raw, any) error, make func(D) (E, error), encode func(E) (bson.Raw, error),
) func(bson.Raw) (bson.Raw, error) {
	return func(raw bson.Raw) (bson.Raw, error) {
		var d D
		if err := decode(raw, &d); err != nil {
			return nil, err
		}
		e, err := make(d)
		if err != nil {
			return nil, err
		}
		return encode(e)
	}
}
