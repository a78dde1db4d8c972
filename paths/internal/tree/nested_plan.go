package tree

// The steps of a nested set's changes: where a node fits, and which numbers shift for it.

import (
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A room is where a node's numbers can be: above after and below before, with no other
// number between them. 0 and end are the bounds at the ends of the forest.
type room struct {
	after, before int64 // 0 and end at the ends of the forest
	depth         int64
}

// findRoom returns the room of a spot, from the numbers of the parent and the siblings.
func (t *nestedSet) findRoom(s spot) (room, error) {
	r := room{before: end}
	if s.parent != nil {
		p, err := t.readSpan(*s.parent)
		if err != nil {
			return r, err
		}
		r = room{p.left, p.right, p.depth + 1}
	}
	if s.prev != nil {
		p, err := t.readSpan(*s.prev)
		if err != nil {
			return r, err
		}
		r.after = p.right
	}
	if s.next != nil {
		n, err := t.readSpan(*s.next)
		if err != nil {
			return r, err
		}
		r.before = n.left
	}
	if r.after >= r.before {
		return r, t.Refuse(
			t.left, r.before,
			"isn't above the previous number, so numbers and parent links disagree: repair them with Tree.Checks",
		)
	}
	return r, nil
}

// numberLeaf returns the numbers of a new leaf in a room. Later numbers are shifted by
// by, which is 0 if the room is wide enough. With gaps, the leaf's numbers divide the
// room in three equal parts, so that nodes before, in and after the leaf have room.
func (t *nestedSet) numberLeaf(r room) (s span, by int64, err error) {
	d := t.gap
	if r.before == end {
		if r.after > maxNumber-2*t.gap {
			return s, 0, t.Refuse(
				t.left, r.after, "is the last available number: the repair of Tree.Checks gives new numbers",
			)
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

// deriveFields returns the fields of a new leaf as if nothing were shifted. checkFit uses
// it to find errors; planInsertion stores the fields.
func (t *nestedSet) deriveFields(_ Node, s spot) (bson.D, error) {
	r, err := t.findRoom(s)
	if err != nil {
		return nil, err
	}
	numbers, _, err := t.numberLeaf(r)
	return t.encodeSpan(numbers), err
}

// planInsertion stores the new node with negative numbers if others are shifted, because
// its number may still be another node's. The last step turns all numbers of this change.
func (t *nestedSet) planInsertion(_ Node, s spot, change int64) (bson.D, []model.Step, error) {
	r, err := t.findRoom(s)
	if err != nil {
		return nil, nil, err
	}
	if s.to > 0 {
		given, steps, turned, err := t.renumberRange(make([]Node, 1), true, s, change)
		if err != nil {
			return nil, nil, err
		}
		if given[0].depth = r.depth; turned {
			given[0].left, given[0].right, steps = -given[0].left, -given[0].right, append(steps, t.turnNumbers(change))
		}
		return t.encodeSpan(given[0]), steps, nil
	}
	numbers, by, err := t.numberLeaf(r)
	steps := t.planShift(shift{bands: []band{{from: r.after + 1, to: end, by: by}}, change: change})
	if len(steps) > 1 {
		numbers.left, numbers.right = -numbers.left, -numbers.right
	}
	return t.encodeSpan(numbers), steps, err
}

// refusePlan returns a step that is never sent, and gives its error when the plan is run.
func (t *nestedSet) refusePlan(err error) []model.Step {
	return []model.Step{model.Refused(t.Collection, err)}
}

// planMove writes only the links if the node's span already lies in the room. If
// readAround found a range to renumber, the moved and the near nodes are written one by
// one. Else the subtree, and the numbers on its way, are shifted.
func (t *nestedSet) planMove(n Node, s spot, change int64) []model.Step {
	own, err := t.readSpan(n)
	r, errTo := t.findRoom(s)
	if err == nil {
		err = errTo
	}
	if err != nil {
		return t.refusePlan(err)
	}
	if r.after < own.left && own.right < r.before {
		return []model.Step{t.relinkNode(n, s, change)} // between the same numbers
	}
	if s.to > 0 {
		return t.moveRenumbered(n, own, s, change)
	}
	to := shift{links: t.setMovedLinks(n, s, change), change: change}
	to.bands, to.whole = t.chooseBands(own, r)
	return t.planShift(to)
}

// chooseBands returns the bands that take a subtree into a room. whole is true if the
// subtree fits into unused numbers, and nothing else is shifted. Otherwise the subtree
// and the numbers between its old and new place change places: two bands, in ascending
// order.
func (t *nestedSet) chooseBands(own span, r room) (bands []band, whole bool) {
	width, depth := own.right-own.left+1, r.depth-own.depth
	moved := band{from: own.left, to: own.right, depth: depth}
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

// planDissolve shifts the children before the node is deleted, but deletes the node
// before the shifted numbers turn positive: a child may come to have the node's number.
func (t *nestedSet) planDissolve(n Node, children []Node, to []spot, change int64) []model.Step {
	own, err := t.readSpan(n)
	r, errTo := t.findRoom(to[0])
	if err == nil {
		err = errTo
	}
	if err != nil {
		return t.refusePlan(err)
	}
	width := own.right - own.left + 1
	inner := band{from: own.left + 1, to: own.right - 1, depth: r.depth - own.depth - 1}
	s := shift{but: &n, change: change}
	// away: the children go behind all other nodes (Rootify).
	switch away := r.after > own.right; {
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
	steps := t.planShift(s)
	rest := slices.Concat(t.relinkNodes(children, to, change), t.deleteByID(n, change))
	return slices.Insert(steps, min(1, len(steps)), rest...)
}

// planSubtreeDelete skips nodes that this change wrote: when the plan runs again, the
// numbers of the deleted subtree can be those of shifted nodes.
func (t *nestedSet) planSubtreeDelete(n Node, _ []Node, change int64) []model.Step {
	own, err := t.readSpan(n)
	if err != nil {
		return t.refusePlan(err)
	}
	filter := bson.D{matchBetween(t.left, own.left, own.right), t.matchChangedBefore(change)}
	del := model.Write{
		Collection: t.Collection, Index: t.nameLeftIndex(), Idempotent: true,
		Model: &mongo.DeleteManyModel{Filter: filter},
	}
	return append([]model.Step{del}, t.closeRoom(own, change)...)
}

// planLeafDelete deletes the node, and closes its room in a dense set.
func (t *nestedSet) planLeafDelete(n Node, change int64) []model.Step {
	own, err := t.readSpan(n)
	if err != nil {
		return t.refusePlan(err)
	}
	return append(t.deleteByID(n, change), t.closeRoom(own, change)...)
}

// closeRoom shifts the later numbers down by the width of a deleted span, in a dense set.
func (t *nestedSet) closeRoom(own span, change int64) []model.Step {
	if t.gap > 1 {
		return nil
	}
	return t.planShift(
		shift{bands: []band{{from: own.right + 1, to: end, by: own.left - own.right - 1}}, change: change},
	)
}
