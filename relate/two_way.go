package relate

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// TwoWay is a one-to-many relation that both sides store: an owner (a person) lists items
// (tasks), and an item names its owner.
//
// With bare ids (plain _ids), concurrent operations on one item can leave the link on one
// side only. Checks repairs this, and [model.Plan.RunTx] prevents it. With versioned
// links (fields of type [Link]) the item decides, and no race leaves a half-link.
//
// Source: "6 Rules of Thumb for MongoDB Schema Design", part 2.
//
// Indexes returns the indexes on the items' reference and on the owners' list.
//
// Checks returns, in this order:
//
//  1. With versioned links only: owners with a link whose operation stopped before it
//     wrote the item. The repair makes the item name this owner.
//  2. Owners that list a missing item, or an item that doesn't name them.
//  3. Items whose owner is missing or doesn't list them.
//
// Each check's [model.Check].Age is one minute.
//
// The repairs of 2 and 3 trust the items: they remove an item from the lists of other
// owners, and add it to the list of the owner that it names. With
// [TwoWaySpec].TrustLists, they give an item to the owner that lists it. If several
// owners list the item, the owner that it names keeps it, or else the first found. An
// item that no list contains loses its owner. Repairs always remove ids of missing
// documents, and ignore TwoWaySpec.Max.
//
// Cost: each check reads every document of its side that contains an id, and the server
// looks each id up by _id. Repairs write one document for each finding.
type TwoWay[O, OK, I, IK any] struct {
	model.Parts

	owners Side[O, OK, I, IK]
	items  Side[I, IK, O, OK]
	in     twosided.TwoWay
}

// TwoWaySpec contains the options of a [TwoWay].
type TwoWaySpec struct {
	Max int // bound of an owner's list; 0 means none

	// TrustLists makes the checks' repairs trust the owners' lists, not the items, where
	// a list and an item disagree. With versioned links (see [Link]), [NewTwoWay] panics
	// if it is set.
	TrustLists bool
}

// NewTwoWay declares that the owners' field at listPath and the items' field at
// refPath are two sides of one relation. Both contain plain _ids (bare ids), or both
// [Link]. An invalid path or spec panics with a [*model.DeclarationError].
func NewTwoWay[O, OK, I, IK any](owners *model.Collection[O, OK], listPath string, items *model.Collection[I, IK], refPath string, spec TwoWaySpec) *TwoWay[O, OK, I, IK] {
	l, r := owners.Docs().CheckArray(listPath), items.Docs().MustField(refPath)
	t := &TwoWay[O, OK, I, IK]{in: twosided.TwoWay{
		List: twosided.End{Docs: owners.Docs(), Path: listPath, Links: isLink[IK](l), Max: spec.Max}, Ref: twosided.End{Docs: items.Docs(), Path: refPath, Links: isLink[OK](r)},
		TrustLists: spec.TrustLists,
	}}
	t.in.Declare(r, *new(OK))
	t.owners, t.items = newSide(owners, items, t.in.Left()), newSide(items, owners, t.in.Right())
	t.Parts = model.NewParts(t.in.Indexes, t.in.Relations, t.in.Checks, t.in.Footprints)
	return t
}

// Left returns the owners' side, for queries by an owner.
func (t *TwoWay[O, OK, I, IK]) Left() Side[O, OK, I, IK] { return t.owners }

// Right returns the items' side, for queries by an item.
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
// its old owner's list. Pass the item as you read it. owner is the new owner's
// _id. For token, see [Link].
//
// Running it returns model.ErrStale, and leaves nothing, if another operation changed the
// item's owner since you read the item. It returns model.ErrNotFound if the new owner
// doesn't exist, and [model.ErrFull] if the new owner's list is full: see
// [TwoWaySpec].Max. Links of unfinished operations count too. After a crash, run the plan
// again, or read the item and call Assign again.
//
// If the item has this owner already, the plan only repairs. With bare ids, the plan adds
// the item to the owner's list if the list doesn't contain it. With versioned links, the
// plan removes links that a crashed operation left.
//
// Cost: two commands, two documents. If the item had another owner, three of each. With
// versioned links, one command if the item has this owner.
func (t *TwoWay[O, OK, I, IK]) Assign(item *I, owner OK, token bson.ObjectID) model.Plan {
	return t.in.Assign(t.held(item), owner, token)
}

// Unassign returns the plan that removes an item from its owner. Pass the item as you
// read it. For token, see [Link]. Running the plan returns
// model.ErrStale if another operation changed the item's owner since you read the item.
// After a crash, read the item and call Unassign again. If the item has no owner, the
// plan only removes links that a crashed operation left.
//
// Cost: two commands, two documents; one command for versioned links ([Link]) if the item
// has no owner any more.
func (t *TwoWay[O, OK, I, IK]) Unassign(item *I, token bson.ObjectID) model.Plan {
	return t.in.Unassign(t.held(item), token)
}
