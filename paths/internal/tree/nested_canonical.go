package tree

// The numbers that follow from the links: for checks, repairs, Load and Convert.

import (
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ComputeFields returns dense numbers for a dense set. With gaps, it keeps the stored
// numbers as far as they are in order, because many numbers are right.
func (t *nestedSet) ComputeFields(f *forest.Forest[string], nodes map[string]Node) map[string]bson.D {
	out := make(map[string]bson.D, f.Len())
	var numbers map[string][2]int64
	if t.gap > 1 {
		numbers = t.keepNumbers(f, nodes)
	}
	if numbers == nil {
		numbers = f.NumberNodes(t.gap)
	}
	for id, depth := range f.WalkAll() {
		out[id] = t.encodeSpan(span{numbers[id][0], numbers[id][1], int64(depth)})
	}
	return out
}

// describeFitting says that a node's span lies in its parent's span, and after the span
// of the sibling before. So no node can be its own ancestor, and no number occurs twice.
// In a dense set the greatest number is twice the number of nodes: nothing else shows a
// gap in it.
func (t *nestedSet) describeFitting() fitting {
	left, right, depth := "$"+t.left, "$"+t.right, "$"+t.depth
	whole := bson.A{"int", "long"}
	isNumber := mql.Op(
		"$and", mql.Op("$in", mql.Op("$type", left), whole), mql.Op("$in", mql.Op("$type", right), whole),
		mql.Op("$in", mql.Op("$type", depth), whole),
	)
	above := "$$up."
	aboveDepth := mql.Op("$cond", mql.Op("$in", mql.Op("$type", above+t.depth), whole), above+t.depth, 0)
	f := fitting{
		root: mql.Op(
			"$and", isNumber, mql.Op("$gte", left, 1), mql.Op("$lt", left, right),
			mql.Op("$lte", right, int64(maxNumber)), mql.Op("$eq", depth, 0),
		),
		child: mql.Op("$and", isNumber, mql.Op("$lt", above+t.left, left), mql.Op("$lt", left, right), mql.Op(
			"$lt", right, above+t.right,
		),
			mql.Op("$eq", depth, mql.Op("$add", aboveDepth, 1))),
		prev: t.right, after: mql.Op("$lt", "$"+former, left),
	}
	if t.gap == 1 {
		total := bson.D{mql.E("_id", nil), mql.E("nodes", mql.Op("$sum", 1)), mql.E("last", mql.Op("$max", right))}
		f.more = []Source{{Pipeline: mongo.Pipeline{
			{mql.E("$group", total)},
			{mql.E("$match", bson.D{mql.E("$expr", mql.Op("$ne", "$last", mql.Op("$multiply", "$nodes", 2)))})},
		}}}
	}
	return f
}

// A side is one of a node's two numbers, in the order of the preorder walk.
type side struct {
	ID    string
	right int // 0 or 1
}

// keepNumbers keeps as many stored numbers as possible and puts the others into the gaps
// between them. It returns nil if nothing is stored or a gap is too narrow: then all
// nodes get new numbers. It walks the forest in preorder, opens a node, and closes it
// after its descendants.
func (t *nestedSet) keepNumbers(f *forest.Forest[string], nodes map[string]Node) map[string][2]int64 {
	sides := make([]side, 0, 2*f.Len())
	var open []string
	closeTo := func(depth int) {
		for len(open) > depth {
			sides = append(sides, side{open[len(open)-1], 1})
			open = open[:len(open)-1]
		}
	}
	for id, depth := range f.WalkAll() {
		closeTo(depth)
		sides, open = append(sides, side{id, 0}), append(open, id)
	}
	closeTo(0)
	values := make([]int64, len(sides))
	for i, s := range sides {
		v, _ := core.ValueAt(nodes[s.ID].Raw, [...]string{t.left, t.right}[s.right])
		if v.Type == bson.TypeInt32 || v.Type == bson.TypeInt64 {
			values[i] = v.AsInt64()
		}
	}
	if !t.fillNumbers(values, forest.MarkAscending(values, func(v int64) bool { return v >= 1 && v <= maxNumber })) {
		return nil
	}
	out := make(map[string][2]int64, f.Len())
	for i, s := range sides {
		n := out[s.ID]
		n[s.right] = values[i]
		out[s.ID] = n
	}
	return out
}

// fillNumbers sets each run of values that aren't kept: evenly between the kept values
// around it, or with the declared gap behind the last kept value. It returns false if a
// run doesn't fit.
func (t *nestedSet) fillNumbers(values []int64, keep []bool) bool {
	last := int64(0)
	for i := 0; i < len(values); i++ {
		if keep[i] {
			last = values[i]
			continue
		}
		n := slices.Index(keep[i:], true)
		step := t.gap
		switch {
		case n < 0 && i == 0:
			return false // nothing is stored
		case n < 0:
			n = len(values) - i
			if last > maxNumber-int64(n)*step {
				return false
			}
		default:
			if step = (values[i+n] - last) / int64(n+1); step < 1 {
				return false
			}
		}
		for j := range n {
			values[i+j] = last + int64(j+1)*step
		}
		i += n - 1
		last = values[i]
	}
	return true
}
