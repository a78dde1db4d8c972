package paths

import (
	"cmp"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/convert"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Extract returns the job that copies the nodes of a [DocumentTree] to a [Tree]. The
// parameter owner is the _id of the document that contains the nodes. The pure function
// build returns the target document, with its _id, for a node.
//
// If several owners share the target, insert one target node for each owner, and set
// IntoSpec.Under to this node's _id. Nodes of different owners need different _ids.
//
// A missing owner gives [model.ErrNotFound]. For later runs, other errors and the cost,
// see [ConvertInto].
func Extract[E, N, O, D, K any](
	source *DocumentTree[E, N, O], owner O, target *Tree[D, K], build func(E) (D, error), spec IntoSpec[K],
) model.Job {
	mustHave("Extract", source != nil && target != nil)
	place := "Extract of " + source.t.Owners + "." + source.t.Path + " to " + target.t.Collection
	if build == nil {
		core.Fail("build is nil", place, "give a function that makes the documents")
	}
	under, errUnder := target.under(spec)
	id, err := source.owner(owner)
	job := convert.MakeJob(convert.MakeListOrigin(source.t, id, through(source.t.Decode, build, target.document)),
		target.t, under, spec.Delete)
	job.Err = cmp.Or(err, errUnder)
	return job
}

// AbsorbSpec says which part of a tree goes into a document: see [Absorb].
type AbsorbSpec[K any] struct {
	Top *K // the node that becomes the only root; nil means the whole tree

	// Delete deletes the document's nodes that aren't in the absorbed part. Without
	// Delete, such nodes give a [*model.ValueError].
	Delete bool
}

// Absorb returns the change that copies a [Tree] into one document (the owner) of a
// [DocumentTree]. To update the copy, run Absorb again.
//
// The function build turns a Tree's document into a node with an id.
//
// Errors, besides build's errors, are:
//
//   - [*model.ValueError]: see [AbsorbSpec].Delete.
//   - [model.ErrNotFound]: the owner or the node [AbsorbSpec].Top is missing.
//   - [model.ErrTaken]: two nodes have the same id.
//   - [model.ErrFull]: the copy would be too large or too deep.
//   - [ErrDamaged]: first repair the Tree or the owner.
//
// Cost: one command reads the Tree, in batches. Two commands read and write the owner, by
// _id. With [AbsorbSpec].Top, one more command. All nodes are in memory.
func Absorb[D, K, E, N, O any](
	source *Tree[D, K], target *DocumentTree[E, N, O], owner O, build func(D) (E, error), spec AbsorbSpec[K],
) model.Change {
	mustHave("Absorb", source != nil && target != nil)
	if build == nil {
		return target.t.RefuseChange(target.t.Refuse("build", nil, "is nil"))
	}
	var top bson.RawValue
	if spec.Top != nil {
		var err error
		if top, err = source.id(*spec.Top); err != nil {
			return target.t.RefuseChange(err)
		}
	}
	return target.absorbing(
		owner, convert.MakeTreeOrigin(source.t, through(source.t.Decode, build, target.newNode), top), spec.Delete)
}

// ConvertDocument returns the change that copies the nodes of sourceOwner to targetOwner.
// Each [DocumentTree] can be flat or nested. The function build turns a source node into
// a target node, and sets its id. spec.Top must be nil. Errors are those of [Absorb].
//
// Cost: two commands read the owners, and one writes the target owner, by _id.
func ConvertDocument[E, N, O, F, M, P any](
	source *DocumentTree[E, N, O], sourceOwner O, target *DocumentTree[F, M, P], targetOwner P, build func(E) (F, error), spec AbsorbSpec[N],
) model.Change {
	mustHave("ConvertDocument", source != nil && target != nil)
	if build == nil {
		return target.t.RefuseChange(target.t.Refuse("build", nil, "is nil"))
	}
	id, err := source.owner(sourceOwner)
	if spec.Top != nil && err == nil {
		err = source.t.Refuse("Top", nil, "can be used only if the source is a tree of documents")
	}
	if err != nil {
		return target.t.RefuseChange(err)
	}
	return target.absorbing(
		targetOwner, convert.MakeListOrigin(source.t, id, through(source.t.Decode, build, target.newNode)), spec.Delete)
}

// absorbing is the change that copies the nodes of an origin to an owner.
func (t *DocumentTree[E, N, K]) absorbing(owner K, o convert.Origin, remove bool) model.Change {
	id, err := t.owner(owner)
	if err != nil {
		return t.t.RefuseChange(err)
	}
	return convert.AbsorbOrigin(t.t, id, o, remove)
}
