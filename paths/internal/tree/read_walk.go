package tree

import (
	"iter"

	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// joined is the field in which children are joined; it is not in the results.
const joined = "_children"

// Leaves is the query of the descendants that have no children.
func (t *Tree) Leaves(n Node) Source {
	if r, ok := t.Rep.(*nestedSet); ok && r.gap == 1 {
		return r.denseLeaves(n)
	}
	s := t.Rep.Below(n, 0)
	s.Pipeline = append(s.Pipeline, mql.Lookup(t.Collection, "_id", t.Links.Parent, joined), mql.Match(mql.E(joined, mql.Op("$size", 0))), bson.D{mql.E("$unset", joined)})
	return s
}

// Arrange goes through nodes in preorder, by their places in the list and their depths: below a node, whose key is top, or below the
// roots where that is "". Nodes that the links don't put there are left out.
func Arrange(top string, nodes []Node) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		at := make(map[string]int, len(nodes))
		for i, n := range nodes {
			at[n.Key()] = i
		}
		f := FamilyOf(nodes, top).Forest
		walk := f.All()
		if top != "" {
			walk = f.Subtree(top)
		}
		for key, depth := range walk {
			if !yield(at[key], depth) {
				return
			}
		}
	}
}
