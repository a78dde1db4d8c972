package twosided

import (
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// HeldItem is an item, and what it stores of its owner; for bare ids without version and token.
type HeldItem struct {
	ID, Owner any
	V         int64
	Op        bson.ObjectID
	Had       bool // there is an owner
	Err       error
}

// encode encodes an item's ids.
func (t *TwoWay) encode(was HeldItem, op bson.ObjectID) (HeldItem, error) {
	err := was.Err
	if opErr := t.Ref.checkOp(op); opErr != nil {
		err = opErr
	}
	if err == nil {
		was.ID, err = t.Ref.Docs.EncodeID("_id", was.ID)
	}
	if err == nil && was.Had {
		was.Owner, err = t.ownerID(was.Owner)
	}
	return was, err
}

func (t *TwoWay) ownerID(id any) (any, error) {
	return idref.NewHeld(t.Ref.Docs, t.Ref.Path, t.List.Docs).Encode(id)
}

// Assign is the plan that gives an item to an owner.
func (t *TwoWay) Assign(was HeldItem, owner any, op bson.ObjectID) model.Plan {
	was, err := t.encode(was, op)
	var to any
	if err == nil {
		to, err = t.ownerID(owner)
	}
	if err != nil {
		return model.RefusedPlan(t.Ref.Docs.Name(), err)
	}
	same := was.Had && idref.Key(was.Owner) == idref.Key(to)
	if t.Ref.Links {
		return t.assignVersioned(was, to, same, op)
	}
	steps := []model.Step{t.List.add(to, was.ID)}
	if was.Had && !same {
		steps = append(steps, t.List.pull(was.Owner, model.Eq(was.ID)))
	}
	steps = append(steps, t.name(was, stmt.Set(t.Ref.Path, to), to)) // last: who reads the item anew after a cut finds its old owner
	p := commands.Leaving("an item that only its new owner lists, while the item still refers to the old owner; the check finds it", steps...)
	p.IfStale = []model.Step{t.List.pull(to, model.Eq(was.ID))}
	return p
}

// name is the write by which an item, as it was read, names another owner; of bare ids.
func (t *TwoWay) name(was HeldItem, update bson.D, becomes any) model.Write {
	stored := any(stmt.In(slices.Clone(t.none)))
	if was.Had {
		stored = model.Eq(was.Owner)
	}
	w := commands.UpdateOne(t.Ref.Docs.Name(), append(commands.ByID(was.ID), mql.E(t.Ref.Path, stored)), update)
	w.Done = append(commands.ByID(was.ID), stmt.Is(t.Ref.Path, becomes)...)
	return w
}

func (t *TwoWay) assignVersioned(was HeldItem, to any, same bool, op bson.ObjectID) model.Plan {
	if same {
		return model.NewPlan(t.sweep(was.ID, was.V))
	}
	v := was.V + 1
	p := commands.Leaving("a link in a list that differs from the item; readers trust the item, and the check finds it",
		t.List.reserve(to, was.ID, v, op), t.claim(was, link(to, v, op), op))
	if was.Had {
		p.Steps = append(p.Steps, t.List.pull(was.Owner, exactly(was.ID, was.V, was.Op)))
	}
	p.IfStale = []model.Step{t.List.pull(to, exactly(was.ID, v, op))}
	return p
}

// sweep removes the links to an item below a version from every list: what an operation that died after it decided left to do.
func (t *TwoWay) sweep(id any, v int64) model.Write {
	old := versions(id, "$lt", v)
	return model.Write{Collection: t.List.Docs.Name(), Index: t.listIndex().Name, Once: true, Model: &mongo.UpdateManyModel{
		Filter: bson.D{{Key: t.List.Path, Value: element(old)}},
		Update: stmt.Operator("$pull", t.List.Path, old),
	}}
}

// claim is the compare-and-set of the item: it decides.
func (t *TwoWay) claim(was HeldItem, becomes bson.D, op bson.ObjectID) model.Write {
	ref := t.Ref.Path
	guard := atVersion(was.ID, ref+".v", was.V)
	if was.V > 0 {
		guard = append(guard, mql.E(ref+".op", was.Op))
	}
	w := commands.UpdateOne(t.Ref.Docs.Name(), guard, stmt.Set(ref, becomes))
	w.Done = append(commands.ByID(was.ID), mql.E(ref+".id", model.Eq(becomes[0].Value)), mql.E(ref+".v", was.V+1), mql.E(ref+".op", op))
	w.Once, w.Token = true, op
	return w
}

// Unassign is the plan that takes an item from its owner.
func (t *TwoWay) Unassign(was HeldItem, op bson.ObjectID) model.Plan {
	was, err := t.encode(was, op)
	switch {
	case err != nil:
		return model.RefusedPlan(t.Ref.Docs.Name(), err)
	case !was.Had && was.V > 0:
		return model.NewPlan(t.sweep(was.ID, was.V+1))
	case !was.Had:
		return model.Plan{}
	case t.Ref.Links:
		return commands.Leaving("an item without an owner that its old owner still lists; the check finds it",
			t.claim(was, ended(was.V+1, op), op), t.List.pull(was.Owner, exactly(was.ID, was.V, was.Op)))
	}
	return commands.Leaving("an item that refers to an owner which doesn't list it; the check finds it", // who reads the item anew after a cut finds its owner
		t.List.pull(was.Owner, model.Eq(was.ID)), t.name(was, stmt.Unset(t.Ref.Path), nil))
}
