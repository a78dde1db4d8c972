package tree

// The nested set: its declaration, its numbers in a document, and its queries.

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

// NestedSpec is the shell's NestedSetSpec, without the TreeSpec.
type NestedSpec struct {
	Left, Right, Depth string
	Gap                int64
	Direct             bool
}

// DeclareNestedSet declares a tree whose nodes store the two numbers of a preorder walk
// and their depth. One index finds descendants by their left number. The other finds
// ancestors, and the nodes to be shifted, by their right number.
func DeclareNestedSet(d Declared, spec NestedSpec) *Tree {
	t := d.declareTree("NestedSet")
	s := &nestedSet{
		Tree: t, left: cmp.Or(spec.Left, "left"), right: cmp.Or(spec.Right, "right"),
		depth: cmp.Or(spec.Depth, "depth"),
		gap:   spec.Gap, direct: spec.Direct,
	}
	var types [3]core.Field
	for i, path := range []string{s.left, s.right, s.depth} {
		types[i] = t.MustField(path)
	}
	s.checkDeclaration(types)
	left := t.makeUniqueIndex(s.left)
	// With other keys than the unique index, both can exist during a conversion.
	if s.direct {
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

// maxGap keeps the numbers of 2²⁹ nodes within an int64.
const maxGap = 1 << 32

// maxNumber is the greatest number that a node gets. Up to it, no shift overflows an
// int64.
const maxNumber = math.MaxInt64 / 2

// checkDeclaration checks the fields left, right and depth, in this order, and the gap.
func (t *nestedSet) checkDeclaration(fields [3]core.Field) {
	refuse := func(remedy, format string, args ...any) {
		core.Fail(fmt.Sprintf(format, args...), "NewNestedSet of "+t.Collection, remedy)
	}
	taken := []string{"_id", t.Links.Parent, t.Links.Order, t.Links.Change}
	for i, f := range fields {
		kinds, what := []reflect.Kind{reflect.Int64}, "an int64"
		if i == 2 {
			kinds, what = append(kinds, reflect.Int, reflect.Int32), "an integer"
		}
		if !f.Untyped && (f.Arrays > 0 || !slices.Contains(kinds, f.Type.Kind())) {
			refuse("name another field, or change its type", "%q is a %s, not %s", f.Path, f.Type, what)
		}
		if slices.Contains(taken, f.Path) {
			refuse("give each a field of its own", "%q is given for two fields of the tree", f.Path)
		}
		taken = append(taken, f.Path)
	}
	t.wide = !fields[2].Untyped && fields[2].Type.Kind() == reflect.Int64
	if t.gap < 0 || t.gap > maxGap {
		refuse("give 1 (dense) to 4294967296", "Gap is %d", t.gap)
	}
	t.gap = max(t.gap, 1)
}

// nestedSet is the representation of paths.NewNestedSet.
type nestedSet struct {
	*Tree
	left, right, depth string // paths
	gap                int64
	// A shift takes one update, and queries can meet equal numbers.
	direct bool
	// Depths are stored as int64, else as int32: as the Go type of the field encodes
	// them.
	wide bool
}

// CheckStored accepts every node. Between the two updates of a shift a node has negative
// numbers, which is no damage. readSpan refuses them where a plan needs the numbers.
func (t *nestedSet) CheckStored(Node) error { return nil }

// A span is what a node stores beside its links.
type span struct{ left, right, depth int64 }

// readSpan reads a node's numbers. It refuses numbers that no plan can work with: missing
// ones, negative ones of an unfinished shift, and ones in the wrong order.
func (t *nestedSet) readSpan(n Node) (span, error) {
	var s span
	for _, f := range []struct {
		path string
		to   *int64
	}{{t.left, &s.left}, {t.right, &s.right}, {t.depth, &s.depth}} {
		v, _ := core.ValueAt(n.Raw, f.path)
		i, ok := v.AsInt64OK()
		// The Go type of a root may leave out its depth 0 (omitempty).
		if !ok && (v.Type != 0 || f.to != &s.depth) {
			return s, t.Refuse(
				f.path, n.ID, "is the _id of a document without a number in this field: repair it with Tree.Checks",
			)
		}
		*f.to = i
	}
	switch {
	case s.left < 0 && s.right < s.left:
		return s, t.Refuse(
			t.left, s.left,
			"is negative: a change of "+model.Shell(n.ID)+
				" is in progress, or was interrupted; the next change of the tree finishes it",
		)
	case s.left < 1 || s.right <= s.left || s.right > maxNumber:
		return s, t.Refuse(
			t.left, n.ID,
			fmt.Sprintf(
				"is the _id of a document with the invalid numbers %d and %d: repair it with Tree.Checks", s.left,
				s.right,
			),
		)
	}
	return s, nil
}

// encodeSpan returns the fields left, right and depth, in this order.
func (t *nestedSet) encodeSpan(s span) bson.D {
	depth := any(int32(s.depth))
	if t.wide {
		depth = s.depth
	}
	return bson.D{{Key: t.left, Value: s.left}, {Key: t.right, Value: s.right}, {Key: t.depth, Value: depth}}
}

// nameLeftIndex names the index that finds descendants.
func (t *nestedSet) nameLeftIndex() string { return t.Indexes[1].Name }

// nameRightIndex names the index that finds ancestors.
func (t *nestedSet) nameRightIndex() string { return t.Indexes[2].Name }

// matchConflict returns nil: numbers are chosen, so no node can be in the way of another.
func (t *nestedSet) matchConflict(Node, spot) bson.D { return nil }

// isWithin compares the spans. Unreadable numbers count as not within: the plan refuses
// them.
func (t *nestedSet) isWithin(n, top Node) (is, known bool) {
	in, err := t.readSpan(n)
	around, errTop := t.readSpan(top)
	return n.Key() == top.Key() || err == nil && errTop == nil && around.left < in.left && in.right < around.right, true
}

// FindAncestors matches the spans that contain the node's span. A root comes first.
func (t *nestedSet) FindAncestors(n Node) Source {
	own, err := t.readSpan(n)
	if err != nil {
		return t.matchNothing()
	}
	return Match(t.nameRightIndex(), bson.D{
		{Key: t.right, Value: mql.Op("$gt", own.right)},
		{Key: t.left, Value: bson.D{{Key: "$gt", Value: int64(0)}, {Key: "$lt", Value: own.left}}},
	}, sortByField(t.left, 1))
}

// FindDescendants matches a range of left numbers, whose order is preorder.
func (t *nestedSet) FindDescendants(n Node, depth int) Source {
	own, err := t.readSpan(n)
	if err != nil {
		return t.matchNothing()
	}
	filter := bson.D{matchBetween(t.left, own.left+1, own.right-1)}
	if depth > 0 {
		filter = append(filter, mql.E(t.depth, mql.Op("$lte", own.depth+int64(depth))))
	}
	return Match(t.nameLeftIndex(), filter, sortByField(t.left, 1))
}

// matchNothing is the query for a node with unreadable numbers: it finds no document.
func (t *nestedSet) matchNothing() Source {
	return Match(t.nameLeftIndex(), bson.D{matchBetween(t.left, 1, 0)})
}

// end, as a bound, stands for all numbers above another. It is never stored.
const end = math.MaxInt64

// matchBetween matches the numbers from one to another, including both.
func matchBetween(path string, from, to int64) bson.E {
	bounds := mql.Op("$gte", from)
	if to != end {
		bounds = append(bounds, mql.E("$lte", to))
	}
	return mql.E(path, bounds)
}

// ParkFields returns a left number near the least int64. No change stores such a number,
// and it is different for nodes that want different numbers. A direct set has no unique
// index.
func (t *nestedSet) ParkFields(_ Node, want bson.D) bson.D {
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

// findDenseLeaves uses that in a dense set a leaf's right number follows its left number.
func (t *nestedSet) findDenseLeaves(n Node) Source {
	own, err := t.readSpan(n)
	if err != nil {
		return t.matchNothing()
	}
	leaf := mql.Op("$eq", mql.Op("$subtract", "$"+t.right, "$"+t.left), 1)
	return Match(
		t.nameLeftIndex(), bson.D{matchBetween(t.left, own.left+1, own.right-1), mql.E("$expr", leaf)},
		sortByField(t.left, 1),
	)
}
