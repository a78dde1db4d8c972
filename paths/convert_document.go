package paths

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/convert"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Extract returns the job that copies the nodes of a [DocumentTree], in the document
// owner, to documents of a [Tree]. The function build returns the document, with its _id,
// for a node. It must be pure and return each _id once.
//
// To store the lists of several owners in one tree, first insert a node for each owner
// into the tree. Then run a job for each owner, with this node's _id as IntoSpec.Under.
// No _id may come from two of these jobs.
//
// Siblings keep their order. Run the job again until all clients use the new tree.
//
// Panics, errors and cost are those of [ConvertInto]. A missing owner also gives
// [model.ErrNotFound]. Each batch that stores nodes or replaces their content reads the
// owner again.
func Extract[E, N, O, D, K any](source *DocumentTree[E, N, O], owner O, target *Tree[D, K], build func(E) (D, error), spec IntoSpec[K]) model.Job {
	mustHave("Extract", source != nil && target != nil)
	place := "Extract of " + source.t.Owners + "." + source.t.Path + " to " + target.t.Collection
	if build == nil {
		core.Fail("build is nil", place, "give a function that makes the documents")
	}
	under, err := target.under(spec)
	id, errOwner := source.owner(owner)
	if errOwner != nil {
		err = errOwner
	}
	return convert.Job(convert.OfList(source.t, id, through(source.t.Decode, build, target.document)), target.t, under, spec.Delete, err)
}

// AbsorbSpec says which part of a tree goes into a document: see [Absorb].
type AbsorbSpec[K any] struct {
	Top    *K   // the node that becomes the only root; nil means the whole tree
	Delete bool // delete the document's nodes that the source doesn't have
}

// Absorb returns the change that copies a tree of documents, or the subtree of spec.Top,
// to the [DocumentTree] of one owner. One write replaces the owner's list. The function
// build returns the node, with its id, for a document. The change fills in the fields of
// the tree.
//
// Run Absorb again to bring the list up to date. An equal list isn't written.
//
// Errors are:
//
//   - [*model.ValueError]: the list has nodes that the source doesn't have, and
//     spec.Delete is false.
//   - [model.ErrNotFound]: Top or the owner is missing.
//   - [model.ErrTaken]: two nodes have one id.
//   - [model.ErrFull]: Max, MaxBytes or the depth of a nested list is exceeded.
//   - [ErrDamaged]: the tree or the list must be repaired first.
//   - Errors of build.
//
// Cost: one command, in batches, reads the documents, and one more reads Top. One command
// reads the owner and one writes it, by _id. The nodes are held in memory, up to
// MaxBytes.
func Absorb[D, K, E, N, O any](
	source *Tree[D, K], target *DocumentTree[E, N, O], owner O, build func(D) (E, error), spec AbsorbSpec[K],
) model.Change[any] {
	mustHave("Absorb", source != nil && target != nil)
	var top bson.RawValue
	var err error
	if spec.Top != nil {
		top, err = source.id(*spec.Top)
	}
	return target.absorbing(owner, convert.OfTree(source.t, through(source.t.Decode, build, target.newNode), top), spec.Delete, build == nil, err)
}

// ConvertDocument returns the change that copies the [DocumentTree] of one owner to
// another owner or another list. source and sourceOwner are the source's declaration
// and its owner's _id. target and targetOwner are those of the target, which can
// have another form (flat or nested). The function build returns the target's node, with
// its id, for a node of the source. spec.Top must be nil. Errors are those of [Absorb].
//
// Cost: two commands read the owners, and one writes the target's, by _id.
func ConvertDocument[E, N, O, F, M, P any](
	source *DocumentTree[E, N, O], sourceOwner O, target *DocumentTree[F, M, P], targetOwner P, build func(E) (F, error), spec AbsorbSpec[N],
) model.Change[any] {
	mustHave("ConvertDocument", source != nil && target != nil)
	id, err := source.owner(sourceOwner)
	if spec.Top != nil && err == nil {
		err = source.t.Refuse("Top", nil, "can be used only if the source is a tree of documents")
	}
	return target.absorbing(targetOwner, convert.OfList(source.t, id, through(source.t.Decode, build, target.newNode)), spec.Delete, build == nil, err)
}

// absorbing is the change that copies the nodes of an origin to an owner.
func (t *DocumentTree[E, N, K]) absorbing(owner K, o convert.Origin, remove, none bool, err error) model.Change[any] {
	id, errOwner := t.owner(owner)
	switch {
	case none:
		err = t.t.Refuse("build", nil, "is nil")
	case err == nil:
		err = errOwner
	}
	return convert.Absorb(t.t, id, o, remove, err)
}
