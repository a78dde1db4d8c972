package tree

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// DeleteNode is the change that deletes a node, and does with its children what mode
// says.
func (t *Tree) DeleteNode(id bson.RawValue, mode forest.Mode) model.Change {
	if mode > forest.Rootify {
		return t.RefuseChange(t.Refuse("mode", uint8(mode), "isn't a DeleteMode: use a constant of the package"))
	}
	read := func(ctx context.Context, db model.DB, s *State) error {
		n, err := t.readSoundNode(ctx, db, id)
		if err != nil {
			return err
		}
		s.node = n
		if mode == forest.Subtree {
			s.below, err = t.ReadNodes(ctx, db, t.Rep.FindDescendants(n, 0))
			return err
		}
		s.children, err = t.ReadNodes(ctx, db, t.FindChildren(n.ID))
		if err != nil || len(s.children) == 0 {
			return err
		}
		if mode == forest.Restrict {
			return fmt.Errorf("%w: %s has %d", forest.ErrHasChildren, model.Shell(id), len(s.children))
		}
		return t.readDissolveSpots(ctx, db, mode, s)
	}
	return t.MakeChange(read, func(s State) (model.Plan, error) { return t.decideDelete(s, mode) })
}

// readDissolveSpots reads where the children go: into the node's place, or behind the
// roots.
func (t *Tree) readDissolveSpots(ctx context.Context, db model.DB, mode forest.Mode, s *State) (err error) {
	to := forest.Place[bson.RawValue]{At: forest.LastRoot}
	if mode == forest.Promote {
		to = forest.Place[bson.RawValue]{At: forest.After, Ref: s.node.ID}
	}
	if s.to, err = t.resolvePlace(ctx, db, to, &s.node, &s.node); err != nil {
		return err
	}
	spots, err := t.spreadSpots(s.to, len(s.children))
	for i := 0; err == nil && i < len(s.children); i++ {
		err = t.checkSpotFree(ctx, db, s.children[i], spots[i], s.node)
	}
	return err
}

// decideDelete is the plan of DeleteNode.
func (t *Tree) decideDelete(s State, mode forest.Mode) (model.Plan, error) {
	switch {
	case mode == forest.Subtree:
		return model.NewPlan(t.Rep.planSubtreeDelete(s.node, s.below, s.Change)...), nil
	case len(s.children) == 0:
		return model.NewPlan(t.Rep.planLeafDelete(s.node, s.Change)...), nil
	}
	spots, err := t.spreadSpots(s.to, len(s.children))
	if err != nil {
		return model.Plan{}, err
	}
	p := model.NewPlan(t.Rep.planDissolve(s.node, s.children, spots, s.Change)...)
	p.Leaves = "children of a node that is deleted, or children that have left their node; the check finds them"
	return p, nil
}

// spreadSpots returns n spots, one behind the other, beginning at a spot. Their keys come
// from one gap between two keys.
func (t *Tree) spreadSpots(at spot, n int) ([]spot, error) {
	var out []spot
	at.crowd = nil
	for range n {
		if err := t.chooseOrderKey(&at); err != nil {
			return nil, err
		}
		out = append(out, at)
		at.prev = &Node{Order: at.order}
	}
	return out, nil
}
