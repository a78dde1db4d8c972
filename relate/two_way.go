package relate

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// TwoWay is a one-to-many relation that both sides store: a person lists tasks, and a task names its owner. Make it with
// [NewTwoWay].
//
// With bare ids, two operations on one item that interleave can leave one side without the other, in any order of
// writes. [TwoWay.Checks] finds and mends the difference. In a transaction ([model.Plan.RunTx]) the sides don't differ.
//
// With versioned links (fields of type [Link]) the item decides, and no interleaving leaves a half-link: see [Link].
//
// Source: two-way referencing, "6 Rules of Thumb for MongoDB Schema Design", part 2 (seed 004).
//
// Indexes returns the index on the items' reference, and the index on the owners' list.
//
// Checks returns the checks of the relation. The first examines the owners' lists: a listed item names another owner, or
// no owner, or is gone. The last examines the items: the owner that an item names doesn't list it, or is gone.
//
// Mending believes the items: it removes an item from a list of another owner, and adds it to
// the list of the owner that it names. With TrustLists of [TwoWaySpec] it gives an item to the owner
// that lists it, and unsets the owner of an item that no list holds. Of several owners that list an
// item, the one that it names keeps it, else the first found. IDs of documents that are gone are removed in any case.
// Bounds are not enforced.
//
// Versioned links trust the item. A check before these two finds the links of operations that have
// not decided yet, and mending decides for them: the item names the list's owner. Of several such
// operations the first found wins, and the next check removes the links of the others. Mending
// undoes no operation: an operation that is called again with an old token finds its own work done.
//
// Each write asks for what the check saw, as far as one document can show it. A plan that is under
// way looks like a finding: the Age is one minute. Links tell by their tokens since when a finding
// stands.
//
// Cost: each check reads every document of its side that holds an id, and the server looks each id
// up by _id; of bare ids that an item doesn't name, also the owner that it names. Mending
// sends one command for each run of findings of one kind, and writes one document for each.
type TwoWay[O, OK, I, IK any] struct {
	model.Parts

	owners Side[O, OK, I, IK]
	items  Side[I, IK, O, OK]
	in     twosided.TwoWay
}

// TwoWaySpec says what a [TwoWay] needs beside its paths. The zero value is valid.
type TwoWaySpec struct {
	Max int // how many items an owner lists at most; 0 means no bound

	// TrustLists lets [TwoWay.Checks] believe the owners' lists; by default they believe the items. It is refused for versioned
	// links, because the item decides.
	TrustLists bool
}

// NewTwoWay declares that the list of the owners' documents and the reference of the items' documents are two sides of one
// relation: ids of each other, or both of type [Link]. It panics with a [*model.DeclarationError] when a path doesn't
// exist or holds another type, when the list isn't an array or the reference crosses one, or when only one side is
// versioned.
func NewTwoWay[O, OK, I, IK any](owners *model.Collection[O, OK], list string, items *model.Collection[I, IK], ref string, spec TwoWaySpec) *TwoWay[O, OK, I, IK] {
	l, r := owners.Docs().CheckArray(list), items.Docs().MustField(ref)
	t := &TwoWay[O, OK, I, IK]{in: twosided.TwoWay{
		List: twosided.End{Docs: owners.Docs(), Path: list, Links: isLink[IK](l), Max: spec.Max}, Ref: twosided.End{Docs: items.Docs(), Path: ref, Links: isLink[OK](r)},
		TrustLists: spec.TrustLists,
	}}
	t.in.Declare(r, *new(OK))
	t.owners, t.items = newSide(owners, items, t.in.Left()), newSide(items, owners, t.in.Right())
	t.Parts = model.NewParts(t.in.Indexes, t.in.Relations, t.in.Checks, t.in.Footprints)
	return t
}

// Left returns the owners' side: the owners list items.
func (t *TwoWay[O, OK, I, IK]) Left() Side[O, OK, I, IK] { return t.owners }

// Right returns the items' side: each item names at most one owner.
func (t *TwoWay[O, OK, I, IK]) Right() Side[I, IK, O, OK] { return t.items }

// held is what an item in hand says of its owner, not encoded yet.
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

// Assign returns the plan that gives an item, as it was read, to an owner, and takes it from the owner that it names.
// Running it gives model.ErrStale, and leaves nothing, when another operation changed the item's owner since, model.ErrNotFound when the new owner doesn't
// exist, [model.ErrFull] when the owner's list is full. op is the operation's token, as [Link] says.
//
// If the item has this owner already, versioned links remove older links to the item from every list, which finishes
// what a dead process began. Bare ids are written again.
//
// Cost: two commands, two documents; three and three when the item had another owner; one command for versioned links
// when the item has this one. After a cut, run the plan again, or read the item anew and call Assign again. Links in
// flight count towards Max.
func (t *TwoWay[O, OK, I, IK]) Assign(item *I, to OK, op bson.ObjectID) model.Plan {
	return t.in.Assign(t.held(item), to, op)
}

// Unassign returns the plan that takes an item, as it was read, from its owner. When another operation changed the item's
// owner since, running it gives model.ErrStale and leaves nothing. op is the operation's token, as [Link] says.
//
// If the item has no owner, versioned links remove older links to the item from every list, which finishes what a dead
// process began. For bare ids, and for an item that never had an owner, the plan does nothing.
//
// Cost: two commands, two documents; one command for versioned links when the item has no owner any more. After a cut,
// run the plan again, or read the item anew and call Unassign again.
func (t *TwoWay[O, OK, I, IK]) Unassign(item *I, op bson.ObjectID) model.Plan {
	return t.in.Unassign(t.held(item), op)
}
