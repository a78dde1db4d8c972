package paths

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// State is what a change of a tree is decided from: documents, as they were read.
type State struct {
	Change int64    // the number that the change writes to each document that it touches
	Node   bson.Raw // what is inserted, moved or deleted

	Parent, Prev, Next bson.Raw   // around the new place; nil for none
	Siblings           []bson.Raw // in the new place, in order, where they get new order keys
	Children           []bson.Raw // of a node that is deleted, or whose children get new order keys
	Below              []bson.Raw // all below a node that is deleted, or gets new numbers, with them

	// Of a [NestedSet] with gaps: the range whose numbers are spread to make room, both ends excluded, and whose they are.
	Range [2]int64
	Near  []bson.Raw

	fresh bool // Node is a document of the caller's

	// Still says that the node is in its place already.
	Still bool

	Repair model.Plan // what mends the tree
}

// put notes a spot.
func (s *State) put(at spot) {
	s.Parent, s.Prev, s.Next, s.Siblings = rawOf(at.parent), rawOf(at.prev), rawOf(at.next), rawsOf(at.crowd)
	s.Range, s.Near, s.Below = [2]int64{at.from, at.to}, rawsOf(at.near), rawsOf(at.below)
}

func rawOf(n *node) bson.Raw {
	if n == nil {
		return nil
	}
	return n.raw
}

func rawsOf(nodes []node) []bson.Raw {
	var out []bson.Raw
	for _, n := range nodes {
		out = append(out, n.raw)
	}
	return out
}

// readAll reads documents' links.
func (t *tree) readAll(docs []bson.Raw) ([]node, error) {
	out := make([]node, len(docs))
	for i, doc := range docs {
		var err error
		if out[i], err = t.read(doc); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// spotOf is the spot that a state tells of.
func (t *tree) spotOf(s *State) (at spot, err error) {
	for doc, to := range map[*bson.Raw]**node{&s.Parent: &at.parent, &s.Prev: &at.prev, &s.Next: &at.next} {
		if *doc == nil {
			continue
		}
		n, err := t.read(*doc)
		if err != nil {
			return at, err
		}
		*to = &n
	}
	at.from, at.to = s.Range[0], s.Range[1]
	if at.near, err = t.readAll(s.Near); err == nil && at.to > 0 {
		at.below, err = t.readAll(s.Below)
	}
	if err == nil {
		err = t.orderOf(&at)
	}
	if err != nil || len(s.Siblings) == 0 {
		return at, err
	}
	if at.crowd, err = t.readAll(s.Siblings); err != nil {
		return at, err
	}
	for i, x := range at.crowd {
		if at.prev != nil && x.key() == at.prev.key() {
			at.at = i + 1
		}
	}
	at.order = Spread(len(at.crowd) + 1)[at.at]
	return at, nil
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
			err := read(ctx, db, &s)
			if err == nil && t.passed(&s) {
				err = t.goOn(ctx, db, lease, s.Change)
			}
			return s, err
		},
		Decide: func(s State) (model.Plan, error) { return decide(&s) },
	}
}

// there reads a node.
func (t *tree) there(ctx context.Context, db *mongo.Database, id bson.RawValue) (node, error) {
	found, err := t.nodes(ctx, db, t.byID(id))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%w: %s in %s", ErrNoNode, text(id), t.docs)
	}
	if err != nil {
		return node{}, err
	}
	return found[0], nil
}

// one reads a node that has what the representation keeps.
func (t *tree) one(ctx context.Context, db *mongo.Database, id bson.RawValue) (node, error) {
	n, err := t.there(ctx, db, id)
	if err != nil {
		return node{}, err
	}
	return n, t.rep.sound(n)
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
		s.crowd, err = t.nodes(ctx, db, t.children(under(s.parent), bson.E{Key: "_id", Value: bson.D{{Key: "$ne", Value: n.id}}}))
	}
	return s, err
}

// uncrowd are the writes that give the siblings around a spot their new order keys.
func (t *tree) uncrowd(s spot, change int64) []model.Step {
	var steps []model.Step
	keys := slices.Delete(Spread(len(s.crowd)+1), s.at, s.at+1)
	for i, n := range s.crowd {
		if n.order != keys[i] {
			steps = append(steps, t.reorder(n, keys[i], change))
		}
	}
	return steps
}

// reorder gives a node another order key, unless a later change wrote it. It marks the node as changed, so that
// it comes after the writes that pass over such nodes.
func (t *tree) reorder(n node, key string, change int64) model.Write {
	return model.Write{Collection: t.docs, Index: model.IDIndex, Once: true, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: model.Eq(n.id)}, t.notLater(change)},
		Update: bson.D{{Key: "$set", Value: bson.D{{Key: t.links.Order, Value: key}, {Key: t.links.Change, Value: change}}}},
	}}
}

// fit returns an error when the representation can't have a node at a spot.
func (t *tree) fit(ctx context.Context, db *mongo.Database, n node, s spot) error {
	if _, err := t.rep.derive(n, s); err != nil {
		return err
	}
	return t.free(ctx, db, n, s)
}

// free returns an error when another node takes a spot, other than those that are leaving it.
func (t *tree) free(ctx context.Context, db *mongo.Database, n node, s spot, leaving ...node) error {
	filter := t.rep.taken(n, s)
	if filter == nil {
		return nil
	}
	found, err := t.nodes(ctx, db, match("", filter, limit(1+len(leaving))))
	for _, f := range found {
		if !slices.ContainsFunc(leaving, func(n node) bool { return n.key() == f.key() }) {
			return fmt.Errorf("%w: %s has it in this place", ErrSegment, text(f.id))
		}
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
		s.Node, s.fresh = doc, true
		found, err := t.nodes(ctx, db, t.byID(n.id))
		if err == nil && len(found) > 0 {
			err = fmt.Errorf("%w: %s in %s", ErrExists, text(n.id), t.docs)
		}
		if err != nil {
			return err
		}
		to, err := t.resolve(ctx, db, at, &n)
		if r, ok := t.rep.(roomer); ok && err == nil {
			err = r.around(ctx, db, n, &to, false)
		}
		if err == nil {
			s.put(to)
			err = t.fit(ctx, db, n, to)
		}
		return err
	}, func(s *State) (model.Plan, error) {
		at, err := t.spotOf(s)
		if err != nil {
			return model.Plan{}, err
		}
		return t.insert(s.Node, at, s.Change)
	})
}

// moving is the change that takes a node to a place.
func (t *tree) moving(lease *model.Lease, id bson.RawValue, to place) model.Change[State] {
	return t.changing(lease, func(ctx context.Context, db *mongo.Database, s *State) error {
		n, err := t.one(ctx, db, id)
		if err != nil {
			return err
		}
		s.Node = n.raw
		if !to.at.root() && bsonval.Key(to.ref) == n.key() {
			if s.Still = to.at == before || to.at == after; !s.Still {
				return fmt.Errorf("%w: %s %s itself", ErrCycle, text(id), to.at)
			}
			return nil
		}
		at, err := t.resolve(ctx, db, to, &n)
		if err == nil {
			err = t.checkCycle(ctx, db, n, at)
		}
		if s.Still = err == nil && n.stays(at); err != nil || s.Still {
			return err
		}
		if r, ok := t.rep.(roomer); ok {
			if err := r.around(ctx, db, n, &at, true); err != nil {
				return err
			}
		}
		s.put(at)
		return t.fit(ctx, db, n, at)
	}, func(s *State) (model.Plan, error) {
		if s.Still {
			return model.Plan{}, nil
		}
		n, err := t.read(s.Node)
		if err != nil {
			return model.Plan{}, err
		}
		at, err := t.spotOf(s)
		if err != nil {
			return model.Plan{}, err
		}
		return t.moveTo(n, at, s.Change)
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
