package paths

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// deletion is the change that deletes a node.
func (t *tree) deletion(lease *model.Lease, id bson.RawValue, mode DeleteMode) model.Change[State] {
	return t.changing(lease, func(ctx context.Context, db *mongo.Database, s *State) error {
		n, err := t.one(ctx, db, id)
		if err != nil {
			return err
		}
		s.Node = n.raw
		if mode == Subtree {
			below, err := t.nodes(ctx, db, t.rep.below(n, 0))
			s.Below = rawsOf(below)
			return err
		}
		children, err := t.nodes(ctx, db, t.children(n.id))
		if err != nil || len(children) == 0 {
			return err
		}
		s.Children = rawsOf(children)
		if mode == Restrict {
			return fmt.Errorf("%w: %s has %d", ErrHasChildren, text(id), len(children))
		}
		return t.readDissolved(ctx, db, n, children, mode, s)
	}, func(s *State) (model.Plan, error) { return t.delete(s, mode) })
}

// readDissolved reads where the children of a node go: into its place, or behind the roots.
func (t *tree) readDissolved(ctx context.Context, db *mongo.Database, n node, children []node, mode DeleteMode, s *State) error {
	to := place{at: lastRoot}
	if mode == Promote {
		to = place{after, n.id}
	}
	at, err := t.resolve(ctx, db, to, &n)
	if err != nil {
		return err
	}
	s.put(at)
	spots, err := t.spread(at, len(children))
	for i := 0; err == nil && i < len(children); i++ {
		err = t.free(ctx, db, children[i], spots[i], n)
	}
	return err
}

// delete is the plan that deletes a node, from what was read.
func (t *tree) delete(s *State, mode DeleteMode) (model.Plan, error) {
	n, err := t.read(s.Node)
	if err != nil {
		return model.Plan{}, err
	}
	below, err := t.readAll(s.Below)
	if err != nil {
		return model.Plan{}, err
	}
	children, err := t.readAll(s.Children)
	if err != nil {
		return model.Plan{}, err
	}
	if err := t.newer(s.Change, spot{}, append(append(children, below...), n)...); err != nil {
		return model.Plan{}, err
	}
	switch {
	case mode == Subtree:
		return model.NewPlan(t.rep.prune(n, below, s.Change)...), nil
	case len(children) == 0:
		return model.NewPlan(t.rep.removal(n, s.Change)...), nil
	}
	at, err := t.spotOf(s)
	if err != nil {
		return model.Plan{}, err
	}
	spots, err := t.spread(at, len(children))
	if err != nil {
		return model.Plan{}, err
	}
	p := model.NewPlan(t.rep.dissolve(n, children, spots, s.Change)...)
	p.Leaves = "children of a node that is there no longer, or that have left one which is"
	return p, nil
}

// spread are spots for nodes that come one after the other.
func (t *tree) spread(at spot, n int) ([]spot, error) {
	var out []spot
	at.crowd = nil
	for range n {
		if err := t.orderOf(&at); err != nil {
			return nil, err
		}
		out = append(out, at)
		at.prev = &node{order: at.order}
	}
	return out, nil
}
