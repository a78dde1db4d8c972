package paths

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Extract declares that the nodes of one owner's [DocumentTree] are to be had as documents of a collection, in a tree of any
// representation: for a tree that comes to outgrow its document. make gives the document for a node, with its _id; what ties it to
// the tree is filled in. make must be pure, and give no _id twice, over all owners that go into one collection: give each owner a
// node, and name it as Under.
//
// Siblings have the order of the source: by its keys, or, where these are none, by such as keep those that are stored already. The
// owner's list stays as it is. [Conversion.Run] can be run again until all have gone over; [Absorb] is the way back.
//
// It panics as [ConvertInto]. The errors of Run are those said there, and model.ErrNotFound for an owner that isn't there. Cost: as
// said there, where the source is one document, which is read at once, and again for each batch that stores content.
func Extract[E, N, O, D, K any](from *DocumentTree[E, N, O], owner O, to *Tree[D, K], make func(E) (D, error), spec IntoSpec[K]) *Conversion {
	mustDocumentTree("Extract", from)
	mustTree("Extract", to)
	place := "Extract of " + from.t.owners + "." + from.t.path + " to " + to.t.docs
	if make == nil {
		panic(&model.DeclarationError{Problem: "make is nil", Place: place, Remedy: "give a function that makes the documents"})
	}
	c := conversionTo(to, spec, place)
	id, err := from.owner(owner)
	if err != nil {
		c.err = err
	}
	c.from = from.t.origin(id, func(raw bson.Raw) (bson.Raw, error) {
		var e E
		if err := from.decode(raw, &e); err != nil {
			return nil, err
		}
		d, err := make(e)
		if err != nil {
			return nil, err
		}
		return document(to.docs.Insert(d))
	})
	return &Conversion{c}
}

// AbsorbSpec says what of a tree goes into a document, and what of the document goes: see [Absorb].
type AbsorbSpec[K any] struct {
	Top    *K   // the node that becomes the only root, with all below it; nil means the whole tree, with all roots
	Delete bool // nodes of the document that the source doesn't have are deleted, not refused
}

// AbsorbState is what a change of [Absorb] is decided from.
type AbsorbState struct {
	Owner DocumentState
	Nodes []Absorbed // in preorder
}

// Absorbed is a node as it goes into a document.
type Absorbed struct {
	Node   bson.Raw      // without what ties it to others
	Parent bson.RawValue // the id of its parent in the document; null for a root
	Order  string        // the source's order key; "" for none
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
// Its errors are [ErrNoNode] for a top that isn't there; [ErrExists] for two nodes of one id; [ErrFull] when there are more than the
// target's Max, or MaxBytes, or a nested list is too deep; [ErrDamaged] for a tree or a list that has to be repaired first;
// model.ErrNotFound for an owner that isn't there, and those of make.
//
// Cost: one command, in batches, that reads the documents, and one before for the top; one that reads the owner, and one that writes
// it, found by _id. The nodes are held in memory, up to MaxBytes of them.
func Absorb[D, K, E, N, O any](
	from *Tree[D, K], to *DocumentTree[E, N, O], owner O, make func(D) (E, error), spec AbsorbSpec[K],
) model.Change[AbsorbState] {
	mustTree("Absorb", from)
	mustDocumentTree("Absorb", to)
	var top bson.RawValue
	var err error
	if spec.Top != nil {
		top, err = from.id(*spec.Top)
	}
	o := from.t.origin(func(raw bson.Raw) (bson.Raw, error) {
		var d D
		if err := from.docs.Decode(raw, &d); err != nil {
			return nil, err
		}
		e, err := make(d)
		if err != nil {
			return nil, err
		}
		return to.t.newNode(e)
	}, top)
	return to.absorbing(owner, o, spec.Delete, make == nil, err)
}

// ConvertDocument returns the change that makes the [DocumentTree] of one owner that of another owner, or of another list, in any
// form: flat, with order keys, nested. Of an AbsorbSpec it takes Delete. All else is as [Absorb] says.
//
// Cost: one command that reads the source's owner, one that reads the target's, and one that writes it, by _id.
func ConvertDocument[E, N, O, F, M, P any](
	from *DocumentTree[E, N, O], of O, to *DocumentTree[F, M, P], owner P, make func(E) (F, error), spec AbsorbSpec[N],
) model.Change[AbsorbState] {
	mustDocumentTree("ConvertDocument", from)
	mustDocumentTree("ConvertDocument", to)
	id, err := from.owner(of)
	if spec.Top != nil && err == nil {
		err = from.t.refused("Top", nil, "is for trees of documents")
	}
	o := from.t.origin(id, func(raw bson.Raw) (bson.Raw, error) {
		var e E
		if err := from.decode(raw, &e); err != nil {
			return nil, err
		}
		f, err := make(e)
		if err != nil {
			return nil, err
		}
		return to.t.newNode(f)
	})
	return to.absorbing(owner, o, spec.Delete, make == nil, err)
}

// absorbing is a change that takes the nodes of an origin into an owner.
func (t *DocumentTree[E, N, K]) absorbing(owner K, o origin, remove, none bool, err error) model.Change[AbsorbState] {
	id, errOwner := t.owner(owner)
	switch {
	case none:
		err = t.t.refused("make", nil, "is nil")
	case err == nil:
		err = errOwner
	}
	return t.t.absorbing(id, o, remove, err)
}

func (t *documentTree) absorbing(owner bson.RawValue, o origin, remove bool, err error) model.Change[AbsorbState] {
	like := t.change(owner, err, nil)
	return model.Change[AbsorbState]{
		Read: func(ctx context.Context, db *mongo.Database) (s AbsorbState, err error) {
			if s.Owner, err = t.state(ctx, db, owner); err == nil {
				s.Nodes, err = t.absorbed(ctx, db, o)
			}
			return s, err
		},
		Decide: func(s AbsorbState) (model.Plan, error) { return t.absorb(owner, s, remove) },
		Err:    like.Err, Attempts: like.Attempts, MaxPause: like.MaxPause,
	}
}
