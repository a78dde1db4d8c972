package relate

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// TwoWay is a one-to-many relation that both sides store. An owner, such as a person,
// lists items, such as tasks. Each item names the owner.
//
// A crash can leave a half-link, which only one side stores. If the fields store plain
// _ids, not [Link] values, concurrent operations on one item can also leave a half-link.
// [model.Plan.RunTx] prevents half-links. The repairs of Checks correct half-links.
//
// In a [model.Store] of plain _ids, write either side: the store writes the other side. For
// [Link] values, use [TwoWay.Assign] and [TwoWay.Unassign].
//
// Source: "6 Rules of Thumb for MongoDB Schema Design", part 2.
type TwoWay[O, OK, I, IK any] struct {
	model.Parts

	owners Side[O, OK, I, IK]
	items  Side[I, IK, O, OK]
	in     twosided.TwoWay
}

// TwoWaySpec contains the options of a [TwoWay].
type TwoWaySpec struct {
	Max int // most items in an owner's list; 0 means no limit. Repairs ignore Max

	// TrustLists makes the repairs change items to match the owners' lists. If several
	// owners list an item, one owner keeps the item, preferably the owner that the item
	// names. For fields of type [Link], TrustLists makes [NewTwoWay] panic.
	TrustLists bool
}

// NewTwoWay declares a one-to-many relation, stored in the owners' list at listPath and
// in the items' field at refPath. Both must store plain _ids, or both must store the type
// [Link]. An invalid path or spec panics with a [*model.DeclarationError].
func NewTwoWay[O, OK, I, IK any](owners *model.Collection[O, OK], listPath string, items *model.Collection[I, IK], refPath string, spec TwoWaySpec) *TwoWay[O, OK, I, IK] {
	l, r := owners.Docs().CheckArray(listPath), items.Docs().MustField(refPath)
	t := &TwoWay[O, OK, I, IK]{in: twosided.TwoWay{
		List: twosided.End{Docs: owners.Docs(), Path: listPath, Links: isLink[IK](l), Max: spec.Max}, Ref: twosided.End{Docs: items.Docs(), Path: refPath, Links: isLink[OK](r)},
		TrustLists: spec.TrustLists,
	}}
	t.in.Declare(r, *new(OK))
	t.owners, t.items = newSide(owners, items, t.in.Left()), newSide(items, owners, t.in.Right())
	t.Parts = reactingOr(model.NewParts(t.in.Indexes, t.in.Relations, t.in.Checks, t.in.Footprints).
		WithDocs(owners.Docs(), items.Docs()), t.in.Reactions(), "TwoWay.Assign and TwoWay.Unassign")
	return t
}

// Indexes returns indexes on the items' reference and on the owners' list.
func (t *TwoWay[O, OK, I, IK]) Indexes() []model.Index { return t.Parts.Indexes() }

// Checks returns these checks:
//
//  1. Unfinished operations on [Link] fields. The repair finishes the operation.
//  2. Listed items that are missing or don't name the owner.
//  3. Items whose owner is missing or doesn't list the item.
//
// Repairs 2 and 3 change the lists to match the items. With [TwoWaySpec].TrustLists, they
// change the items. A reference to a missing owner is removed.
//
// Cost: checks 1 and 2 read every owner. Check 3 reads every item with an owner.
func (t *TwoWay[O, OK, I, IK]) Checks() []model.Check { return t.Parts.Checks() }

// Left returns the owners' side, to find an owner's items.
func (t *TwoWay[O, OK, I, IK]) Left() Side[O, OK, I, IK] { return t.owners }

// Right returns the items' side, to find an item's owner.
func (t *TwoWay[O, OK, I, IK]) Right() Side[I, IK, O, OK] { return t.items }

// held returns what an item in memory says about its owner, not encoded yet.
func (t *TwoWay[O, OK, I, IK]) held(item *I) (h twosided.HeldItem) {
	if h.ID, h.Err = t.in.Ref.Docs.ID(item); h.Err != nil {
		return h
	}
	if t.items.links != nil {
		l, _ := t.items.links.First(item)
		h.Owner, h.V, h.Op, h.Had = l.ID, l.V, l.Op, l.Holds()
		return h
	}
	owner, ok := t.items.bare.First(item)
	h.Owner, h.Had = owner, ok && t.items.in.IDs.Docs.CheckID(t.in.Ref.Path, owner) == nil
	return h
}

// Assign returns the plan that gives an item to a new owner, and removes the item from
// the old owner's list. Pass the item as you read it. For token, see [Link]. After a
// crash, run the plan again. Errors:
//
//   - model.ErrStale: the item's owner has changed since the read
//   - model.ErrNotFound: the new owner is missing
//   - [model.ErrFull]: the new owner's list is full
//
// Cost: two commands, two documents. With an old owner, three commands, three documents.
func (t *TwoWay[O, OK, I, IK]) Assign(item *I, owner OK, token bson.ObjectID) model.Plan {
	return t.in.Assign(t.held(item), owner, token)
}

// Unassign returns the plan that removes an item from its owner. Pass the item as you
// read it. For token, see [Link]. If the item's owner id has changed since, the plan
// gives model.ErrStale. After a crash, read the item and call Unassign again.
//
// Cost: two commands, two documents.
func (t *TwoWay[O, OK, I, IK]) Unassign(item *I, token bson.ObjectID) model.Plan {
	return t.in.Unassign(t.held(item), token)
}
