package tree

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

// Where a gap is too narrow for a node, [Tree] reads the numbers around it, and spreads those of the smallest range that has room:
// each document of it gets an update of its own.

// mostRenumbered is how many nodes are moved by new numbers, one by one. A larger subtree is shifted as a whole.
const mostRenumbered = 1000

// A numeral is one of a node's two numbers.
type numeral struct {
	value int64
	node  int // in a list of nodes
	right bool
}

// numerals are the numbers of nodes, in their order; false where some make no sense.
func (t *nestedSet) numerals(nodes []Node) ([]numeral, bool) {
	var out []numeral
	for i, n := range nodes {
		s, err := t.span(n)
		if err != nil {
			return nil, false
		}
		out = append(out, numeral{s.left, i, false}, numeral{s.right, i, true})
	}
	slices.SortFunc(out, func(a, b numeral) int { return cmp.Compare(a.value, b.value) })
	return out, true
}

// around reads what a spot needs for a node's numbers where gaps are left: nothing, if the node fits as it is; else the nodes that get
// new numbers. It leaves the spot as it is where no range near it has room, and for numbers that make no sense.
func (t *nestedSet) around(ctx context.Context, db model.DB, n Node, s *spot, moves bool) error {
	r, err := t.room(*s)
	if t.gap == 1 || err != nil || r.before == end || !moves && r.before-r.after >= 3 {
		return nil // the plan says what is wrong
	}
	var own span
	count := int64(2)
	var below []Node
	if moves {
		if own, err = t.span(n); err != nil || r.after < own.left && own.right < r.before {
			return nil
		}
		if _, whole := t.swap(own, r); whole {
			return nil
		}
		q := t.Below(n, 0)
		q.Pipeline = append(q.Pipeline, limit(mostRenumbered))
		if below, err = t.Nodes(ctx, db, q); err != nil || len(below) == mostRenumbered {
			return err
		}
		count += 2 * int64(len(below))
	}
	found := r.before-r.after > count
	if found {
		s.from, s.to = r.after, r.before
	}
	for _, try := range []struct{ read, wide int64 }{{8, 4}, {256, 4}, {256, 0}} {
		if found {
			break
		}
		near, lowest, highest, err := t.near(ctx, db, r, own, int(try.read))
		if err != nil {
			return err
		}
		found = t.window(s, near, r, [2]int64{lowest, highest}, count, try.wide)
	}
	if found {
		s.below = below
	}
	return nil
}

// near reads the nodes whose numbers come next to a room, on both sides, but for those of a subtree. All numbers from lowest to highest
// are theirs; 0 and end say that there are no others.
func (t *nestedSet) near(ctx context.Context, db model.DB, r room, but span, n int) (nodes []Node, lowest, highest int64, err error) {
	lowest, highest = 0, end
	seen := map[string]bool{}
	for _, q := range []struct {
		path, index string
		direction   int
	}{{t.left, t.byLeft(), 1}, {t.right, t.byRight(), 1}, {t.left, t.byLeft(), -1}, {t.right, t.byRight(), -1}} {
		bounds := mql.Op("$gt", r.after)
		if q.direction < 0 {
			bounds = bson.D{{Key: "$gt", Value: int64(0)}, {Key: "$lt", Value: r.before}}
		}
		if but.right > 0 {
			inside := bson.D{{Key: "$gte", Value: but.left}, {Key: "$lte", Value: but.right}}
			bounds = append(bounds, mql.E("$not", inside))
		}
		found, err := t.Nodes(ctx, db, Match(q.index, bson.D{{Key: q.path, Value: bounds}}, sortBy(q.path, q.direction), limit(n)))
		if err != nil {
			return nil, 0, 0, err
		}
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

// window chooses the smallest range around a room that holds its numbers and count more, and notes in the spot whose they are. The
// more numbers there are in a range, the further apart they have to be, by wide, but for a quarter of the gap: so that what is spread
// once takes many nodes.
func (t *nestedSet) window(s *spot, nodes []Node, r room, known [2]int64, count, wide int64) bool {
	all, ok := t.numerals(nodes)
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

// renumber spreads the numbers of a spot's range, with those of nodes that come to it: in the order that they have among themselves,
// or, where they have none, as those of one new node. It returns the numbers of the nodes that come, and the steps that write the
// others, and whether these are turned in the end.
func (t *nestedSet) renumber(come []Node, fresh bool, s spot, change int64) (numbers []span, steps []model.Step, turned bool, err error) {
	r, err := t.room(s)
	if err != nil {
		return nil, nil, false, err
	}
	inner := []numeral{{0, 0, false}, {0, 0, true}}
	sound := true
	if !fresh {
		inner, sound = t.numerals(come)
	}
	others, known := t.numerals(s.near)
	if !sound || !known {
		return nil, nil, false, t.Refuse(t.left, nil, "has invalid numbers around the place: repair them with Tree.Checks")
	}
	others = slices.DeleteFunc(others, func(x numeral) bool { return x.value <= s.from || x.value >= s.to })
	step := (s.to - s.from) / int64(len(others)+len(inner)+1)
	numbers, around := make([]span, len(come)), make([]span, len(s.near))
	for i, n := range s.near {
		around[i], _ = t.span(n)
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
		was, _ := t.span(n)
		if around[i] == was {
			continue
		}
		steps = append(steps, t.numbered(n, around[i], turned && around[i].left != was.left, nil, change))
	}
	return numbers, steps, turned, nil
}

// numbered is the write that gives a node other numbers, negative where they are to be turned, and fields.
func (t *nestedSet) numbered(n Node, s span, turned bool, fields bson.D, change int64) model.Write {
	if turned {
		s.left, s.right = -s.left, -s.right
	}
	set := slices.Concat(bson.D{{Key: t.left, Value: s.left}, {Key: t.right, Value: s.right}, {Key: t.Links.Change, Value: change}}, fields)
	return model.Write{Collection: t.Collection, Index: model.IDIndex, Once: true, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: model.Eq(n.ID)}, t.notYet(change)}, Update: mql.Op("$set", set),
	}}
}

// renumberedMove takes a node, with all below it, to a spot whose range was read.
func (t *nestedSet) renumberedMove(n Node, own span, s spot, change int64) []model.Step {
	moved := append([]Node{n}, s.below...)
	numbers, steps, turned, err := t.renumber(moved, false, s, change)
	if err != nil {
		return t.refuse(err)
	}
	r, _ := t.room(s)
	for i, m := range moved {
		was, _ := t.span(m)
		numbers[i].depth = was.depth + r.depth - own.depth
		var fields bson.D
		if depth := t.stored(numbers[i])[2]; numbers[i].depth != was.depth {
			fields = bson.D{depth}
		}
		if i == 0 {
			fields = append(fields, t.linked(s, change)[:2]...)
		}
		steps = append(steps, t.numbered(m, numbers[i], turned, fields, change))
	}
	if turned {
		steps = append(steps, t.turn(change))
	}
	return steps
}
