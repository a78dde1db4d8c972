package tree

import (
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Canonical numbers are dense ones; where there are gaps, those that are stored, as far as they are in order.
func (t *nestedSet) Canonical(f *forest.Forest[string], nodes map[string]Node) map[string]bson.D {
	out := make(map[string]bson.D, f.Len())
	var numbers map[string][2]int64
	if t.gap > 1 {
		numbers = t.kept(f, nodes)
	}
	if numbers == nil {
		numbers = f.Numbers(t.gap)
	}
	for id, depth := range f.All() {
		out[id] = t.stored(span{numbers[id][0], numbers[id][1], int64(depth)})
	}
	return out
}

// fits says that a node's numbers lie within its parent's, and after those of the sibling before: so no node can be above itself,
// and no number comes twice. Dense numbers end with twice the number of nodes.
func (t *nestedSet) fits() fitting {
	left, right, depth := "$"+t.left, "$"+t.right, "$"+t.depth
	whole := bson.A{"int", "long"}
	isNumber := mql.Op("$and", mql.Op("$in", mql.Op("$type", left), whole), mql.Op("$in", mql.Op("$type", right), whole), mql.Op("$in", mql.Op("$type", depth), whole))
	above := "$$up."
	aboveDepth := mql.Op("$cond", mql.Op("$in", mql.Op("$type", above+t.depth), whole), above+t.depth, 0)
	f := fitting{
		root: mql.Op("$and", isNumber, mql.Op("$gte", left, 1), mql.Op("$lt", left, right), mql.Op("$lte", right, int64(maxNumber)), mql.Op("$eq", depth, 0)),
		child: mql.Op("$and", isNumber, mql.Op("$lt", above+t.left, left), mql.Op("$lt", left, right), mql.Op("$lt", right, above+t.right),
			mql.Op("$eq", depth, mql.Op("$add", aboveDepth, 1))),
		prev: t.right, after: mql.Op("$lt", "$"+former, left),
	}
	if t.gap == 1 {
		total := bson.D{mql.E("_id", nil), mql.E("nodes", mql.Op("$sum", 1)), mql.E("last", mql.Op("$max", right))}
		f.more = []Source{{Pipeline: mongo.Pipeline{
			{mql.E("$group", total)}, {mql.E("$match", bson.D{mql.E("$expr", mql.Op("$ne", "$last", mql.Op("$multiply", "$nodes", 2)))})},
		}}}
	}
	return f
}

// side is one of a node's two numbers.
type side struct {
	ID    string
	right int // 0 or 1
}

// kept are numbers of which as many as can be are those that are stored, and the others lie in the gaps between them; nil when
// nothing is stored, or a gap is too narrow.
func (t *nestedSet) kept(f *forest.Forest[string], nodes map[string]Node) map[string][2]int64 {
	sides := make([]side, 0, 2*f.Len())
	var open []string
	closeTo := func(depth int) {
		for len(open) > depth {
			sides = append(sides, side{open[len(open)-1], 1})
			open = open[:len(open)-1]
		}
	}
	for id, depth := range f.All() {
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
	if !t.fill(values, forest.Ascending(values, func(v int64) bool { return v >= 1 && v <= maxNumber })) {
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

// fill gives the values that aren't kept others, between those that are; false if they don't fit.
func (t *nestedSet) fill(values []int64, keep []bool) bool {
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
