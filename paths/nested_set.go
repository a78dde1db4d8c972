package paths

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// NestedSet is a tree whose nodes hold two numbers, left and right, that lie around the numbers of all nodes below: a node's
// descendants are those whose left number is between its own two. All roots of the collection share one numbering, which begins
// at 1. A subtree of any depth is one range of one index, already in preorder; the price is paid by whoever writes: an insert or
// a move shifts the numbers of other nodes.
//
// With a Gap of 1 the numbers are dense: an insert shifts all that comes after it, and the ancestors' right numbers; a delete
// closes its room, and a move writes the nodes between the old place and the new. A larger Gap leaves numbers free: most inserts then
// write their own document only, a move writes the subtree only, with numbers closer together where the gap is narrow, and a delete
// leaves its room. Where a gap is used up, [Tree] spreads the numbers of the smallest range around it that has room, some ten
// documents as a rule. It shifts all numbers on the way only for a subtree of 1,000 nodes that doesn't fit, where 256 numbers on
// each side leave no room, and in the plans of [NestedSet.Insert] and [NestedSet.Move], which read nothing. What is appended after
// the last root shifts nothing.
//
// Numbers are shifted in two updates, of which the first writes the new numbers as negative ones, and the second turns their
// sign: so two documents never have one left number, which a unique index holds to. Each marks what it wrote with the change's
// number, so that it can be cut anywhere, and be run again. Nodes whose right number alone changes, which are ancestors, are
// written once. A node that is inserted before others comes with negative numbers, and is turned with them. With Direct the numbers
// are shifted in one update, which no unique index stands.
//
// What a reader can see. Between both updates, the nodes whose left number changes have negative numbers: queries by ranges, which
// are all here, don't find them, and find all others where they belong. While one of the updates runs, some nodes have their new
// numbers and some not yet: then a range can hold a node that doesn't belong there too. With Direct this is so while the one
// update runs, and from an insert before others to the end of its update. [Tree.Settled] reads when no change is being written; a
// transaction with snapshot isolation reads one moment, which can be one in the middle of it.
//
// Its indexes are on the left number, which is unique but with Direct: for descendants; and on the right number and the left: for
// ancestors, and for what is shifted. Ancestors are found among the keys of all nodes that end after the node.
//
// Costs, of the nodes alone; each shift of numbers is one command, of both updates:
//
//	Insert                 1 document, if it comes last or into a gap; else 2, 2 for each node after it and 1 for each ancestor
//	Move                   2 documents for each node of the subtree and each on the way, 1 for each ancestor
//	Move into a gap        1 document for each node of the subtree
//	where a gap is full    2 documents for the new node or each of the subtree, and up to 2 for each node of the range that is spread
//	Delete with Subtree    1 for each node of the subtree; 2 for each node after it and 1 for each ancestor, where numbers are dense
//	Delete that dissolves  as Move of all children, and 1 document for each child
//	Descendants, Leaves    one command, by the index on the left number
//
// With Direct, read 1 for 2. The repair of a tree with gaps keeps the numbers that are in order, and gives numbers in between to the
// others; where they don't fit, all are given anew.
//
// Sources: "Nested Sets" of https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/; "Trees in SQL", Joe
// Celko, 1996;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-nested-sets/.
type NestedSet[D, K any] struct{ planner[D, K] }

// NestedSetSpec says in which fields a [NestedSet] is kept, and how.
type NestedSetSpec struct {
	Links
	Left  string // an int64; "" means "left"
	Right string // an int64; "" means "right"
	Depth string // an int, int32 or int64, the number of a node's ancestors; "" means "depth"

	// Gap is the distance of the numbers that are given out: 1 is dense. 0 means 1; it is at most 2³².
	Gap int64

	// Direct shifts numbers in one update instead of two, and goes without a unique index.
	Direct bool
}

// NewNestedSet declares a tree by nested sets. It panics with a [*model.DeclarationError] when the documents don't have the fields,
// or have them with other types, or the gap is negative or too large.
func NewNestedSet[D, K any](c *model.Collection[D, K], spec NestedSetSpec) *NestedSet[D, K] {
	t := declareTree(c, spec.Links, "NestedSet")
	s := &nestedSet{tree: t, left: spec.Left, right: spec.Right, depth: spec.Depth, gap: spec.Gap, direct: spec.Direct}
	for p, name := range map[*string]string{&s.left: "left", &s.right: "right", &s.depth: "depth"} {
		if *p == "" {
			*p = name
		}
	}
	var types [3]model.Field
	for i, path := range []string{s.left, s.right, s.depth} {
		types[i] = model.MustField(c, path)
	}
	s.check(types)
	left := model.NewIndex(t.docs, bson.D{{Key: s.left, Value: 1}})
	left.Unique, left.Why = !s.direct, "descendants"
	right := model.NewIndex(t.docs, bson.D{{Key: s.right, Value: 1}, {Key: s.left, Value: 1}})
	right.Why = "ancestors, and what is shifted"
	t.indexes = append(t.indexes, left, right)
	t.fields = []string{s.left, s.right, s.depth}
	t.rep = s
	return &NestedSet[D, K]{planner[D, K]{c, t}}
}

// maxGap keeps the numbers of 2²⁹ nodes within int64.
const maxGap = 1 << 32

// maxNumber is the greatest number that is given out: beyond it no shift can go wrong.
const maxNumber = math.MaxInt64 / 2

// check checks a declaration, whose fields are left, right and depth, and completes it.
func (t *nestedSet) check(fields [3]model.Field) {
	refuse := func(remedy, format string, args ...any) {
		panic(&model.DeclarationError{Problem: fmt.Sprintf(format, args...), Place: "NewNestedSet of " + t.docs, Remedy: remedy})
	}
	taken := []string{"_id", t.links.Parent, t.links.Order, t.links.Change}
	for i, f := range fields {
		kinds, what := []reflect.Kind{reflect.Int64}, "an int64"
		if i == 2 {
			kinds, what = append(kinds, reflect.Int, reflect.Int32), "an integer"
		}
		if !f.Open && (f.Arrays > 0 || !slices.Contains(kinds, f.Type.Kind())) {
			refuse("name another field, or change its type", "%q is a %s, not %s", f.Path, f.Type, what)
		}
		if slices.Contains(taken, f.Path) {
			refuse("give each its own field", "%q holds two things", f.Path)
		}
		taken = append(taken, f.Path)
	}
	t.wide = !fields[2].Open && fields[2].Type.Kind() == reflect.Int64
	if t.gap < 0 || t.gap > maxGap {
		refuse("choose a gap from 1, which is dense, to 4294967296", "a gap of %d", t.gap)
	}
	t.gap = max(t.gap, 1)
}

// nestedSet is the core of [NestedSet].
type nestedSet struct {
	*tree
	left, right, depth string // paths
	gap                int64
	direct             bool
	wide               bool // depths are stored as int64
}

// sound is left to the plans: between both updates of a shift, queries meet numbers that no plan can work with.
func (t *nestedSet) sound(node) error { return nil }

// span is what a node's document holds beside its links.
type span struct{ left, right, depth int64 }

// span reads a node's numbers. Those that can't be worked with are an error.
func (t *nestedSet) span(n node) (span, error) {
	var s span
	for _, f := range []struct {
		path string
		to   *int64
	}{{t.left, &s.left}, {t.right, &s.right}, {t.depth, &s.depth}} {
		v, _ := model.ValueAt(n.raw, f.path)
		i, ok := v.AsInt64OK()
		if !ok && (v.Type != 0 || f.to != &s.depth) { // a root's depth may be left out, where it is tagged omitempty
			return s, t.refused(f.path, n.id, "is the _id of a document that has no number there: Repair mends it")
		}
		*f.to = i
	}
	switch {
	case s.left < 0 && s.right < s.left:
		return s, t.refused(t.left, s.left, "is negative: a change of "+text(n.id)+" was begun, and is finished by the next")
	case s.left < 1 || s.right <= s.left || s.right > maxNumber:
		return s, t.refused(t.left, n.id, fmt.Sprintf("is the _id of a document that can't have %d here and %d as its right number: Repair mends it", s.left, s.right))
	}
	return s, nil
}

// stored are a node's fields.
func (t *nestedSet) stored(s span) bson.D {
	depth := any(int32(s.depth))
	if t.wide {
		depth = s.depth
	}
	return bson.D{{Key: t.left, Value: s.left}, {Key: t.right, Value: s.right}, {Key: t.depth, Value: depth}}
}

func (t *nestedSet) byLeft() string  { return t.indexes[1].Name }
func (t *nestedSet) byRight() string { return t.indexes[2].Name }

func (t *nestedSet) taken(node, spot) bson.D { return nil }

func (t *nestedSet) within(n, top node) (is, known bool) {
	in, err := t.span(n)
	around, errTop := t.span(top)
	return n.key() == top.key() || err == nil && errTop == nil && around.left < in.left && in.right < around.right, true
}

// above asks by both numbers, root first.
func (t *nestedSet) above(n node) source {
	own, err := t.span(n)
	if err != nil {
		return t.nothing()
	}
	return match(t.byRight(), bson.D{
		{Key: t.right, Value: bson.D{{Key: "$gt", Value: own.right}}}, {Key: t.left, Value: bson.D{{Key: "$gt", Value: int64(0)}, {Key: "$lt", Value: own.left}}},
	}, sortBy(t.left, 1))
}

// below asks for a range of left numbers, in preorder.
func (t *nestedSet) below(n node, depth int) source {
	own, err := t.span(n)
	if err != nil {
		return t.nothing()
	}
	filter := bson.D{between(t.left, own.left+1, own.right-1)}
	if depth > 0 {
		filter = append(filter, bson.E{Key: t.depth, Value: bson.D{{Key: "$lte", Value: own.depth + int64(depth)}}})
	}
	return match(t.byLeft(), filter, sortBy(t.left, 1))
}

// nothing is the query for a node without numbers.
func (t *nestedSet) nothing() source { return match(t.byLeft(), bson.D{between(t.left, 1, 0)}) }

// end stands for the number after all others.
const end = math.MaxInt64

// between matches the numbers from one to another, both included.
func between(path string, from, to int64) bson.E {
	bounds := bson.D{{Key: "$gte", Value: from}}
	if to != end {
		bounds = append(bounds, bson.E{Key: "$lte", Value: to})
	}
	return bson.E{Key: path, Value: bounds}
}

// parked is a negative left number that no change gives, and no other node that is parked.
func (t *nestedSet) parked(_ node, want bson.D) bson.D {
	if t.direct {
		return nil
	}
	left := int64(0)
	for _, e := range want {
		if v, ok := e.Value.(bson.RawValue); ok && e.Key == t.left {
			left = v.AsInt64()
		}
	}
	return bson.D{{Key: t.left, Value: math.MinInt64 + left}}
}
