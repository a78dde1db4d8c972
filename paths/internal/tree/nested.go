package tree

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// NestedSpec is the shell's NestedSetSpec, without what all trees have.
type NestedSpec struct {
	Left, Right, Depth string
	Gap                int64
	Direct             bool
}

// Nested declares a tree whose nodes hold the numbers of a nested set.
func Nested(d Declared, spec NestedSpec) *Tree {
	t := d.tree("NestedSet")
	s := &nestedSet{
		Tree: t, left: cmp.Or(spec.Left, "left"), right: cmp.Or(spec.Right, "right"), depth: cmp.Or(spec.Depth, "depth"),
		gap: spec.Gap, direct: spec.Direct,
	}
	var types [3]core.Field
	for i, path := range []string{s.left, s.right, s.depth} {
		types[i] = t.MustField(path)
	}
	s.Check(types)
	left := t.uniqueIndex(s.left)
	if s.direct { // other keys, so that one collection can have the unique index too, during a conversion
		left = model.NewIndex(t.Collection, bson.D{{Key: s.left, Value: 1}, {Key: s.right, Value: 1}})
	}
	left.Why = "descendants"
	right := model.NewIndex(t.Collection, bson.D{{Key: s.right, Value: 1}, {Key: s.left, Value: 1}})
	right.Why = "ancestors, and what is shifted"
	t.Indexes = append(t.Indexes, left, right)
	t.fields = []string{s.left, s.right, s.depth}
	t.Rep = s
	return t
}

// maxGap keeps the numbers of 2²⁹ nodes within int64.
const maxGap = 1 << 32

// maxNumber is the greatest number that is given out: beyond it no shift can go wrong.
const maxNumber = math.MaxInt64 / 2

// Check checks a declaration, whose fields are left, right and depth, and completes it.
func (t *nestedSet) Check(fields [3]core.Field) {
	refuse := func(remedy, format string, args ...any) {
		core.Fail(fmt.Sprintf(format, args...), "NewNestedSet of "+t.Collection, remedy)
	}
	taken := []string{"_id", t.Links.Parent, t.Links.Order, t.Links.Change}
	for i, f := range fields {
		kinds, what := []reflect.Kind{reflect.Int64}, "an int64"
		if i == 2 {
			kinds, what = append(kinds, reflect.Int, reflect.Int32), "an integer"
		}
		if !f.Open && (f.Arrays > 0 || !slices.Contains(kinds, f.Type.Kind())) {
			refuse("name another field, or change its type", "%q is a %s, not %s", f.Path, f.Type, what)
		}
		if slices.Contains(taken, f.Path) {
			refuse("give each a field of its own", "%q is given for two fields of the tree", f.Path)
		}
		taken = append(taken, f.Path)
	}
	t.wide = !fields[2].Open && fields[2].Type.Kind() == reflect.Int64
	if t.gap < 0 || t.gap > maxGap {
		refuse("give 1 (dense) to 4294967296", "Gap is %d", t.gap)
	}
	t.gap = max(t.gap, 1)
}

// nestedSet is what [NewNestedSet] declares, without types.
type nestedSet struct {
	*Tree
	left, right, depth string // paths
	gap                int64
	direct             bool
	wide               bool // depths are stored as int64
}

// Sound is left to the plans: between both updates of a shift, queries meet numbers that no plan can work with.
func (t *nestedSet) Sound(Node) error { return nil }

// span is what a node's document holds beside its links.
type span struct{ left, right, depth int64 }

// span reads a node's numbers. Those that can't be worked with are an error.
func (t *nestedSet) span(n Node) (span, error) {
	var s span
	for _, f := range []struct {
		path string
		to   *int64
	}{{t.left, &s.left}, {t.right, &s.right}, {t.depth, &s.depth}} {
		v, _ := core.ValueAt(n.Raw, f.path)
		i, ok := v.AsInt64OK()
		if !ok && (v.Type != 0 || f.to != &s.depth) { // a root's depth may be left out, where it is tagged omitempty
			return s, t.Refuse(f.path, n.ID, "is the _id of a document without a number in this field: repair it with Tree.Checks")
		}
		*f.to = i
	}
	switch {
	case s.left < 0 && s.right < s.left:
		return s, t.Refuse(t.left, s.left, "is negative: a change of "+model.Shell(n.ID)+" is in progress, or was interrupted; the next change of the tree finishes it")
	case s.left < 1 || s.right <= s.left || s.right > maxNumber:
		return s, t.Refuse(t.left, n.ID, fmt.Sprintf("is the _id of a document with the invalid numbers %d and %d: repair it with Tree.Checks", s.left, s.right))
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

func (t *nestedSet) byLeft() string  { return t.Indexes[1].Name }
func (t *nestedSet) byRight() string { return t.Indexes[2].Name }

func (t *nestedSet) taken(Node, spot) bson.D { return nil }

func (t *nestedSet) within(n, top Node) (is, known bool) {
	in, err := t.span(n)
	around, errTop := t.span(top)
	return n.Key() == top.Key() || err == nil && errTop == nil && around.left < in.left && in.right < around.right, true
}

// Above asks by both numbers, root first.
func (t *nestedSet) Above(n Node) Source {
	own, err := t.span(n)
	if err != nil {
		return t.nothing()
	}
	return Match(t.byRight(), bson.D{
		{Key: t.right, Value: mql.Op("$gt", own.right)}, {Key: t.left, Value: bson.D{{Key: "$gt", Value: int64(0)}, {Key: "$lt", Value: own.left}}},
	}, sortBy(t.left, 1))
}

// Below asks for a range of left numbers, in preorder.
func (t *nestedSet) Below(n Node, depth int) Source {
	own, err := t.span(n)
	if err != nil {
		return t.nothing()
	}
	filter := bson.D{between(t.left, own.left+1, own.right-1)}
	if depth > 0 {
		filter = append(filter, mql.E(t.depth, mql.Op("$lte", own.depth+int64(depth))))
	}
	return Match(t.byLeft(), filter, sortBy(t.left, 1))
}

// nothing is the query for a node without numbers.
func (t *nestedSet) nothing() Source { return Match(t.byLeft(), bson.D{between(t.left, 1, 0)}) }

// end stands for the number after all others.
const end = math.MaxInt64

// between matches the numbers from one to another, both included.
func between(path string, from, to int64) bson.E {
	bounds := mql.Op("$gte", from)
	if to != end {
		bounds = append(bounds, mql.E("$lte", to))
	}
	return mql.E(path, bounds)
}

// Parked is a negative left number that no change gives, and no other node that is parked.
func (t *nestedSet) Parked(_ Node, want bson.D) bson.D {
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

// denseLeaves are known by their own numbers: the right one follows the left.
func (t *nestedSet) denseLeaves(n Node) Source {
	own, err := t.span(n)
	if err != nil {
		return t.nothing()
	}
	leaf := mql.Op("$eq", mql.Op("$subtract", "$"+t.right, "$"+t.left), 1)
	return Match(t.byLeft(), bson.D{between(t.left, own.left+1, own.right-1), mql.E("$expr", leaf)}, sortBy(t.left, 1))
}
