package tree

// New numbers around a gap that is too narrow for a node. The change reads the nodes
// around the gap, chooses the smallest range of numbers that has room, and spreads the
// numbers in it evenly. Each renumbered document takes an update of its own, so the
// ranges are small.

import (
	"cmp"
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// mostRenumbered is the size of the largest subtree that moves by new numbers, one
// document after the other. A larger subtree is shifted by one update.
const mostRenumbered = 1000

// A numeral is one of a node's two numbers. node is an index in a list of nodes.
type numeral struct {
	value int64
	node  int // in a list of nodes
	right bool
}

// listNumerals returns the numbers of nodes in ascending order; false if a node's numbers
// can't be read.
func (t *nestedSet) listNumerals(nodes []Node) ([]numeral, bool) {
	var out []numeral
	for i, n := range nodes {
		s, err := t.readSpan(n)
		if err != nil {
			return nil, false
		}
		out = append(out, numeral{s.left, i, false}, numeral{s.right, i, true})
	}
	slices.SortFunc(out, func(a, b numeral) int { return cmp.Compare(a.value, b.value) })
	return out, true
}

// readAround finds the range to renumber for a spot, and notes it in the spot with the
// nodes that are in it. It notes nothing if the node fits without it, if no near range
// has room (the plan then shifts), or if numbers can't be read (the plan then refuses
// them).
func (t *nestedSet) readAround(ctx context.Context, db model.DB, n Node, s *spot, moves bool) error {
	r, err := t.findRoom(*s)
	if t.gap == 1 || err != nil || r.before == end || !moves && r.before-r.after >= 3 {
		return nil // the plan says what is wrong
	}
	var own span
	count := int64(2)
	var below []Node
	if moves {
		if own, err = t.readSpan(n); err != nil || r.after < own.left && own.right < r.before {
			return nil
		}
		if _, whole := t.chooseBands(own, r); whole {
			return nil
		}
		q := t.FindDescendants(n, 0)
		q.Pipeline = append(q.Pipeline, limitTo(mostRenumbered))
		if below, err = t.ReadNodes(ctx, db, q); err != nil || len(below) == mostRenumbered {
			return err
		}
		count += 2 * int64(len(below))
	}
	found := r.before-r.after > count
	if found {
		s.from, s.to = r.after, r.before
	}
	// First a few nodes and a wide spread, at last many nodes and any range that has
	// room.
	for _, try := range []struct{ read, wide int64 }{{8, 4}, {256, 4}, {256, 0}} {
		if found {
			break
		}
		near, lowest, highest, err := t.readNearNodes(ctx, db, r, own, int(try.read))
		if err != nil {
			return err
		}
		found = t.chooseWindow(s, near, r, [2]int64{lowest, highest}, count, try.wide)
	}
	if found {
		s.below = below
	}
	return nil
}

// readNearNodes reads the nodes with the next numbers on both sides of a room, except
// those of the span but. All stored numbers from lowest to highest are among them. 0 and
// end say that no other numbers exist on that side.
func (t *nestedSet) readNearNodes(
	ctx context.Context, db model.DB, r room, but span, n int,
) (nodes []Node, lowest, highest int64, err error) {
	lowest, highest = 0, end
	seen := map[string]bool{}
	for _, q := range []struct {
		path, index string
		direction   int
	}{
		{t.left, t.nameLeftIndex(), 1}, {t.right, t.nameRightIndex(), 1}, {t.left, t.nameLeftIndex(), -1},
		{t.right, t.nameRightIndex(), -1},
	} {
		bounds := mql.Op("$gt", r.after)
		if q.direction < 0 {
			bounds = bson.D{{Key: "$gt", Value: int64(0)}, {Key: "$lt", Value: r.before}}
		}
		if but.right > 0 {
			inside := bson.D{{Key: "$gte", Value: but.left}, {Key: "$lte", Value: but.right}}
			bounds = append(bounds, mql.E("$not", inside))
		}
		found, err := t.ReadNodes(
			ctx, db, Match(q.index, bson.D{{Key: q.path, Value: bounds}}, sortByField(q.path, q.direction), limitTo(n)),
		)
		if err != nil {
			return nil, 0, 0, err
		}
		// The answer may be incomplete behind its last number.
		if len(found) == n {
			v, _ := core.ValueAt(found[n-1].Raw, q.path)
			last, _ := v.AsInt64OK()
			if q.direction > 0 {
				highest = min(highest, last)
			} else {
				lowest = max(lowest, last)
			}
		}
		for _, f := range found {
			if !seen[f.Key()] {
				seen[f.Key()] = true
				nodes = append(nodes, f)
			}
		}
	}
	return nodes, lowest, highest, nil
}

// chooseWindow chooses the smallest range around a room with place for its own numbers
// and count more, and notes it in the spot. It tries 1, 2, 4 … numbers on one or both
// sides. The distance of the spread numbers must grow with the width by the factor wide,
// up to a quarter of the gap. So a range that was spread once takes many nodes before the
// next spread.
func (t *nestedSet) chooseWindow(s *spot, nodes []Node, r room, known [2]int64, count, wide int64) bool {
	all, ok := t.listNumerals(nodes)
	if !ok {
		return false
	}
	var down, up []numeral // away from the room
	for _, x := range all {
		switch {
		case x.value >= r.before && x.value <= known[1]:
			up = append(up, x)
		case x.value <= r.after && x.value >= known[0]:
			down = append(down, x)
		}
	}
	slices.Reverse(down)
	for w := 1; w < 2*max(len(down), len(up)); w *= 2 {
		for _, sides := range [3][2]int{{0, w}, {w, 0}, {w, w}} {
			i, j := min(sides[0], len(down)), min(sides[1], len(up))
			from, to := int64(0), int64(end)
			switch {
			case i < len(down):
				from = down[i].value
			case known[0] > 0:
				continue
			}
			switch {
			case j < len(up):
				to = up[j].value
			case known[1] < end || up[len(up)-1].value > maxNumber-t.gap*(count+1):
				continue
			default:
				to = up[len(up)-1].value + t.gap*(count+1)
			}
			if (to-from)/(int64(i+j)+count+1) < max(1, min(wide*int64(w), t.gap/4)) {
				continue
			}
			s.from, s.to, s.near = from, to, nil
			taken := map[int]bool{}
			for _, x := range append(down[:i:i], up[:j]...) {
				if !taken[x.node] {
					taken[x.node] = true
					s.near = append(s.near, nodes[x.node])
				}
			}
			return true
		}
	}
	return false
}

// renumberRange spreads the numbers of a spot's range, with the numbers of the nodes that
// come into it. Those keep their order among themselves; if fresh is true, come is one
// new node without numbers. It returns the numbers of these nodes, the steps that write
// the other nodes of the range, and whether the numbers are negative until a last step
// turns them.
func (t *nestedSet) renumberRange(
	come []Node, fresh bool, s spot, change int64,
) (numbers []span, steps []model.Step, turned bool, err error) {
	r, err := t.findRoom(s)
	if err != nil {
		return nil, nil, false, err
	}
	inner := []numeral{{0, 0, false}, {0, 0, true}}
	sound := true
	if !fresh {
		inner, sound = t.listNumerals(come)
	}
	others, known := t.listNumerals(s.near)
	if !sound || !known {
		return nil, nil, false, t.Refuse(
			t.left, nil, "has invalid numbers around the place: repair them with Tree.Checks",
		)
	}
	others = slices.DeleteFunc(others, func(x numeral) bool { return x.value <= s.from || x.value >= s.to })
	step := (s.to - s.from) / int64(len(others)+len(inner)+1)
	numbers, around := make([]span, len(come)), make([]span, len(s.near))
	for i, n := range s.near {
		around[i], _ = t.readSpan(n)
	}
	next := s.from
	give := func(to []span, x numeral) {
		if next += step; x.right {
			to[x.node].right = next
		} else {
			to[x.node].left = next
		}
	}
	at, _ := slices.BinarySearchFunc(others, r.before, func(x numeral, v int64) int { return cmp.Compare(x.value, v) })
	for _, x := range others[:at] {
		give(around, x)
	}
	for _, x := range inner {
		give(numbers, x)
	}
	for _, x := range others[at:] {
		give(around, x)
	}
	turned = len(s.near) > 0 && !t.direct
	for i, n := range s.near {
		was, _ := t.readSpan(n)
		if around[i] == was {
			continue
		}
		steps = append(steps, t.writeNumbers(n, around[i], turned && around[i].left != was.left, nil, change))
	}
	return numbers, steps, turned, nil
}

// writeNumbers is the write of a node's new numbers and other fields. The numbers are
// negative if turned is true: two nodes can exchange numbers, and the left number is
// unique.
func (t *nestedSet) writeNumbers(n Node, s span, turned bool, fields bson.D, change int64) model.Write {
	if turned {
		s.left, s.right = -s.left, -s.right
	}
	set := slices.Concat(
		bson.D{{Key: t.left, Value: s.left}, {Key: t.right, Value: s.right}, {Key: t.Links.Change, Value: change}},
		fields,
	)
	return model.Write{Collection: t.Collection, Index: model.IDIndex, Idempotent: true, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: mql.Eq(n.ID)}, t.matchChangedBefore(change)}, Update: mql.Op("$set", set),
	}}
}

// moveRenumbered moves a node and its descendants into the range that was read, one write
// for each document.
func (t *nestedSet) moveRenumbered(n Node, own span, s spot, change int64) []model.Step {
	moved := append([]Node{n}, s.below...)
	numbers, steps, turned, err := t.renumberRange(moved, false, s, change)
	if err != nil {
		return t.refusePlan(err)
	}
	r, _ := t.findRoom(s)
	for i, m := range moved {
		was, _ := t.readSpan(m)
		numbers[i].depth = was.depth + r.depth - own.depth
		var fields bson.D
		if depth := t.encodeSpan(numbers[i])[2]; numbers[i].depth != was.depth {
			fields = bson.D{depth}
		}
		if i == 0 {
			fields = append(fields, t.setLinks(s, change)[:2]...)
		}
		steps = append(steps, t.writeNumbers(m, numbers[i], turned, fields, change))
	}
	if turned {
		steps = append(steps, t.turnNumbers(change))
	}
	return steps
}
