package paths

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/convert"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Convert returns the change that adds the fields of a second tree (target), such as the
// paths of [NewMaterializedPath], to the documents of a first tree (source). Both trees
// must have the same collection and [TreeSpec].
//
// Run Convert again after a crash, and after writes by the source. Then create the
// target's unique index, if any. After that, writers can use the target, and [Tree.Drop]
// can remove the source's fields.
//
// Cost: as a repair of the target: see [Tree].
func Convert[D, K any](source, target *Tree[D, K]) model.Change[any] {
	mustHave("Convert", source != nil && target != nil)
	return target.t.Converted(source.t)
}

// mustHave panics if a tree is nil.
func mustHave(place string, there bool) {
	if !there {
		core.Fail("a tree is nil", place, "give a result of NewParentTree, NewDocumentTree or another constructor")
	}
}

// IntoSpec says where nodes go in another tree: see [ConvertInto] and [Extract].
type IntoSpec[K any] struct {
	Under *K // the target's node above the source's roots; nil makes them roots of the target

	// Delete deletes target nodes that the source doesn't have: below Under, or in the
	// whole tree if Under is nil. Without Delete these nodes stay, after their siblings
	// from the source.
	Delete bool
}

// ConvertInto returns the job that copies a tree to another collection, also in another
// representation. Run it again to bring the target up to date. Target nodes that the
// source lacks stay, unless IntoSpec.Delete is set.
//
// The function build returns the target's document, with its _id, for a document of the
// source. It must be pure and return each _id once. The job fills in the target tree's
// fields. A target node that differs is replaced, and loses fields that others added.
// First create the target's indexes.
//
// JobOptions.BatchSize is the number of nodes per lease ([model.Lease]); 0 means 500.
//
// # Consistency
//
// An interrupted job leaves a part of the copy: run the job again. Before the job has
// ended, queries by path or number can miss target nodes.
//
// # Errors
//
//   - [model.ErrNotFound]: the target lacks the node IntoSpec.Under
//   - [model.ErrTaken]: build returned one _id twice, or the _id of a target node that
//     isn't below IntoSpec.Under
//   - [ErrSegment]: a path can't contain a segment, or two nodes would have one path
//   - [ErrDamaged]: a tree must be repaired first
//   - [model.ErrLeased], [model.ErrStale]: other clients write; run the job again
//   - any error that build returns
//
// Cost: one command, in batches, for the source and one for the target. Each batch of
// nodes that differ takes one command that reads, two for the lease, and one to three
// that write. The tree's fields of all nodes are in memory.
func ConvertInto[D, K, E, L any](source *Tree[D, K], target *Tree[E, L], build func(D) (E, error), spec IntoSpec[L]) model.Job {
	mustHave("ConvertInto", source != nil && target != nil)
	place := "ConvertInto of " + source.t.Collection + " to " + target.t.Collection
	if source.t.Collection == target.t.Collection {
		core.Fail("both trees are in the same collection", place, "use Convert")
	}
	if build == nil {
		core.Fail("build is nil", place, "give a function that makes the target's documents")
	}
	under, err := target.under(spec)
	return convert.Job(convert.OfTree(source.t, through(source.t.Decode, build, target.document), bson.RawValue{}), target.t, under, spec.Delete, err)
}

// under encodes the _id of spec.Under, if it has one.
func (t *Tree[D, K]) under(spec IntoSpec[K]) (id bson.RawValue, err error) {
	if spec.Under != nil {
		id, err = t.id(*spec.Under)
	}
	return id, err
}

// through decodes a document, calls make, and encodes the result.
func through[D, E any](decode func(bson.Raw, any) error, make func(D) (E, error), encode func(E) (bson.Raw, error)) func(bson.Raw) (bson.Raw, error) {
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
