package tree

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Delete is the change that deletes a node.
func (t *Tree) Delete(id bson.RawValue, mode forest.Mode, err error) model.Change[any] {
	if err == nil && mode > forest.Rootify {
		err = t.Refuse("mode", uint8(mode), "isn't a DeleteMode: use a constant of the package")
	}
	c := t.Changing(func(ctx context.Context, db model.DB, s *State) error {
		n, err := t.readSound(ctx, db, id)
		if err != nil {
			return err
		}
		s.node = n
		if mode == forest.Subtree {
			s.below, err = t.Nodes(ctx, db, t.Rep.Below(n, 0))
			return err
		}
		s.children, err = t.Nodes(ctx, db, t.Children(n.ID))
		if err != nil || len(s.children) == 0 {
			return err
		}
		if mode == forest.Restrict {
			return fmt.Errorf("%w: %s has %d", forest.ErrHasChildren, model.Shell(id), len(s.children))
		}
		return t.readDissolved(ctx, db, mode, s)
	}, func(s State) (model.Plan, error) { return t.delete(s, mode) })
	c.Err = err
	return c
}

// readDissolved reads where the children of a node go: into its place, or behind the roots.
func (t *Tree) readDissolved(ctx context.Context, db model.DB, mode forest.Mode, s *State) (err error) {
	to := forest.Place[bson.RawValue]{At: forest.LastRoot}
	if mode == forest.Promote {
		to = forest.Place[bson.RawValue]{At: forest.After, Ref: s.node.ID}
	}
	if s.to, err = t.resolve(ctx, db, to, &s.node, &s.node); err != nil {
		return err
	}
	spots, err := t.spread(s.to, len(s.children))
	for i := 0; err == nil && i < len(s.children); i++ {
		err = t.free(ctx, db, s.children[i], spots[i], s.node)
	}
	return err
}

// delete is the plan that deletes a node, from what was read.
func (t *Tree) delete(s State, mode forest.Mode) (model.Plan, error) {
	switch {
	case mode == forest.Subtree:
		return model.NewPlan(t.Rep.prune(s.node, s.below, s.Change)...), nil
	case len(s.children) == 0:
		return model.NewPlan(t.Rep.removal(s.node, s.Change)...), nil
	}
	spots, err := t.spread(s.to, len(s.children))
	if err != nil {
		return model.Plan{}, err
	}
	p := model.NewPlan(t.Rep.dissolve(s.node, s.children, spots, s.Change)...)
	p.Leaves = "children of a node that is deleted, or children that have left their node; the check finds them"
	return p, nil
}

// spread are spots for nodes that come one after the other.
func (t *Tree) spread(at spot, n int) ([]spot, error) {
	var out []spot
	at.crowd = nil
	for range n {
		if err := t.orderOf(&at); err != nil {
			return nil, err
		}
		out = append(out, at)
		at.prev = &Node{Order: at.order}
	}
	return out, nil
}
