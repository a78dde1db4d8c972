package tree

// Queries for totals per branch (paths.RollUp): all descendants of a node, grouped by the
// child of that node through which they hang.

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Brancher is a representation whose documents show to which child of a node they
// belong.
type Brancher interface {
	// FindSubtree is the query of a node and its descendants.
	FindSubtree(n Node) Source
	// GroupBranches is the query that groups the descendants of a node by its children;
	// nil means all nodes, grouped by roots. children come in order. totals are the
	// accumulators of $group. key returns the group's _id for a child.
	GroupBranches(n *Node, children []Node, totals bson.D) (s Source, key func(child Node) bson.RawValue)
}

// GroupBy is a $group stage with accumulators.
func GroupBy(by any, totals bson.D) bson.D {
	return mql.Op("$group", append(bson.D{{Key: "_id", Value: by}}, totals...))
}

func (t *ancestorArray) FindSubtree(n Node) Source {
	return Match(t.Indexes[1].Name, bson.D{t.matchSubtree(n)})
}

// GroupBranches groups by the array's element after the node itself.
func (t *ancestorArray) GroupBranches(n *Node, _ []Node, totals bson.D) (Source, func(Node) bson.RawValue) {
	s := Match("", bson.D{})
	if n != nil {
		s = Match(t.Indexes[1].Name, bson.D{t.matchSubtree(*n), {Key: "_id", Value: mql.Op("$ne", n.ID)}})
	}
	branch := mql.Op("$arrayElemAt", "$"+t.path, len(t.readAncestorArray(n)))
	s.Pipeline = append(s.Pipeline, GroupBy(branch, totals))
	return s, func(c Node) bson.RawValue { return c.ID }
}

func (t *materializedPath) FindSubtree(n Node) Source {
	return Match(t.Indexes[1].Name, bson.D{t.matchPrefix(t.readPath(&n), true)})
}

// GroupBranches groups by the path's segment after the node's own. A group's _id is the
// escaped segment.
func (t *materializedPath) GroupBranches(n *Node, _ []Node, totals bson.D) (Source, func(Node) bson.RawValue) {
	s, depth := Match("", bson.D{}), 0
	if path := t.readPath(n); n != nil {
		s, depth = Match(t.Indexes[1].Name, bson.D{t.matchPrefix(path, false)}), len(listAncestorPaths(path))+1
	}
	branch := mql.Op("$arrayElemAt", mql.Op("$split", "$"+t.path, separator), depth)
	s.Pipeline = append(s.Pipeline, GroupBy(branch, totals))
	return s, func(c Node) bson.RawValue {
		return forest.EncodeString(t.readPath(&c)[len(cutLastSegment(t.readPath(&c))) : len(t.readPath(&c))-1])
	}
}

func (t *nestedSet) FindSubtree(n Node) Source {
	own, err := t.readSpan(n)
	if err != nil {
		return t.matchNothing()
	}
	return Match(t.nameLeftIndex(), bson.D{matchBetween(t.left, own.left, own.right)})
}

// GroupBranches groups by ranges of left numbers. Each range begins with a child's
// number, which is the group's _id.
func (t *nestedSet) GroupBranches(n *Node, children []Node, totals bson.D) (Source, func(Node) bson.RawValue) {
	from, to := int64(1), int64(end)
	if n != nil {
		own, err := t.readSpan(*n)
		if err != nil {
			return t.matchNothing(), func(Node) bson.RawValue { return forest.Null }
		}
		from, to = own.left+1, own.right-1
	}
	var begins []int64
	for _, c := range children {
		own, err := t.readSpan(c)
		inOrder := len(begins) == 0 || own.left > begins[len(begins)-1]
		if err == nil && own.left >= from && own.left <= to && inOrder {
			begins = append(begins, own.left)
		}
	}
	if len(begins) == 0 {
		return t.matchNothing(), func(Node) bson.RawValue { return forest.Null }
	}
	s := Match(
		t.nameLeftIndex(), bson.D{matchBetween(t.left, begins[0], to)}, GroupBy(t.chooseBranchStart(begins), totals),
	)
	return s, func(c Node) bson.RawValue { v, _ := core.ValueAt(c.Raw, t.left); return v }
}

// chooseBranchStart is the expression of the greatest of some numbers that isn't above
// the left number: nested $cond by halves, so that a document costs a logarithm of
// comparisons.
func (t *nestedSet) chooseBranchStart(begins []int64) any {
	if len(begins) == 1 {
		return begins[0]
	}
	half := len(begins) / 2
	below := mql.Op("$lt", "$"+t.left, begins[half])
	return mql.Cond(below, t.chooseBranchStart(begins[:half]), t.chooseBranchStart(begins[half:]))
}
