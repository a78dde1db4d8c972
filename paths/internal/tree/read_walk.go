package tree

// Leaves, and the preorder of nodes that were read.

import (
	"iter"

	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// joined is the field into which children are joined. Results don't have it.
const joined = "_children"

// FindLeaves is the query of the descendants without children.
func (t *Tree) FindLeaves(n Node) Source {
	if r, ok := t.Rep.(*nestedSet); ok && r.gap == 1 {
		return r.findDenseLeaves(n)
	}
	s := t.Rep.FindDescendants(n, 0)
	s.Pipeline = append(
		s.Pipeline, mql.Lookup(t.Collection, "_id", t.Links.Parent, joined),
		mql.Match(mql.E(joined, mql.Op("$size", 0))), bson.D{mql.E("$unset", joined)},
	)
	return s
}

// ArrangeNodes yields the index and the depth of each node in preorder: below the node
// with the key top, or below the roots if top is "". Nodes that have no place there are
// left out.
func ArrangeNodes(top string, nodes []Node) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		at := make(map[string]int, len(nodes))
		for i, n := range nodes {
			at[n.Key()] = i
		}
		f := BuildFamily(nodes, top).Forest
		walk := f.WalkAll()
		if top != "" {
			walk = f.WalkSubtree(top)
		}
		for key, depth := range walk {
			if !yield(at[key], depth) {
				return
			}
		}
	}
}
