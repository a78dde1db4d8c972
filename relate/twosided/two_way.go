package twosided

import (
	"github.com/docmodel/docmodel/model"
)

// TwoWay is a one-to-many relation that both sides store. An owner, such as a person,
// lists the _ids of items, such as tasks. Each item stores the _id of its owner.
//
// Write either side by its [model.Store]: the store writes the other side. Other writes can
// leave a half-link, which only one side stores. The checks find half-links.
//
// Source: "6 Rules of Thumb for MongoDB Schema Design", part 2.
//
// # Indexes and checks
//
// Indexes returns indexes on the items' reference and on the owners' list.
//
// Checks returns these checks:
//
//  1. Listed items that are missing or don't name the owner.
//  2. Items whose owner is missing or doesn't list the item.
//
// The repairs change the lists to match the items. With [TwoWaySpec].TrustLists, they
// change the items. A reference to a missing owner is removed. An unfinished action of a
// [model.Store] isn't a finding.
//
// Cost: check 1 reads every owner. Check 2 reads every item with an owner.
type TwoWay[O, OK, I, IK any] struct {
	model.Parts

	Left  Side[O, OK, I, IK] // finds the items of an owner
	Right Side[I, IK, O, OK] // finds the owner of an item

	in untypedTwoWay
}

// TwoWaySpec contains the options of a [TwoWay].
type TwoWaySpec struct {
	Max int // most items in an owner's list; 0 means no limit. Repairs ignore Max

	// TrustLists makes the repairs change items to match the owners' lists. If several
	// owners list an item, one owner keeps the item, preferably the owner that the item
	// names.
	TrustLists bool
}

// NewTwoWay declares a one-to-many relation, stored in the owners' list at listPath and
// in the items' field at refPath. An invalid path or spec panics with a
// [*model.DeclarationError].
func NewTwoWay[O, OK, I, IK any](
	owners *model.Collection[O, OK], listPath string, items *model.Collection[I, IK], refPath string, spec TwoWaySpec,
) *TwoWay[O, OK, I, IK] {
	owners.Docs().CheckArray(listPath)
	ref := items.Docs().MustField(refPath)
	t := &TwoWay[O, OK, I, IK]{in: untypedTwoWay{
		List:       endOfRelation{Docs: owners.Docs(), Path: listPath, Max: spec.Max},
		Ref:        endOfRelation{Docs: items.Docs(), Path: refPath},
		TrustLists: spec.TrustLists,
	}}
	t.in.declare(ref, *new(OK))
	t.Left, t.Right = newSide(owners, items, t.in.ownersSide()), newSide(items, owners, t.in.itemsSide())
	t.Parts = model.NewParts(t.in.listIndexes, t.in.listRelations, t.in.listChecks, t.in.listFootprints).
		WithDocs(owners.Docs(), items.Docs()).WithReactions(t.in.makeReactions)
	return t
}
