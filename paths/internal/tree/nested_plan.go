package tree

import (
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// room is where a node can be put: after one number and before another, with no other number between them.
type room struct {
	after, before int64 // 0 and end at the ends of the forest
	depth         int64
}

// room finds the numbers around a spot.
func (t *nestedSet) room(s spot) (room, error) {
	r := room{before: end}
	if s.parent != nil {
		p, err := t.span(*s.parent)
		if err != nil {
			return r, err
		}
		r = room{p.left, p.right, p.depth + 1}
	}
	if s.prev != nil {
		p, err := t.span(*s.prev)
		if err != nil {
			return r, err
		}
		r.after = p.right
	}
	if s.next != nil {
		n, err := t.span(*s.next)
		if err != nil {
			return r, err
		}
		r.before = n.left
	}
	if r.after >= r.before {
		return r, t.Refuse(t.left, r.before, "isn't above the previous number, so numbers and parent links disagree: repair them with Tree.Checks")
	}
	return r, nil
}

// leaf returns the numbers of a new node, and by how much all numbers after the room's first have to be shifted for it.
func (t *nestedSet) leaf(r room) (s span, by int64, err error) {
	d := t.gap
	if r.before == end {
		if r.after > maxNumber-2*t.gap {
			return s, 0, t.Refuse(t.left, r.after, "is the last available number: the repair of Tree.Checks gives new numbers")
		}
	} else {
		if r.before-r.after < 3 {
			by = 2 * t.gap
		}
		if d > 1 {
			d = (r.before + by - r.after) / 3
		}
	}
	return span{r.after + d, r.after + 2*d, r.depth}, by, nil
}

func (t *nestedSet) derive(_ Node, s spot) (bson.D, error) {
	r, err := t.room(s)
	if err != nil {
		return nil, err
	}
	numbers, _, err := t.leaf(r)
	return t.stored(numbers), err
}

// insertion begins with negative numbers where others are shifted, and ends when all are turned.
func (t *nestedSet) insertion(_ Node, s spot, change int64) (bson.D, []model.Step, error) {
	r, err := t.room(s)
	if err != nil {
		return nil, nil, err
	}
	if s.to > 0 {
		given, steps, turned, err := t.renumber(make([]Node, 1), true, s, change)
		if err != nil {
			return nil, nil, err
		}
		if given[0].depth = r.depth; turned {
			given[0].left, given[0].right, steps = -given[0].left, -given[0].right, append(steps, t.turn(change))
		}
		return t.stored(given[0]), steps, nil
	}
	numbers, by, err := t.leaf(r)
	steps := t.steps(shift{bands: []band{{from: r.after + 1, to: end, by: by}}, change: change})
	if len(steps) > 1 {
		numbers.left, numbers.right = -numbers.left, -numbers.right
	}
	return t.stored(numbers), steps, err
}

func (t *nestedSet) refuse(err error) []model.Step {
	return []model.Step{model.Refused(t.Collection, err)}
}

func (t *nestedSet) move(n Node, s spot, change int64) []model.Step {
	own, err := t.span(n)
	r, errTo := t.room(s)
	if err == nil {
		err = errTo
	}
	if err != nil {
		return t.refuse(err)
	}
	if r.after < own.left && own.right < r.before {
		return []model.Step{t.relink(n, s, change)} // between the same numbers
	}
	if s.to > 0 {
		return t.renumberedMove(n, own, s, change)
	}
	to := shift{links: t.movedLinks(n, s, change), change: change}
	to.bands, to.whole = t.swap(own, r)
	return t.steps(to)
}

// swap are the bands that take a subtree into a room: its own, if it fits there and numbers may be left free; else its own and that
// of all numbers on the way.
func (t *nestedSet) swap(own span, r room) (bands []band, whole bool) {
	width, depth := own.right-own.left+1, r.depth-own.depth
	moved := band{own.left, own.right, 0, depth}
	switch {
	case t.gap > 1 && r.before == end && r.after <= maxNumber-width-t.gap:
		moved.by = r.after + t.gap - own.left
		return []band{moved}, true
	case t.gap > 1 && r.before != end && r.before-r.after-1 >= width:
		moved.by = r.after + 1 + (r.before-r.after-1-width)/2 - own.left
		return []band{moved}, true
	case r.after > own.right:
		moved.by = r.after - own.right
		return []band{moved, {from: own.right + 1, to: r.after, by: -width}}, false
	default:
		moved.by = r.after + 1 - own.left
		return []band{{from: r.after + 1, to: own.left - 1, by: width}, moved}, false
	}
}

// dissolve shifts the children first: while the node is there, it takes a number that a child may come to have.
func (t *nestedSet) dissolve(n Node, children []Node, to []spot, change int64) []model.Step {
	own, err := t.span(n)
	r, errTo := t.room(to[0])
	if err == nil {
		err = errTo
	}
	if err != nil {
		return t.refuse(err)
	}
	width := own.right - own.left + 1
	inner := band{own.left + 1, own.right - 1, 0, r.depth - own.depth - 1}
	s := shift{but: &n, change: change}
	switch away := r.after > own.right; { // behind all else
	case away && t.gap > 1:
		inner.by = r.after + t.gap - 1 - own.left
		s.bands, s.whole = []band{inner}, true
	case away:
		inner.by = r.after - own.right - 1
		s.bands = []band{inner, {from: own.right + 1, to: end, by: -width}}
	case t.gap > 1:
		s.bands, s.whole = []band{inner}, true
	default:
		inner.by = -1
		s.bands = []band{inner, {from: own.right + 1, to: end, by: -2}}
	}
	steps := t.steps(s)
	rest := slices.Concat(t.relinkAll(children, to, change), t.deleteOne(n, change))
	return slices.Insert(steps, min(1, len(steps)), rest...)
}

// prune passes over what has the change's number: when it is run again, nodes may have come into the range.
func (t *nestedSet) prune(n Node, _ []Node, change int64) []model.Step {
	own, err := t.span(n)
	if err != nil {
		return t.refuse(err)
	}
	filter := bson.D{between(t.left, own.left, own.right), t.notYet(change)}
	del := model.Write{Collection: t.Collection, Index: t.byLeft(), Once: true, Model: &mongo.DeleteManyModel{Filter: filter}}
	return append([]model.Step{del}, t.closed(own, change)...)
}

func (t *nestedSet) removal(n Node, change int64) []model.Step {
	own, err := t.span(n)
	if err != nil {
		return t.refuse(err)
	}
	return append(t.deleteOne(n, change), t.closed(own, change)...)
}

// closed are the steps that close the room of what was deleted, if numbers are dense.
func (t *nestedSet) closed(own span, change int64) []model.Step {
	if t.gap > 1 {
		return nil
	}
	return t.steps(shift{bands: []band{{from: own.right + 1, to: end, by: own.left - own.right - 1}}, change: change})
}
