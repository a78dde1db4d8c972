package relate

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// TwoWay is a one-to-many relation that both sides store: a person lists tasks, and a task names its owner. Make it with
// [NewTwoWay].
//
// With bare ids, no order of the two writes is safe: two operations on one item that interleave can leave one side without
// the other. [TwoWay.Checks] finds and mends the difference; it believes the item's side, unless [TwoWaySpec] says
// otherwise. In a transaction ([model.Plan.RunTx]) the sides don't differ.
//
// With versioned links (fields of type [Link]) an operation first lists the item with its
// new owner and then compares and sets the item, which decides. When the operation returns
// nil, both sides agree, also when it is called again after a crash and other operations
// came in between. A process that dies half way leaves a half-link. A second call with
// the same token finishes the operation. So do the checks, unless another operation has
// changed the item since: then they take the link of the dead operation off the list.
//
// Source: two-way referencing, "6 Rules of Thumb for MongoDB Schema Design", part 2 (seed 004).
type TwoWay[O, OK, I, IK any] struct {
	owners *model.Collection[O, OK]
	items  *model.Collection[I, IK]
	in     twoWay

	bareRef  *model.Reader[I, OK]
	bareList *model.Reader[O, IK]
	links    *model.Reader[I, Link[OK]]
	listed   *model.Reader[O, Link[IK]]
}

// TwoWaySpec says what a [TwoWay] needs beside its paths. The zero value is valid.
type TwoWaySpec struct {
	Max int // how many items an owner lists at most; 0 means no bound

	// Trust is the side that [TwoWay.Checks] believes: TrustRefs, the default, believes the items, TrustLists the owners'
	// lists. Versioned links need TrustRefs, because the item decides.
	Trust Side
}

// NewTwoWay declares that the list of the owners' documents and the reference of the items' documents are two sides of one
// relation: ids of each other, or both of type [Link]. It panics with a [*model.DeclarationError] when a path doesn't
// exist, is no array (the list) or crosses one (the reference), holds another type, or when one side is versioned and the
// other isn't. At most one spec may be given.
func NewTwoWay[O, OK, I, IK any](owners *model.Collection[O, OK], list string, items *model.Collection[I, IK], ref string, spec ...TwoWaySpec) *TwoWay[O, OK, I, IK] {
	t := &TwoWay[O, OK, I, IK]{owners: owners, items: items, in: twoWay{owners: owners.Name(), items: items.Name(), list: list, ref: ref}}
	l, r := model.CheckArray(owners, list), model.MustField(items, ref)
	t.in.declareForm(r, isLink[IK](l), isLink[OK](r))
	if t.in.versioned {
		t.links, t.listed = model.NewReader[Link[OK]](items, ref), model.NewReader[Link[IK]](owners, list)
	} else {
		t.bareRef, t.bareList = model.NewReader[OK](items, ref), model.NewReader[IK](owners, list)
	}
	t.in.declareSpec(spec)
	var zero OK
	v, err := owners.Encode(zero)
	t.in.declareNone(v, err, owners.CheckID(ref, zero))
	return t
}

// Owner returns the owner that an item names, and whether it names one.
func (t *TwoWay[O, OK, I, IK]) Owner(item *I) (OK, bool) {
	id, l := t.named(item)
	return id, l.had
}

// named is the owner that an item names, and the link to it, in which the id isn't encoded yet.
func (t *TwoWay[O, OK, I, IK]) named(item *I) (id OK, l heldLink) {
	switch {
	case item == nil:
	case t.in.versioned:
		held, _ := t.links.First(item)
		id, l = held.ID, heldLink{v: held.V, op: held.Op, had: held.Holds()}
	default:
		id, l.had = t.bareRef.First(item)
		l.had = l.had && t.owners.CheckID(t.in.ref, id) == nil
	}
	return id, l
}

// held is the link to the owner that an item names.
func (t *TwoWay[O, OK, I, IK]) held(item *I) (heldLink, error) {
	id, l := t.named(item)
	var err error
	if l.had {
		l.id, err = encodeID(t.owners, t.in.items, t.in.ref, id)
	}
	return l, err
}

// Assign returns the plan that gives an item, as it was read, to an owner, and takes it from the one that it names. When
// another operation changed the item's owner since, running it gives model.ErrStale and leaves nothing behind. An owner
// whose list is full gives a [*FullError].
//
// op is the operation's token for versioned links: a new ObjectID, the same when the plan is run again. For bare ids it is
// bson.NilObjectID.
//
// For an item that has this owner already, versioned links take older links to it off every list, which finishes what a
// dead process began; bare ids are written again.
//
// Cost: two commands, two documents; three and three when the item had another owner; one
// command for versioned links when it has this one. After a cut the plan can be run again.
// A process that reads the item anew can call Assign again instead. The new owner's list
// is written first, so that a list that is full, or an owner that doesn't exist
// (model.ErrStale), leaves nothing. Links in flight count towards a bound. Bare ids take
// the item off the old owner's list before the item changes. Versioned links write the
// item before the old owner's list.
func (t *TwoWay[O, OK, I, IK]) Assign(item *I, to OK, op bson.ObjectID) model.Plan {
	if err := checkOp(t.in.items, t.in.versioned, op); err != nil {
		return model.RefusedPlan(t.in.items, err)
	}
	id, err := t.id(item)
	var next any
	if err == nil {
		next, err = encodeID(t.owners, t.in.items, t.in.ref, to)
	}
	var was heldLink
	if err == nil {
		was, err = t.held(item)
	}
	return t.in.assign(id, next, was, op, err)
}

// id is the encoded _id of an item.
func (t *TwoWay[O, OK, I, IK]) id(item *I) (any, error) {
	k, err := t.items.ID(item)
	if err != nil {
		return nil, err
	}
	return encodeID(t.items, t.in.items, "_id", k)
}

// Unassign returns the plan that takes an item, as it was read, from its owner. When another operation changed the item's
// owner since, running it gives model.ErrStale and leaves nothing behind. op is as in
// [TwoWay.Assign].
//
// For an item without an owner, versioned links take older links to it off every list,
// which finishes what a dead process began. An item that never had an owner, or that has
// none by bare ids, gives a plan that does nothing.
//
// Cost: two commands, two documents; one command for versioned links when the item has no
// owner any more. After a cut the plan can be run again. A process that reads the item
// anew can call Unassign again instead. Bare ids take the item off the owner's list before
// the item changes. Versioned links write the item first.
func (t *TwoWay[O, OK, I, IK]) Unassign(item *I, op bson.ObjectID) model.Plan {
	if err := checkOp(t.in.items, t.in.versioned, op); err != nil {
		return model.RefusedPlan(t.in.items, err)
	}
	was, wasErr := t.held(item)
	id, err := t.id(item)
	if err == nil {
		err = wasErr
	}
	return t.in.unassign(id, was, op, err)
}
