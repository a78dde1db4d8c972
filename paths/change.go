package paths

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// State is what a change of a tree read before it was decided.
type State struct {
	Change int64 // the number that the change writes to each document that it touches

	doc      bson.Raw // to be inserted
	node     *node
	spot     spot
	below    []node
	children []node
	spots    []spot // of children
	still    bool   // the node is there already
	repair   model.Plan
}

// place is a Place of encoded ids.
type place struct {
	at  position
	ref bson.RawValue
}

// changing is a change of the tree under its lease.
func (t *tree) changing(lease *model.Lease, read func(context.Context, *mongo.Database, *State) error, decide func(*State) (model.Plan, error)) model.Change[State] {
	return model.Change[State]{
		Lease: lease,
		Read: func(ctx context.Context, db *mongo.Database) (State, error) {
			s := State{Change: model.Fence(ctx)}
			return s, read(ctx, db, &s)
		},
		Decide: func(s State) (model.Plan, error) { return decide(&s) },
	}
}

// one reads a node.
func (t *tree) one(ctx context.Context, db *mongo.Database, id bson.RawValue) (node, error) {
	found, err := t.nodes(ctx, db, t.byID(id))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%w: %s in %s", ErrNoNode, text(id), t.docs)
	}
	if err != nil {
		return node{}, err
	}
	return found[0], nil
}

// resolve finds a place for a node, which is not in the way of itself.
func (t *tree) resolve(ctx context.Context, db *mongo.Database, at place, n *node) (spot, error) {
	var s spot
	nearest := func(key string, after bool) (*node, error) {
		found, err := t.nodes(ctx, db, t.nearest(under(s.parent), key, after, n.id))
		if err != nil || len(found) == 0 {
			return nil, err
		}
		return &found[0], nil
	}
	var err error
	if !at.at.root() {
		ref, err := t.one(ctx, db, at.ref)
		if err != nil {
			return s, err
		}
		switch {
		case at.at == firstChild, at.at == lastChild:
			s.parent = &ref
		case !ref.root():
			parent, err := t.one(ctx, db, ref.parent)
			if err != nil {
				return s, err
			}
			s.parent = &parent
		}
		switch at.at {
		case before:
			s.next = &ref
		case after:
			s.prev = &ref
		}
	}
	switch at.at {
	case firstRoot, firstChild:
		s.next, err = nearest("", true)
	case lastRoot, lastChild:
		s.prev, err = nearest("", false)
	case before:
		s.prev, err = nearest(s.next.order, false)
	case after:
		s.next, err = nearest(s.prev.order, true)
	}
	if err == nil {
		err = t.orderOf(&s)
	}
	if err == nil && len(s.order) > longKey {
		err = t.crowd(ctx, db, &s, n)
	}
	return s, err
}

// crowd has the siblings around a spot get new order keys, short ones.
func (t *tree) crowd(ctx context.Context, db *mongo.Database, s *spot, n *node) error {
	siblings, err := t.nodes(ctx, db, t.children(under(s.parent), bson.E{Key: "_id", Value: bson.D{{Key: "$ne", Value: n.id}}}))
	if err != nil {
		return err
	}
	for i, x := range siblings {
		if s.prev != nil && x.key() == s.prev.key() {
			s.at = i + 1
		}
	}
	s.crowd, s.order = siblings, Spread(len(siblings) + 1)[s.at]
	return nil
}

// uncrowd are the writes that give the siblings around a spot their new order keys.
func (t *tree) uncrowd(s spot) []model.Step {
	var steps []model.Step
	keys := slices.Delete(Spread(len(s.crowd)+1), s.at, s.at+1)
	for i, n := range s.crowd {
		steps = append(steps, t.reorder(n, keys[i]))
	}
	return steps
}

// reorder gives a node another order key. It doesn't mark the node as changed, for the same change may still have to move it.
func (t *tree) reorder(n node, key string) model.Write {
	return model.Write{Collection: t.docs, Index: model.IDIndex, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: model.Eq(n.id)}},
		Update: bson.D{{Key: "$set", Value: bson.D{{Key: t.links.Order, Value: key}}}},
	}}
}

// free returns an error when the representation can't have a node at a spot, since another takes it.
func (t *tree) free(ctx context.Context, db *mongo.Database, n node, s spot) error {
	if _, err := t.rep.derive(n, s); err != nil {
		return err
	}
	filter := t.rep.taken(n, s)
	if filter == nil {
		return nil
	}
	found, err := t.nodes(ctx, db, match("", filter, limit(1)))
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%w: %s has it in this place", ErrSegment, text(found[0].id))
	}
	return err
}

// insertion is the change that stores a document at a place.
func (t *tree) insertion(lease *model.Lease, doc bson.Raw, at place) model.Change[State] {
	return t.changing(lease, func(ctx context.Context, db *mongo.Database, s *State) error {
		n, err := t.read(doc)
		if err != nil {
			return err
		}
		s.doc = doc
		found, err := t.nodes(ctx, db, t.byID(n.id))
		if err == nil && len(found) > 0 {
			err = fmt.Errorf("%w: %s in %s", ErrExists, text(n.id), t.docs)
		}
		if err == nil {
			s.spot, err = t.resolve(ctx, db, at, &n)
		}
		if err == nil {
			err = t.free(ctx, db, n, s.spot)
		}
		return err
	}, func(s *State) (model.Plan, error) { return t.insert(s.doc, s.spot, s.Change) })
}

// moving is the change that takes a node to a place.
func (t *tree) moving(lease *model.Lease, id bson.RawValue, to place) model.Change[State] {
	return t.changing(lease, func(ctx context.Context, db *mongo.Database, s *State) error {
		n, err := t.one(ctx, db, id)
		if err != nil {
			return err
		}
		s.node = &n
		if !to.at.root() && keyOf(to.ref) == n.key() {
			if s.still = to.at == before || to.at == after; !s.still {
				return fmt.Errorf("%w: %s %s itself", ErrCycle, text(id), to.at)
			}
			return nil
		}
		if s.spot, err = t.resolve(ctx, db, to, &n); err != nil {
			return err
		}
		if err := t.checkCycle(ctx, db, n, s.spot); err != nil {
			return err
		}
		return t.free(ctx, db, n, s.spot)
	}, func(s *State) (model.Plan, error) {
		if s.still {
			return model.Plan{}, nil
		}
		return t.moveTo(*s.node, s.spot, s.Change)
	})
}

// checkCycle asks for the new parent's ancestors, if its document doesn't tell them.
func (t *tree) checkCycle(ctx context.Context, db *mongo.Database, n node, s spot) error {
	if s.parent == nil {
		return nil
	}
	in, known := t.rep.within(*s.parent, n)
	if !in && !known {
		above, err := t.nodes(ctx, db, t.rep.above(*s.parent))
		if err != nil {
			return err
		}
		in = slices.ContainsFunc(above, func(a node) bool { return a.key() == n.key() })
	}
	if in {
		return fmt.Errorf("%w: %s under %s", ErrCycle, text(n.id), text(s.parent.id))
	}
	return nil
}

// deletion is the change that deletes a node.
func (t *tree) deletion(lease *model.Lease, id bson.RawValue, mode DeleteMode) model.Change[State] {
	return t.changing(lease, func(ctx context.Context, db *mongo.Database, s *State) error {
		n, err := t.one(ctx, db, id)
		if err != nil {
			return err
		}
		s.node = &n
		if mode == Subtree {
			s.below, err = t.nodes(ctx, db, t.rep.below(n, 0))
			return err
		}
		if s.children, err = t.nodes(ctx, db, t.children(n.id)); err != nil || len(s.children) == 0 {
			return err
		}
		switch mode {
		case Restrict:
			return fmt.Errorf("%w: %s has %d", ErrHasChildren, text(id), len(s.children))
		case Promote:
			s.spot, err = t.resolve(ctx, db, place{after, n.id}, &n)
			s.spot.prev = &n // in whose place the first child comes
		case Rootify:
			s.spot, err = t.resolve(ctx, db, place{at: lastRoot}, &n)
		}
		if err == nil {
			err = t.spread(s)
		}
		for i := 0; err == nil && i < len(s.children); i++ {
			err = t.freeBut(ctx, db, s.children[i], s.spots[i], n)
		}
		return err
	}, func(s *State) (model.Plan, error) {
		n := *s.node
		if mode == Subtree {
			return model.NewPlan(t.rep.prune(n, s.below, s.Change)...), nil
		}
		if len(s.children) == 0 {
			return model.NewPlan(t.rep.removal(n, s.Change)...), nil
		}
		p := model.NewPlan(t.rep.dissolve(n, s.children, s.spots, s.Change)...)
		p.Leaves = "children that have left the node, which is still there"
		return p, nil
	})
}

// spread gives the children spots of their own, one after the other.
func (t *tree) spread(s *State) error {
	at := s.spot
	for range s.children {
		if err := t.orderOf(&at); err != nil {
			return err
		}
		s.spots = append(s.spots, at)
		at.prev = &node{order: at.order}
	}
	return nil
}

// freeBut is free for a place that a node is about to leave.
func (t *tree) freeBut(ctx context.Context, db *mongo.Database, n node, s spot, leaves node) error {
	filter := t.rep.taken(n, s)
	if filter == nil {
		return nil
	}
	found, err := t.nodes(ctx, db, match("", filter))
	for _, f := range found {
		if err == nil && f.key() != leaves.key() {
			err = fmt.Errorf("%w: %s has it in this place", ErrSegment, text(f.id))
		}
	}
	return err
}
