package tree

// The plans of inserts and moves, and the errors that they share with other changes.

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// newUnsoundError is the error for a stored node without the representation's fields.
func (t *Tree) newUnsoundError(n Node, field string) error {
	return t.Refuse(
		field, nil,
		model.Shell(n.ID)+" has no value in this field of the tree: repair it with Tree.Checks, or run Convert",
	)
}

// chooseOrderKey gives a spot an order key between its siblings' keys.
func (t *Tree) chooseOrderKey(s *spot) error {
	prev, next := "", ""
	if s.prev != nil {
		prev = s.prev.Order
	}
	if s.next != nil {
		// For forest.Between, "" would mean that there is no sibling after the spot.
		if next = s.next.Order; next == "" {
			return fmt.Errorf(
				"%w: %w", forest.ErrDamaged, t.Refuse(t.Links.Order, nil, model.Shell(s.next.ID)+" has no order key"),
			)
		}
	}
	var err error
	if s.order, err = forest.MakeKeyBetween(prev, next); err != nil {
		return fmt.Errorf(
			"docmodel: %s: the siblings' order keys are damaged: repair them with Tree.Checks: %w", t.Collection, err,
		)
	}
	return nil
}

// checkNumberIsNewer refuses a plan whose number isn't above the numbers of its nodes:
// the writes would skip the nodes as written already. The fence was raised before, except
// if a number is above maxChange, which only the repair replaces.
func (t *Tree) checkNumberIsNewer(s State) error {
	if s.inPlace {
		return nil
	}
	for _, n := range s.listStoredNodes() {
		if n.change >= s.Change {
			return t.Refuse(t.Links.Change, n.change, fmt.Sprintf(
				"%s has a change number that isn't below this change's, %d: the lock document was lost or is old. "+
					"Run the repair of Tree.Checks", model.Shell(n.ID), s.Change,
			))
		}
	}
	return nil
}

// explainTaken tells why an insert met a duplicate key: another document has the _id. A
// [model.Scope] may hide that document.
func (t *Tree) explainTaken(id bson.RawValue) []model.Reason {
	return []model.Reason{{If: bson.D{{Key: "_id", Value: mql.Eq(id)}}, Err: t.newTakenError(id)}}
}

// newTakenError is the error for an _id that another document has.
func (t *Tree) newTakenError(id bson.RawValue) error {
	return commands.NewTakenError(t.Collection+"._id", id, false)
}

// decideInsert is the plan of InsertNode. The insert comes first: if the server refuses
// it, nothing was written.
func (t *Tree) decideInsert(s State) (model.Plan, error) {
	var room []model.Step
	fields, err := t.Rep.deriveFields(s.node, s.to)
	if r, ok := t.Rep.(roomer); ok {
		fields, room, err = r.planInsertion(s.node, s.to, s.Change)
	}
	if err != nil {
		return model.Plan{}, err
	}
	stored, err := core.SetFields(s.node.Raw, append(t.setLinks(s.to, s.Change), fields...))
	if err != nil {
		return model.Plan{}, err
	}
	insert := model.Write{
		Collection: t.Collection, Model: &mongo.InsertOneModel{Document: stored}, Expect: model.One,
		Done:    bson.D{{Key: "_id", Value: mql.Eq(s.node.ID)}, {Key: t.Links.Change, Value: s.Change}},
		Reasons: t.explainTaken(s.node.ID),
	}
	p := model.NewPlan(slices.Concat([]model.Step{insert}, room, t.respaceSiblings(s.to, s.Change))...)
	if l, ok := t.Rep.(lister); ok {
		p.Steps = append(p.Steps, l.enterInList(s.node, s.to, s.Change)...)
	}
	return p, nil
}

// decideMove is the plan of MoveNode. IfStale removes an entry in the new parent's list.
func (t *Tree) decideMove(s State) (model.Plan, error) {
	if s.inPlace {
		return model.Plan{}, nil
	}
	p := model.NewPlan(append(t.Rep.planMove(s.node, s.to, s.Change), t.respaceSiblings(s.to, s.Change)...)...)
	if l, ok := t.Rep.(lister); ok {
		p.IfStale = l.undoEntry(s.node, s.to, s.Change)
	}
	return p, nil
}
