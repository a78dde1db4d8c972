package paths

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/convert"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Extract returns the job that stores the nodes of one owner's [DocumentTree] as documents of a collection, in a tree of any
// representation: for a tree that comes to outgrow its document. make gives the document for a node, with its _id. The job fills in
// the fields of the tree. make must be pure, and give each _id once, over all owners that go into one collection: give each owner a
// node, and name it as Under.
//
// Siblings have the order of the source: by its keys, or, where it has none, by keys that keep those that are stored already. The
// owner's list stays as it is. Run the job again until all have gone over; [Absorb] is the way back.
//
// It panics, and its errors are, as [ConvertInto] says, and [model.ErrNotFound] for an owner that isn't there. So is its cost, but the
// source is one document, which is read at once, and again for each batch that stores content.
func Extract[E, N, O, D, K any](from *DocumentTree[E, N, O], owner O, to *Tree[D, K], make func(E) (D, error), spec IntoSpec[K]) model.Job {
	mustHave("Extract", from != nil && to != nil)
	place := "Extract of " + from.t.Owners + "." + from.t.Path + " to " + to.t.Collection
	if make == nil {
		core.Fail("make is nil", place, "give a function that makes the documents")
	}
	under, err := to.under(spec)
	id, errOwner := from.owner(owner)
	if errOwner != nil {
		err = errOwner
	}
	return convert.Job(convert.OfList(from.t, id, through(from.t.Decode, make, to.document)), to.t, under, spec.Delete, err)
}

// AbsorbSpec says what of a tree goes into a document, and what of the document goes: see [Absorb].
type AbsorbSpec[K any] struct {
	Top    *K   // the node that becomes the only root, with all below it; nil means the whole tree, with all roots
	Delete bool // nodes of the document that the source doesn't have are deleted, not refused
}

// Absorb returns the change that makes a tree of documents, or a part of it, the [DocumentTree] of one owner, by one write: all of it
// is there at once, or nothing. make gives the node for a document, with its id; what ties it to others is filled in. The documents
// stay as they are; [Extract] is the way back.
//
// It can be run again, to bring over what has changed: a list that says the same, its siblings in the same order, is not written,
// wherever in the list the nodes stand. A node that differs becomes what make gives. Nodes that the source doesn't have are refused
// with a [*model.ValueError], unless the spec says Delete. The write names the list as it was read; when another writer was faster
// it is decided anew. What writers of the source change while it is read comes over, or not, a document at a time.
//
// Its errors are [model.ErrNotFound] for a top that isn't there; [model.ErrTaken] for two nodes of one id; [model.ErrFull] when
// there are more than the target's Max, or MaxBytes, or a nested list is too deep; [ErrDamaged] for a tree or a list that has to
// be repaired first; model.ErrNotFound for an owner that isn't there, and those of make.
//
// Cost: one command, in batches, that reads the documents, and one before for the top; one that reads the owner, and one that writes
// it, found by _id. The nodes are held in memory, up to MaxBytes of them.
func Absorb[D, K, E, N, O any](
	from *Tree[D, K], to *DocumentTree[E, N, O], owner O, make func(D) (E, error), spec AbsorbSpec[K],
) model.Change[any] {
	mustHave("Absorb", from != nil && to != nil)
	var top bson.RawValue
	var err error
	if spec.Top != nil {
		top, err = from.id(*spec.Top)
	}
	return to.absorbing(owner, convert.OfTree(from.t, through(from.t.Decode, make, to.newNode), top), spec.Delete, make == nil, err)
}

// ConvertDocument returns the change that makes the [DocumentTree] of one owner that of another owner, or of another list, in any
// form: flat, with order keys, nested. Of an AbsorbSpec it takes Delete. All else is as [Absorb] says.
//
// Cost: one command that reads the source's owner, one that reads the target's, and one that writes it, by _id.
func ConvertDocument[E, N, O, F, M, P any](
	from *DocumentTree[E, N, O], of O, to *DocumentTree[F, M, P], owner P, make func(E) (F, error), spec AbsorbSpec[N],
) model.Change[any] {
	mustHave("ConvertDocument", from != nil && to != nil)
	id, err := from.owner(of)
	if spec.Top != nil && err == nil {
		err = from.t.Refuse("Top", nil, "is for trees of documents")
	}
	return to.absorbing(owner, convert.OfList(from.t, id, through(from.t.Decode, make, to.newNode)), spec.Delete, make == nil, err)
}

// absorbing is a change that takes the nodes of an origin into an owner.
func (t *DocumentTree[E, N, K]) absorbing(owner K, o convert.Origin, remove, none bool, err error) model.Change[any] {
	id, errOwner := t.owner(owner)
	switch {
	case none:
		err = t.t.Refuse("make", nil, "is nil")
	case err == nil:
		err = errOwner
	}
	return convert.Absorb(t.t, id, o, remove, err)
}
