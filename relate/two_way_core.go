package relate

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// twoWay is what of a [TwoWay] doesn't depend on its types: it works on encoded ids.
type twoWay struct {
	owners, items string // collections
	list, ref     string
	versioned     bool
	max           int
	trust         Side
	none          bson.A // what an item without an owner stores
}

// heldLink is what an item stores of its owner; of bare ids without version and token.
type heldLink struct {
	id  any // encoded
	v   int64
	op  bson.ObjectID
	had bool // there is an owner
}

func (t *twoWay) place() string {
	return fmt.Sprintf("NewTwoWay of %s.%s and %s.%s", t.owners, t.list, t.items, t.ref)
}

// declareForm checks the reference, and that both sides have one form.
func (t *twoWay) declareForm(ref model.Field, listVersioned, refVersioned bool) {
	single(t.place(), ref)
	if listVersioned != refVersioned {
		panic(&model.DeclarationError{Problem: "one side is versioned and the other isn't", Place: t.place(), Remedy: "use relate.Link on both sides, or bare ids on both"})
	}
	t.versioned = listVersioned
}

func (t *twoWay) declareSpec(spec []TwoWaySpec) {
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: t.place(), Remedy: remedy})
	}
	switch {
	case len(spec) == 0:
		return
	case len(spec) > 1:
		fail("more than one TwoWaySpec", "give one")
	case spec[0].Max < 0:
		fail(fmt.Sprintf("Max is %d", spec[0].Max), "use 0 for no bound")
	case spec[0].Trust > TrustLists:
		fail("no such Side", "use TrustRefs or TrustLists")
	case t.versioned && spec[0].Trust == TrustLists:
		fail("the lists of versioned links can't be trusted", "use TrustRefs: the item decides")
	}
	t.max, t.trust = spec[0].Max, spec[0].Trust
}

// declareNone is told how the empty id is stored, and whether it is refused as one.
func (t *twoWay) declareNone(empty any, encoding, refused error) {
	t.none = bson.A{nil}
	if refused != nil && encoding == nil && model.Shell(empty) != "null" {
		t.none = append(t.none, empty)
	}
}

// assign is the plan that gives an item to an owner.
//
//go:noinline
func (t *twoWay) assign(id, to any, was heldLink, op bson.ObjectID, err error) model.Plan {
	switch {
	case err != nil:
		return model.RefusedPlan(t.items, err)
	case t.versioned:
		return t.assignVersioned(id, to, was, op)
	}
	return t.assignBare(id, to, was)
}

func (t *twoWay) assignBare(id, to any, was heldLink) model.Plan {
	stored := t.nobody()
	if was.had {
		stored = model.Eq(was.id)
	}
	claim := updateOne(t.items, bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: t.ref, Value: stored}}, set(t.ref, to))
	claim.Done = bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: t.ref, Value: model.Eq(to)}}
	p := model.NewPlan(addToSet(t.owners, t.list, to, id, t.max))
	if was.had && model.Shell(was.id) != model.Shell(to) {
		p.Steps = append(p.Steps, t.pull(was.id, model.Eq(id)))
	}
	p.Steps = append(p.Steps, claim) // last: who reads the item anew after a cut finds its old owner
	p.IfStale = []model.Step{t.pull(to, model.Eq(id))}
	p.Leaves = "an item that its new owner lists before it names it, and its old one no longer lists"
	return p
}

// nobody is the condition of an item without an owner: it stores nothing, null, or the empty id of its Go type.
func (t *twoWay) nobody() any {
	return bson.D{{Key: "$in", Value: t.emptyRefs()}}
}

func (t *twoWay) emptyRefs() bson.A { return slices.Clone(t.none) }

func (t *twoWay) assignVersioned(id, to any, was heldLink, op bson.ObjectID) model.Plan {
	if was.had && model.Shell(was.id) == model.Shell(to) {
		return model.NewPlan(t.sweep(id, was.v))
	}
	v := was.v + 1
	p := model.NewPlan(reserve(t.owners, t.list, to, id, v, op, t.max), t.claim(id, was, link(to, v, op), op))
	if was.had {
		p.Steps = append(p.Steps, t.pull(was.id, t.upTo(id, was.v)))
	}
	p.IfStale = []model.Step{t.pull(to, exactly(id, v, op))}
	p.Leaves = "a link in a list that the item doesn't bear out: a reader believes the item"
	return p
}

// sweep takes the links to an item below a version off every list: what an operation that died after it decided left to do.
func (t *twoWay) sweep(id any, v int64) model.Write {
	old := bson.D{{Key: "id", Value: model.Eq(id)}, {Key: "v", Value: bson.D{{Key: "$lt", Value: v}}}}
	return model.Write{Collection: t.owners, Index: t.listIndex().Name, Once: true, Model: &mongo.UpdateManyModel{
		Filter: bson.D{{Key: t.list, Value: bson.D{{Key: "$elemMatch", Value: old}}}},
		Update: bson.D{{Key: "$pull", Value: bson.D{{Key: t.list, Value: old}}}},
	}}
}

// claim is the compare-and-set of the item: it decides.
func (t *twoWay) claim(id any, was heldLink, becomes bson.D, op bson.ObjectID) model.Write {
	guard := atVersion(id, t.ref+".v", was.v)
	if was.v > 0 {
		guard = append(guard, bson.E{Key: t.ref + ".op", Value: was.op})
	}
	w := updateOne(t.items, guard, set(t.ref, becomes))
	w.Done = bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: t.ref + ".id", Value: model.Eq(becomes[0].Value)}, {Key: t.ref + ".v", Value: was.v + 1}, {Key: t.ref + ".op", Value: op}}
	w.Once = true
	return w
}

// upTo is the condition of the links to an item up to a version: those that an operation which read it may take away.
func (t *twoWay) upTo(id any, v int64) bson.D {
	return bson.D{{Key: "id", Value: model.Eq(id)}, {Key: "v", Value: bson.D{{Key: "$lte", Value: v}}}}
}

// unassign is the plan that takes an item from its owner.
func (t *twoWay) unassign(id any, was heldLink, op bson.ObjectID, err error) model.Plan {
	var p model.Plan
	switch {
	case err != nil:
		return model.RefusedPlan(t.items, err)
	case !was.had && was.v > 0:
		return model.NewPlan(t.sweep(id, was.v+1))
	case !was.had:
		return p
	case t.versioned:
		p = model.NewPlan(t.claim(id, was, ended(was.v+1, op), op), t.pull(was.id, t.upTo(id, was.v)))
	default:
		claim := updateOne(t.items, bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: t.ref, Value: model.Eq(was.id)}},
			bson.D{{Key: "$unset", Value: bson.D{{Key: t.ref, Value: ""}}}})
		claim.Done = bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: t.ref, Value: nil}}
		p = model.NewPlan(t.pull(was.id, model.Eq(id)), claim) // who reads the item anew after a cut finds its owner
		p.Leaves = "an item that names an owner which doesn't list it"
		return p
	}
	p.Leaves = "an item without an owner, which its old owner still lists"
	return p
}

// pull takes links out of an owner's list.
func (t *twoWay) pull(owner, cond any) model.Write {
	return pull(t.owners, owner, t.list, cond)
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
