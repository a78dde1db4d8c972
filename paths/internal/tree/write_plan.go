package tree

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// unsound is the error of a stored node without what the representation keeps.
func (t *Tree) unsound(n Node, field string) error {
	return t.Refuse(field, nil, model.Shell(n.ID)+" has no value in this field of the tree: repair it with Tree.Checks, or run Convert")
}

// orderOf gives a spot its order key.
func (t *Tree) orderOf(s *spot) error {
	prev, next := "", ""
	if s.prev != nil {
		prev = s.prev.Order
	}
	if s.next != nil {
		if next = s.next.Order; next == "" { // as a bound, "" would mean the end
			return fmt.Errorf("%w: %w", forest.ErrDamaged, t.Refuse(t.Links.Order, nil, model.Shell(s.next.ID)+" has no order key"))
		}
	}
	var err error
	if s.order, err = forest.Between(prev, next); err != nil {
		return fmt.Errorf("docmodel: %s: the siblings' order keys are damaged: repair them with Tree.Checks: %w", t.Collection, err)
	}
	return nil
}

// newer refuses the number of a change that isn't above those of the documents that it was decided from: its writes would pass them
// over, as done. That can be when the lock document was lost, or the tree goes under another name.
func (t *Tree) newer(s State) error {
	if s.still {
		return nil
	}
	for _, n := range s.stored() {
		if n.change >= s.Change {
			return t.Refuse(t.Links.Change, n.change, fmt.Sprintf("%s has a change number that isn't below this change's, %d: the lock document was lost or is old. "+
				"Run the repair of Tree.Checks", model.Shell(n.ID), s.Change))
		}
	}
	return nil
}

// takenReasons explain a duplicate key of an insert: another document has the _id, which a [model.Scope] may hide.
func (t *Tree) takenReasons(id bson.RawValue) []model.Reason {
	return []model.Reason{{If: bson.D{{Key: "_id", Value: model.Eq(id)}}, Err: t.taken(id)}}
}

// taken is the error of an _id that another document has.
func (t *Tree) taken(id bson.RawValue) error { return commands.Taken(t.Collection+"._id", id, false) }

// insert is the plan that stores a document at a spot.
func (t *Tree) insert(s State) (model.Plan, error) {
	var room []model.Step
	fields, err := t.Rep.derive(s.node, s.to)
	if r, ok := t.Rep.(roomer); ok {
		fields, room, err = r.insertion(s.node, s.to, s.Change)
	}
	if err != nil {
		return model.Plan{}, err
	}
	stored, err := core.SetFields(s.node.Raw, append(t.linked(s.to, s.Change), fields...))
	if err != nil {
		return model.Plan{}, err
	}
	insert := model.Write{
		Collection: t.Collection, Model: &mongo.InsertOneModel{Document: stored}, Expect: model.One,
		Done:    bson.D{{Key: "_id", Value: model.Eq(s.node.ID)}, {Key: t.Links.Change, Value: s.Change}},
		Reasons: t.takenReasons(s.node.ID),
	}
	p := model.NewPlan(slices.Concat([]model.Step{insert}, room, t.uncrowd(s.to, s.Change))...)
	if l, ok := t.Rep.(lister); ok {
		p.Steps = append(p.Steps, l.listed(s.node, s.to, s.Change)...)
	}
	return p, nil
}

// moveTo is the plan that takes a node to a spot.
func (t *Tree) moveTo(s State) (model.Plan, error) {
	if s.still {
		return model.Plan{}, nil
	}
	p := model.NewPlan(append(t.Rep.move(s.node, s.to, s.Change), t.uncrowd(s.to, s.Change)...)...)
	if l, ok := t.Rep.(lister); ok {
		p.IfStale = l.unlisted(s.node, s.to, s.Change)
	}
	return p, nil
}
