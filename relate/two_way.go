package relate

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// TwoWay is a one-to-many relation that both sides store: a person lists tasks, and a task names its owner. Make it with
// [NewTwoWay].
//
// With bare ids, no order of the two writes is safe: two operations on one item that interleave can leave one side without
// the other. The item's side is then the truth; [TwoWay.CheckLists] and [TwoWay.CheckRefs] find what differs and
// [TwoWay.Mend] repairs it; in a transaction ([model.Plan.RunTx]) nothing differs. With versioned links (fields of type
// [Link]) no interleaving leaves a half-link; a process that dies half way can, and Mend takes it away by its age.
//
// Source: two-way referencing, "6 Rules of Thumb for MongoDB Schema Design", part 2 (seed 004).
type TwoWay[O, OK, I, IK any] struct {
	owners    *model.Collection[O, OK]
	items     *model.Collection[I, IK]
	list, ref string
	versioned bool
	max       int

	bareRef  *model.Reader[I, OK]
	bareList *model.Reader[O, IK]
	links    *model.Reader[I, Link[OK]]
	listed   *model.Reader[O, Link[IK]]
}

// TwoWaySpec says what a [TwoWay] needs beside its paths. The zero value is valid.
type TwoWaySpec struct {
	Max int // how many items an owner lists at most; 0 means no bound
}

// NewTwoWay declares that the list of the owners' documents and the reference of the items' documents are two sides of one
// relation: ids of each other, or both of type [Link]. It panics with a [*model.DeclarationError] when a path doesn't
// exist, is no array (the list) or crosses one (the reference), holds another type, or when one side is versioned and the
// other isn't. At most one spec may be given.
func NewTwoWay[O, OK, I, IK any](owners *model.Collection[O, OK], list string, items *model.Collection[I, IK], ref string, spec ...TwoWaySpec) *TwoWay[O, OK, I, IK] {
	t := &TwoWay[O, OK, I, IK]{owners: owners, items: items, list: list, ref: ref}
	place := fmt.Sprintf("NewTwoWay of %s.%s and %s.%s", owners.Name(), list, items.Name(), ref)
	l, r := model.CheckArray(owners, list), model.MustField(items, ref)
	single(place, r)
	t.versioned = isLink[IK](l)
	if t.versioned != isLink[OK](r) {
		panic(&model.DeclarationError{Problem: "one side is versioned and the other isn't", Place: place, Remedy: "use relate.Link on both sides, or bare ids on both"})
	}
	if t.versioned {
		t.links, t.listed = model.NewReader[Link[OK]](items, ref), model.NewReader[Link[IK]](owners, list)
	} else {
		t.bareRef, t.bareList = model.NewReader[OK](items, ref), model.NewReader[IK](owners, list)
	}
	switch {
	case len(spec) > 1:
		panic(&model.DeclarationError{Problem: "more than one TwoWaySpec", Place: place, Remedy: "give one"})
	case len(spec) == 1 && spec[0].Max < 0:
		panic(&model.DeclarationError{Problem: fmt.Sprintf("Max is %d", spec[0].Max), Place: place, Remedy: "use 0 for no bound"})
	case len(spec) == 1:
		t.max = spec[0].Max
	}
	return t
}

// Owner returns the owner that an item names, and whether it names one.
func (t *TwoWay[O, OK, I, IK]) Owner(item *I) (OK, bool) {
	if item == nil {
		var none OK
		return none, false
	}
	if t.versioned {
		l, _ := t.links.First(item)
		return l.ID, l.Holds()
	}
	id, ok := t.bareRef.First(item)
	return id, ok && t.owners.CheckID(t.ref, id) == nil
}

// Assign returns the plan that gives an item, as it was read, to an owner, and takes it from the one that it names. When
// another operation changed the item's owner since, running it gives model.ErrStale and leaves nothing behind. An owner
// whose list is full gives a [*FullError].
//
// op is the operation's token for versioned links: a new ObjectID, the same when the plan is run again. For bare ids it is
// bson.NilObjectID.
//
// An item that has this owner already costs one command: with versioned links one that takes older links to it off every
// list, which finishes what a dead process began; with bare ids one more, that lists it.
//
// Cost: two commands, two documents; three and three when the item had another owner. The plan can be run again after a
// cut. Links in flight count towards a bound. Bare ids are written item first, so that a stale plan has written nothing;
// with a bound, or versioned, the new owner's list first. An owner that doesn't exist gives model.ErrStale too: with bare
// ids and no bound the item names it by then, which [TwoWay.CheckRefs] finds; else nothing is left.
func (t *TwoWay[O, OK, I, IK]) Assign(item *I, to OK, op bson.ObjectID) model.Plan {
	id, next, err := t.ids(item, to, op)
	if err != nil {
		return model.RefusedPlan(t.items.Name(), err)
	}
	if t.versioned {
		return t.assignVersioned(item, id, next, op)
	}
	return t.assignBare(item, id, next)
}

func (t *TwoWay[O, OK, I, IK]) ids(item *I, to OK, op bson.ObjectID) (id, next any, err error) {
	if err := checkOp(t.items.Name(), t.versioned, op); err != nil {
		return nil, nil, err
	}
	k, err := t.items.ID(item)
	if err != nil {
		return nil, nil, err
	}
	if id, err = encodeID(t.items, t.items.Name(), "_id", k); err != nil {
		return nil, nil, err
	}
	next, err = encodeID(t.owners, t.items.Name(), t.ref, to)
	return id, next, err
}

func (t *TwoWay[O, OK, I, IK]) assignBare(item *I, id, to any) model.Plan {
	was, had := t.Owner(item)
	old, stored := any(nil), t.nobody()
	if had {
		v, err := encodeID(t.owners, t.items.Name(), t.ref, was)
		if err != nil {
			return model.RefusedPlan(t.items.Name(), err)
		}
		old, stored = v, model.Eq(v)
	}
	claim := updateOne(t.items.Name(), bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: t.ref, Value: stored}}, set(t.ref, to))
	claim.Done = bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: t.ref, Value: model.Eq(to)}}
	add := addToSet(t.owners.Name(), t.list, to, id, t.max)
	p := model.NewPlan(claim)
	if t.max > 0 {
		p = model.NewPlan(add, claim)
		p.IfStale = []model.Step{t.pull(to, model.Eq(id))}
	}
	if had && model.Shell(old) != model.Shell(to) {
		p.Steps = append(p.Steps, t.pull(old, model.Eq(id)))
	}
	if t.max == 0 {
		p.Steps = append(p.Steps, add)
	}
	p.Leaves = "an item that its new owner doesn't list yet, or its old one still lists"
	return p
}

// nobody is the condition of an item without an owner: it stores nothing, null, or the empty id of its Go type.
func (t *TwoWay[O, OK, I, IK]) nobody() any {
	return bson.D{{Key: "$in", Value: t.emptyRefs()}}
}

func (t *TwoWay[O, OK, I, IK]) emptyRefs() bson.A {
	none := bson.A{nil}
	var zero OK
	if t.owners.CheckID(t.ref, zero) != nil {
		if v, err := t.owners.Encode(zero); err == nil && model.Shell(v) != "null" {
			none = append(none, v)
		}
	}
	return none
}

func (t *TwoWay[O, OK, I, IK]) assignVersioned(item *I, id, to any, op bson.ObjectID) model.Plan {
	was, _ := t.links.First(item)
	var old any
	if was.Holds() {
		var err error
		if old, err = encodeID(t.owners, t.items.Name(), t.ref, was.ID); err != nil {
			return model.RefusedPlan(t.items.Name(), err)
		}
		if model.Shell(old) == model.Shell(to) {
			return model.NewPlan(t.sweep(id, was.V))
		}
	}
	add := updateOne(t.owners.Name(),
		model.And(bson.D{{Key: "_id", Value: model.Eq(to)}, {Key: t.list + ".op", Value: bson.D{{Key: "$ne", Value: op}}}}, room(t.list, t.max)),
		bson.D{{Key: "$push", Value: bson.D{{Key: t.list, Value: link(id, was.V+1, op)}}}})
	add.Done = bson.D{{Key: "_id", Value: model.Eq(to)}, {Key: t.list + ".op", Value: op}}
	add.Once, add.Reasons = true, full(t.owners.Name(), t.list, to, t.max)

	p := model.NewPlan(add, t.claim(id, was, link(to, was.V+1, op), op))
	if was.Holds() {
		p.Steps = append(p.Steps, t.pull(old, t.upTo(id, was.V)))
	}
	p.IfStale = []model.Step{t.pull(to, bson.D{{Key: "id", Value: model.Eq(id)}, {Key: "op", Value: op}})}
	p.Leaves = "a link in a list that the item doesn't bear out: a reader believes the item"
	return p
}

// sweep takes older links to an item off every list: what an operation that died after it decided left to do.
func (t *TwoWay[O, OK, I, IK]) sweep(id any, v int64) model.Write {
	old := bson.D{{Key: "id", Value: model.Eq(id)}, {Key: "v", Value: bson.D{{Key: "$lt", Value: v}}}}
	return model.Write{Collection: t.owners.Name(), Index: t.Indexes()[1].Name, Model: &mongo.UpdateManyModel{
		Filter: bson.D{{Key: t.list, Value: bson.D{{Key: "$elemMatch", Value: old}}}},
		Update: bson.D{{Key: "$pull", Value: bson.D{{Key: t.list, Value: old}}}},
	}}
}

// claim is the compare-and-set of the item: it decides.
func (t *TwoWay[O, OK, I, IK]) claim(id any, was Link[OK], becomes bson.D, op bson.ObjectID) model.Write {
	guard := bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: t.ref + ".v", Value: nil}}
	if was.V > 0 {
		guard = bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: t.ref + ".v", Value: was.V}, {Key: t.ref + ".op", Value: was.Op}}
	} else {
		guard[1].Value = bson.D{{Key: "$in", Value: bson.A{nil, int64(0)}}}
	}
	w := updateOne(t.items.Name(), guard, set(t.ref, becomes))
	w.Done = bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: t.ref + ".op", Value: op}}
	w.Once = true
	return w
}

// upTo is the condition of the links to an item up to a version: those that an operation which read it may take away.
func (t *TwoWay[O, OK, I, IK]) upTo(id any, v int64) bson.D {
	return bson.D{{Key: "id", Value: model.Eq(id)}, {Key: "v", Value: bson.D{{Key: "$lte", Value: v}}}}
}

// Unassign returns the plan that takes an item, as it was read, from its owner. When another operation changed the item's
// owner since, running it gives model.ErrStale and leaves nothing behind. An item without an owner gives a plan that does
// nothing. op is as in [TwoWay.Assign].
//
// Cost: two commands, two documents. The plan can be run again after a cut.
func (t *TwoWay[O, OK, I, IK]) Unassign(item *I, op bson.ObjectID) model.Plan {
	was, had := t.Owner(item)
	if err := checkOp(t.items.Name(), t.versioned, op); err != nil {
		return model.RefusedPlan(t.items.Name(), err)
	}
	if !had {
		if _, err := t.items.ID(item); err != nil {
			return model.RefusedPlan(t.items.Name(), err)
		}
		return model.Plan{}
	}
	id, old, err := t.ids(item, was, op)
	if err != nil {
		return model.RefusedPlan(t.items.Name(), err)
	}
	var p model.Plan
	if t.versioned {
		held, _ := t.links.First(item)
		p = model.NewPlan(t.claim(id, held, ended(held.V+1, op), op), t.pull(old, t.upTo(id, held.V)))
	} else {
		claim := updateOne(t.items.Name(), bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: t.ref, Value: model.Eq(old)}},
			bson.D{{Key: "$unset", Value: bson.D{{Key: t.ref, Value: ""}}}})
		claim.Done = bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: t.ref, Value: nil}}
		p = model.NewPlan(claim, t.pull(old, model.Eq(id)))
	}
	p.Leaves = "an item without an owner, which its old owner still lists"
	return p
}

// pull takes links out of an owner's list.
func (t *TwoWay[O, OK, I, IK]) pull(owner, cond any) model.Write {
	return pull(t.owners.Name(), owner, t.list, cond)
}

// updateOne is a write found by _id that expects its document.
func updateOne(collection string, filter, update bson.D) model.Write {
	return model.Write{
		Collection: collection, Expect: model.One, Index: model.IDIndex,
		Model: &mongo.UpdateOneModel{Filter: filter, Update: update},
	}
}

func set(path string, v any) bson.D {
	return bson.D{{Key: "$set", Value: bson.D{{Key: path, Value: v}}}}
}
