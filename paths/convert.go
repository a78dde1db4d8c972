package paths

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/convert"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Convert returns the change that makes a tree also a tree of another representation of the same documents, with the same links:
// each document gets the fields of the other one, where it hasn't got them yet. The fields of the first stay, so that its readers
// and writers go on; what they change afterwards, Convert brings up to date when it is run again. Once all have gone over to the
// other representation, [Tree.Drop] takes the old fields away.
//
// Make the indexes of the other tree after the data: run Convert, then ensure the indexes of the model that has the other tree, and
// then let writers use it. A model has one tree of a collection: [model.New] refuses two. Documents that don't have its fields yet are equal in a unique index, that of a materialized path or a nested set: made
// before, it fails with a duplicate key, and it refuses what the first tree's writers insert. Other indexes can be made at any time.
// While both trees are written, go without the unique index; Convert and [Tree.Checks] need none.
//
// Both must be declared over one collection with equal [TreeSpec]s, else it is refused.
//
// A cut leaves some documents with the other's fields and some without; the first tree is whole all the while. Run it again.
//
// Cost and consistency: those of mending the other tree: see [Tree.Checks].
func Convert[D, K any](from, to *Tree[D, K]) model.Change[any] {
	mustHave("Convert", from != nil && to != nil)
	return to.t.Converted(from.t)
}

// mustHave panics for a tree that isn't there.
func mustHave(place string, there bool) {
	if !there {
		core.Fail("a tree is nil", place, "give what NewParentTree, NewDocumentTree or another constructor returned")
	}
}

// IntoSpec says how a tree is brought into the collection of another: see [ConvertInto] and [Extract].
type IntoSpec[K any] struct {
	Under *K // the node of the target below which the roots go; nil means that they become roots

	// Delete has the nodes of the target deleted that the source doesn't have: below Under, or all. Without it they stay, after the
	// siblings that the source has.
	Delete bool
}

// ConvertInto returns the job that brings a tree into another collection: into any representation, and any type of documents.
// Run it again to bring the target up to date. make gives the target's document for a document of the source, with its _id. The job
// fills in the fields of the tree. make must be pure, and give each _id once.
//
//	moved := paths.ConvertInto(oldTree, newTree, func(c oldCategory) (category, error) {
//		return category{ID: c.Slug, Name: c.Title}, nil
//	}, paths.IntoSpec[string]{})
//
// It panics with a [*model.DeclarationError] for trees of one collection, which [Convert] is for, and when make is nil.
//
// Make the indexes of the target before the data, by the Indexes of a model.New: the job finds nodes by them, and keeps to the unique
// indexes with each batch.
//
// The job stores the nodes that are missing, and writes the nodes that differ. A document that says what make gives, beside the fields
// of the tree, isn't written. Siblings have the source's order, and its keys. A document that differs becomes what make gives: fields
// that others have added to it in the target go. Both trees stay in use meanwhile.
//
// The job reads the source once wholly, and once more, in batches, the nodes that it stores. It reads the target once, and checks it
// after the writes. It stores missing nodes in preorder, then writes those that differ, a batch under the target's lease at a
// time, so that a node's parent is there before it. Where a unique index is in the way, a node first gives up its path or its
// numbers, and gets the new ones with its batch: readers of the target miss it by them meanwhile. Deletions come last, or first where
// a node to be deleted is in the way.
//
// All of this is one part of the job's work: a run that was cut begins anew, from any cut, and changes nothing that is done. What
// writers of the source change meanwhile the next run brings over. When nodes vanish during a run, or somebody writes the target, the
// run begins anew, up to 8 times in all, then it returns [model.ErrStale]. When it returns nil, the target was a whole tree.
//
// Progress.Documents are the nodes of the source, Writes the nodes of the target to be stored, written or deleted, and Modified those
// that were. A dry run reads both trees, and writes nothing. JobOptions.BatchSize is how many nodes are written under one lease; 0
// means 500.
//
// Errors are [model.ErrNotFound] when Under isn't there; [model.ErrTaken] when two nodes get one _id, or a node's _id is in the target
// elsewhere than below Under; [ErrSegment] when a node can't have its path, or two would have one; [ErrDamaged] for a tree that has
// to be repaired first; errors of make; and [model.ErrLeased]. An attempt that ends with one of these has written nothing, except
// with [model.ErrLeased], which can come between batches.
//
// Cost: one command, in batches, that reads all of the source, and one that reads all of the target. For each batch of nodes that
// differ, one that reads those whose content does, two for the lease, and one to three that write; in the end those of
// [Tree.Checks] of the target. Some 2 KB of memory for each node; documents are held a batch at a time.
func ConvertInto[D, K, E, L any](from *Tree[D, K], to *Tree[E, L], make func(D) (E, error), spec IntoSpec[L]) model.Job {
	mustHave("ConvertInto", from != nil && to != nil)
	place := "ConvertInto of " + from.t.Collection + " to " + to.t.Collection
	if from.t.Collection == to.t.Collection {
		core.Fail("both trees are in one collection", place, "use Convert")
	}
	if make == nil {
		core.Fail("make is nil", place, "give a function that makes the target's documents")
	}
	under, err := to.under(spec)
	return convert.Job(convert.OfTree(from.t, through(from.t.Decode, make, to.document), bson.RawValue{}), to.t, under, spec.Delete, err)
}

// under is the node of a target below which nodes go.
func (t *Tree[D, K]) under(spec IntoSpec[K]) (id bson.RawValue, err error) {
	if spec.Under != nil {
		id, err = t.id(*spec.Under)
	}
	return id, err
}

// through makes a document of another: decoded, made into something else, and encoded.
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
