package tree

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// State is what a change of a tree is decided from, as it was read.
type State struct {
	Change int64 // the number that the change writes to each document that it touches

	node            Node // what is inserted, moved or deleted
	fresh           bool // node is a document of the caller's
	still           bool // the node is in its place already
	to              spot
	children, below []Node     // of a node that is deleted, or whose children get new order keys
	Repair          model.Plan // what mends the tree
}

// Changing is a change of the tree under its lease. Callers see its state as any.
func (t *Tree) Changing(read func(context.Context, model.DB, *State) error, decide func(State) (model.Plan, error)) model.Change[any] {
	return model.Change[any]{
		Name:  "tree " + t.Collection,
		Lease: t.Lease,
		Read: func(ctx context.Context, db model.DB) (any, error) {
			s := State{Change: model.Fence(ctx)}
			err := read(ctx, db, &s)
			if s.Change == 0 { // without the lease, to see the plan
				for _, n := range s.stored() {
					s.Change = max(s.Change, n.change+1)
				}
			}
			if err == nil && s.passed() {
				err = t.goOn(ctx, db, s.Change)
			}
			return s, err
		},
		Decide: func(state any) (model.Plan, error) {
			s, ok := state.(State)
			if !ok {
				return model.Plan{}, t.Refuse("state", nil, "must be the result of the change's Read")
			}
			if err := t.newer(s); err != nil {
				return model.Plan{}, err
			}
			return decide(s)
		},
	}
}

// there reads a node.
func (t *Tree) there(ctx context.Context, db model.DB, id bson.RawValue) (Node, error) {
	found, err := t.Nodes(ctx, db, t.ByID(id))
	if err == nil && len(found) == 0 {
		err = t.missing(id)
	}
	if err != nil {
		return Node{}, err
	}
	return found[0], nil
}

func (t *Tree) missing(id bson.RawValue) error {
	return fmt.Errorf("%w: no node %s in %s", model.ErrNotFound, model.Shell(id), t.Collection)
}

// and reads a node, and the one that a place names, by one query. Nil stands for a node that is not there. The place's is nil too
// if it names this node, or none.
func (t *Tree) and(ctx context.Context, db model.DB, id bson.RawValue, at forest.Place[bson.RawValue]) (n, ref *Node, err error) {
	ids := []bson.RawValue{id}
	if !at.At.Root() && bsonval.Key(at.Ref) != bsonval.Key(id) {
		ids = append(ids, at.Ref)
	}
	found, err := t.Nodes(ctx, db, t.ByID(ids...))
	for i, f := range found {
		if f.Key() == bsonval.Key(id) {
			n = &found[i]
		} else {
			ref = &found[i]
		}
	}
	return n, ref, err
}

// One reads a whole node that has what the representation keeps.
func (t *Tree) One(ctx context.Context, db model.DB, id bson.RawValue) (Node, error) {
	found, err := t.readAs(ctx, db, t.ByID(id), nil)
	if err == nil && len(found) == 0 {
		err = t.missing(id)
	}
	if err != nil {
		return Node{}, err
	}
	return found[0], t.Rep.Sound(found[0])
}

// readSound reads the tree's fields of a node that has what the representation keeps.
func (t *Tree) readSound(ctx context.Context, db model.DB, id bson.RawValue) (Node, error) {
	n, err := t.there(ctx, db, id)
	if err != nil {
		return Node{}, err
	}
	return n, t.Rep.Sound(n)
}

// known is readSound of a node that may be read already.
func (t *Tree) known(ctx context.Context, db model.DB, id bson.RawValue, n *Node) (Node, error) {
	if n == nil {
		return t.readSound(ctx, db, id)
	}
	return *n, t.Rep.Sound(*n)
}

// resolve finds a place for a node, which is not in the way of itself. The node that the place names is read, unless it is known.
func (t *Tree) resolve(ctx context.Context, db model.DB, at forest.Place[bson.RawValue], n, known *Node) (spot, error) {
	var s spot
	nearest := func(key string, after bool) (*Node, error) {
		found, err := t.Nodes(ctx, db, t.nearest(Under(s.parent), key, after, n.ID))
		if err != nil || len(found) == 0 {
			return nil, err
		}
		return &found[0], nil
	}
	var err error
	if !at.At.Root() {
		ref, err := t.known(ctx, db, at.Ref, known)
		if err != nil {
			return s, err
		}
		switch {
		case at.At == forest.FirstChild, at.At == forest.LastChild:
			s.parent = &ref
		case !ref.Root():
			parent, err := t.readSound(ctx, db, ref.Parent)
			if err != nil {
				return s, err
			}
			s.parent = &parent
		}
		switch at.At {
		case forest.Before:
			s.next = &ref
		case forest.After:
			s.prev = &ref
		}
	}
	switch at.At {
	case forest.FirstRoot, forest.FirstChild:
		s.next, err = nearest("", true)
	case forest.LastRoot, forest.LastChild:
		s.prev, err = nearest("", false)
	case forest.Before:
		s.prev, err = nearest(s.next.Order, false)
	case forest.After:
		s.next, err = nearest(s.prev.Order, true)
	}
	if err == nil {
		err = t.orderOf(&s)
	}
	if err != nil || len(s.order) <= forest.LongKey {
		return s, err
	}
	s.crowd, err = t.Nodes(ctx, db, t.Children(Under(s.parent), mql.E("_id", mql.Op("$ne", n.ID))))
	for i, x := range s.crowd {
		if s.prev != nil && x.Key() == s.prev.Key() {
			s.at = i + 1
		}
	}
	s.order = forest.Spread(len(s.crowd) + 1)[s.at]
	return s, err
}

// uncrowd are the writes that give the siblings around a spot their new order keys, but for those that a later change wrote.
// They mark the siblings as changed, so that they come after the writes that pass over such nodes.
func (t *Tree) uncrowd(s spot, change int64) []model.Step {
	var steps []model.Step
	keys := slices.Delete(forest.Spread(len(s.crowd)+1), s.at, s.at+1)
	for i, n := range s.crowd {
		if n.Order == keys[i] {
			continue
		}
		steps = append(steps, model.Write{Collection: t.Collection, Index: model.IDIndex, Once: true, Model: &mongo.UpdateOneModel{
			Filter: bson.D{{Key: "_id", Value: model.Eq(n.ID)}, {Key: t.Links.Change, Value: mql.Op("$not", mql.Op("$gt", change))}},
			Update: mql.Op("$set", bson.D{{Key: t.Links.Order, Value: keys[i]}, {Key: t.Links.Change, Value: change}}),
		}})
	}
	return steps
}

// fit returns an error when the representation can't have a node at a spot.
func (t *Tree) fit(ctx context.Context, db model.DB, n Node, s spot) error {
	if _, err := t.Rep.derive(n, s); err != nil {
		return err
	}
	return t.free(ctx, db, n, s)
}

// free returns an error when another node takes a spot, other than those that are leaving it.
func (t *Tree) free(ctx context.Context, db model.DB, n Node, s spot, leaving ...Node) error {
	filter := t.Rep.taken(n, s)
	if filter == nil {
		return nil
	}
	found, err := t.Nodes(ctx, db, Match("", filter, limit(1+len(leaving))))
	for _, f := range found {
		if !slices.ContainsFunc(leaving, func(n Node) bool { return n.Key() == f.Key() }) {
			return fmt.Errorf("%w: sibling %s has the same segment", forest.ErrSegment, model.Shell(f.ID))
		}
	}
	return err
}

// Insert is the change that stores a document at a place.
func (t *Tree) Insert(doc bson.Raw, at forest.Place[bson.RawValue], err error) model.Change[any] {
	c := t.Changing(func(ctx context.Context, db model.DB, s *State) error {
		n, err := t.Read(doc)
		if err != nil {
			return err
		}
		s.node, s.fresh = n, true
		taken, ref, err := t.and(ctx, db, n.ID, at)
		if err == nil && taken != nil {
			err = t.taken(n.ID)
		}
		if err != nil {
			return err
		}
		s.to, err = t.resolve(ctx, db, at, &n, ref)
		if r, ok := t.Rep.(roomer); ok && err == nil {
			err = r.around(ctx, db, n, &s.to, false)
		}
		if err == nil {
			err = t.fit(ctx, db, n, s.to)
		}
		return err
	}, t.insert)
	c.Err = err
	return c
}

// Move is the change that takes a node to a place.
func (t *Tree) Move(id bson.RawValue, to forest.Place[bson.RawValue], err error) model.Change[any] {
	c := t.Changing(func(ctx context.Context, db model.DB, s *State) error {
		found, ref, err := t.and(ctx, db, id, to)
		if err == nil && found == nil {
			err = t.missing(id)
		}
		if err == nil {
			err = t.Rep.Sound(*found)
		}
		if err != nil {
			return err
		}
		n := *found
		s.node = n
		if !to.At.Root() && bsonval.Key(to.Ref) == n.Key() {
			if s.still = to.At == forest.Before || to.At == forest.After; !s.still {
				return fmt.Errorf("%w: %s %s itself", forest.ErrCycle, model.Shell(id), to.At)
			}
			return nil
		}
		s.to, err = t.resolve(ctx, db, to, &n, ref)
		if err == nil {
			err = t.checkCycle(ctx, db, n, s.to)
		}
		s.to.among = n.under(s.to.parent)
		if s.still = err == nil && n.stays(s.to); err != nil || s.still {
			return err
		}
		if r, ok := t.Rep.(roomer); ok {
			if err := r.around(ctx, db, n, &s.to, true); err != nil {
				return err
			}
		}
		return t.fit(ctx, db, n, s.to)
	}, t.moveTo)
	c.Err = err
	return c
}

// checkCycle asks for the new parent's ancestors, if its document doesn't tell them.
func (t *Tree) checkCycle(ctx context.Context, db model.DB, n Node, s spot) error {
	if s.parent == nil {
		return nil
	}
	in, known := t.Rep.within(*s.parent, n)
	if !in && !known {
		above, err := t.Nodes(ctx, db, t.Rep.Above(*s.parent))
		if err != nil {
			return err
		}
		in = slices.ContainsFunc(above, func(a Node) bool { return a.Key() == n.Key() })
	}
	if in {
		return fmt.Errorf("%w: %s under %s", forest.ErrCycle, model.Shell(n.ID), model.Shell(s.parent.ID))
	}
	return nil
}
