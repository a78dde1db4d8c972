package tree

// The changes that insert and move a node: what they read, and the spot that they find.

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

// A State is what a change has read. Its Decide makes the plan from it alone.
type State struct {
	Change int64 // the number that the change writes to each document that it touches
	isRead bool  // false for a state that no change has read

	node    Node // the node that is inserted, moved, renamed or deleted
	isNew   bool // the node is the caller's document, not a stored one
	inPlace bool // the node is already at its spot: nothing is written
	to      spot
	// The children of a node that is deleted or whose children get new order keys; below
	// are the descendants of a node that is deleted with its subtree.
	children, below []Node
	// The plan of a repair or of an adoption.
	Repair model.Plan
}

// MakeChange makes a change under the tree's lease.
// Without the lease, when only the plan is wanted, the change number is one above the
// nodes' numbers.
func (t *Tree) MakeChange(
	read func(context.Context, model.DB, *State) error, decide func(State) (model.Plan, error),
) model.Change {
	return model.ChangeOf[State]{
		Name:  "tree " + t.Collection,
		Lease: t.Lease,
		Read: func(ctx context.Context, db model.DB) (State, error) {
			s := State{Change: model.Fence(ctx), isRead: true}
			err := read(ctx, db, &s)
			if s.Change == 0 { // without the lease, to see the plan
				for _, n := range s.listStoredNodes() {
					s.Change = max(s.Change, n.change+1)
				}
			}
			if err == nil && s.hasPassed() {
				err = t.raiseFence(ctx, db, s.Change)
			}
			return s, err
		},
		Decide: func(s State) (model.Plan, error) {
			if !s.isRead {
				return model.Plan{}, t.Refuse("state", nil, "must be the result of the change's Read")
			}
			if err := t.checkNumberIsNewer(s); err != nil {
				return model.Plan{}, err
			}
			return decide(s)
		},
	}.Change()
}

// readNode reads the tree's fields of a node.
func (t *Tree) readNode(ctx context.Context, db model.DB, id bson.RawValue) (Node, error) {
	found, err := t.ReadNodes(ctx, db, t.FindByID(id))
	if err == nil && len(found) == 0 {
		err = t.newMissingError(id)
	}
	if err != nil {
		return Node{}, err
	}
	return found[0], nil
}

// newMissingError is the error for a node that doesn't exist.
func (t *Tree) newMissingError(id bson.RawValue) error {
	return fmt.Errorf("%w: no node %s in %s", model.ErrNotFound, model.Shell(id), t.Collection)
}

// readNodeAndReference reads a node, and the node to which a place refers, in one query.
// A missing node gives nil. ref is also nil if the place refers to the node itself or to
// no node.
func (t *Tree) readNodeAndReference(
	ctx context.Context, db model.DB, id bson.RawValue, at forest.Place[bson.RawValue],
) (n, ref *Node, err error) {
	ids := []bson.RawValue{id}
	if !at.At.IsRoot() && bsonval.Key(at.Ref) != bsonval.Key(id) {
		ids = append(ids, at.Ref)
	}
	found, err := t.ReadNodes(ctx, db, t.FindByID(ids...))
	for i, f := range found {
		if f.Key() == bsonval.Key(id) {
			n = &found[i]
		} else {
			ref = &found[i]
		}
	}
	return n, ref, err
}

// ReadWholeNode reads a whole document. Its error tells a missing node and missing
// fields.
func (t *Tree) ReadWholeNode(ctx context.Context, db model.DB, id bson.RawValue) (Node, error) {
	found, err := t.readProjected(ctx, db, t.FindByID(id), nil)
	if err == nil && len(found) == 0 {
		err = t.newMissingError(id)
	}
	if err != nil {
		return Node{}, err
	}
	return found[0], t.Rep.CheckStored(found[0])
}

// readSoundNode reads the tree's fields of a node that must have the representation's
// fields.
func (t *Tree) readSoundNode(ctx context.Context, db model.DB, id bson.RawValue) (Node, error) {
	n, err := t.readNode(ctx, db, id)
	if err != nil {
		return Node{}, err
	}
	return n, t.Rep.CheckStored(n)
}

// readUnlessKnown is readSoundNode for a node that may have been read already.
func (t *Tree) readUnlessKnown(ctx context.Context, db model.DB, id bson.RawValue, n *Node) (Node, error) {
	if n == nil {
		return t.readSoundNode(ctx, db, id)
	}
	return *n, t.Rep.CheckStored(*n)
}

// resolvePlace finds the spot of a place for a node n, which doesn't count as its own
// sibling. known is the node to which the place refers, if it was read. If the order key
// would be too long, all siblings are read, and get new short keys in the same change.
func (t *Tree) resolvePlace(
	ctx context.Context, db model.DB, at forest.Place[bson.RawValue], n, known *Node,
) (spot, error) {
	var s spot
	nearest := func(key string, after bool) (*Node, error) {
		found, err := t.ReadNodes(ctx, db, t.findNearestSibling(EncodeParentID(s.parent), key, after, n.ID))
		if err != nil || len(found) == 0 {
			return nil, err
		}
		return &found[0], nil
	}
	var err error
	if !at.At.IsRoot() {
		ref, err := t.readUnlessKnown(ctx, db, at.Ref, known)
		if err != nil {
			return s, err
		}
		switch {
		case at.At == forest.FirstChild, at.At == forest.LastChild:
			s.parent = &ref
		case !ref.IsRoot():
			parent, err := t.readSoundNode(ctx, db, ref.Parent)
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
		err = t.chooseOrderKey(&s)
	}
	if err != nil || len(s.order) <= forest.LongKey {
		return s, err
	}
	s.crowd, err = t.ReadNodes(ctx, db, t.FindChildren(EncodeParentID(s.parent), mql.E("_id", mql.Op("$ne", n.ID))))
	for i, x := range s.crowd {
		if s.prev != nil && x.Key() == s.prev.Key() {
			s.at = i + 1
		}
	}
	s.order = forest.SpreadKeys(len(s.crowd) + 1)[s.at]
	return s, err
}

// respaceSiblings returns the writes of new order keys around a spot. They mark the
// siblings with the change number, so they come after the steps that skip marked nodes.
func (t *Tree) respaceSiblings(s spot, change int64) []model.Step {
	var steps []model.Step
	keys := slices.Delete(forest.SpreadKeys(len(s.crowd)+1), s.at, s.at+1)
	for i, n := range s.crowd {
		if n.Order == keys[i] {
			continue
		}
		set := bson.D{{Key: t.Links.Order, Value: keys[i]}, {Key: t.Links.Change, Value: change}}
		steps = append(steps, model.Write{
			Collection: t.Collection, Index: model.IDIndex, Idempotent: true,
			Model: &mongo.UpdateOneModel{
				Filter: bson.D{{Key: "_id", Value: mql.Eq(n.ID)}, t.matchNotChangedAfter(change)},
				Update: mql.Op("$set", set),
			},
		})
	}
	return steps
}

// checkFit returns an error if a node can't be at a spot.
func (t *Tree) checkFit(ctx context.Context, db model.DB, n Node, s spot) error {
	if _, err := t.Rep.deriveFields(n, s); err != nil {
		return err
	}
	return t.checkSpotFree(ctx, db, n, s)
}

// checkSpotFree returns an error if another node has what the node would get there, such
// as its path. Nodes that leave the spot in the same change don't count.
func (t *Tree) checkSpotFree(ctx context.Context, db model.DB, n Node, s spot, leaving ...Node) error {
	filter := t.Rep.matchConflict(n, s)
	if filter == nil {
		return nil
	}
	found, err := t.ReadNodes(ctx, db, Match("", filter, limitTo(1+len(leaving))))
	for _, f := range found {
		if !slices.ContainsFunc(leaving, func(n Node) bool { return n.Key() == f.Key() }) {
			return fmt.Errorf("%w: sibling %s has the same segment", forest.ErrSegment, model.Shell(f.ID))
		}
	}
	return err
}

// RefuseChange is a change that gives an error of its arguments, and sends nothing.
func (t *Tree) RefuseChange(err error) model.Change {
	c := t.MakeChange(nil, nil)
	c.Err = err
	return c
}

// InsertNode is the change that stores a document at a place.
func (t *Tree) InsertNode(doc bson.Raw, at forest.Place[bson.RawValue]) model.Change {
	read := func(ctx context.Context, db model.DB, s *State) error {
		n, err := t.ReadNode(doc)
		if err != nil {
			return err
		}
		s.node, s.isNew = n, true
		taken, ref, err := t.readNodeAndReference(ctx, db, n.ID, at)
		if err == nil && taken != nil {
			err = t.newTakenError(n.ID)
		}
		if err != nil {
			return err
		}
		s.to, err = t.resolvePlace(ctx, db, at, &n, ref)
		if r, ok := t.Rep.(roomer); ok && err == nil {
			err = r.readAround(ctx, db, n, &s.to, false)
		}
		if err == nil {
			err = t.checkFit(ctx, db, n, s.to)
		}
		return err
	}
	return t.MakeChange(read, t.decideInsert)
}

// MoveNode is the change that moves a node, with its subtree, to a place.
func (t *Tree) MoveNode(id bson.RawValue, to forest.Place[bson.RawValue]) model.Change {
	read := func(ctx context.Context, db model.DB, s *State) error {
		found, ref, err := t.readNodeAndReference(ctx, db, id, to)
		if err == nil && found == nil {
			err = t.newMissingError(id)
		}
		if err == nil {
			err = t.Rep.CheckStored(*found)
		}
		if err != nil {
			return err
		}
		n := *found
		s.node = n
		if !to.At.IsRoot() && bsonval.Key(to.Ref) == n.Key() {
			if s.inPlace = to.At == forest.Before || to.At == forest.After; !s.inPlace {
				return fmt.Errorf("%w: %s %s itself", forest.ErrCycle, model.Shell(id), to.At)
			}
			return nil
		}
		s.to, err = t.resolvePlace(ctx, db, to, &n, ref)
		if err == nil {
			err = t.checkCycle(ctx, db, n, s.to)
		}
		s.to.sameParent = n.isChildOf(s.to.parent)
		if s.inPlace = err == nil && n.isAtSpot(s.to); err != nil || s.inPlace {
			return err
		}
		if r, ok := t.Rep.(roomer); ok {
			if err := r.readAround(ctx, db, n, &s.to, true); err != nil {
				return err
			}
		}
		return t.checkFit(ctx, db, n, s.to)
	}
	return t.MakeChange(read, t.decideMove)
}

// checkCycle refuses a spot in the node's own subtree. If the parent's document doesn't
// show its ancestors, they are queried.
func (t *Tree) checkCycle(ctx context.Context, db model.DB, n Node, s spot) error {
	if s.parent == nil {
		return nil
	}
	in, known := t.Rep.isWithin(*s.parent, n)
	if !in && !known {
		above, err := t.ReadNodes(ctx, db, t.Rep.FindAncestors(*s.parent))
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
