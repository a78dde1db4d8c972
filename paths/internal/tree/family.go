package tree

import (
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/paths/internal/forest"
)

// A family is a set of nodes that were read, with the forest that their links make.
type family struct {
	Nodes  map[string]Node
	Forest *forest.Forest[string]
	// Links without a place: their parents are missing, or they are in a cycle.
	Lost []forest.Link[string]
}

// BuildFamily makes a forest of nodes. top is the key of a node that counts as a root
// though its parent isn't among the nodes; "" means none. Sorting by _id first makes the
// order of siblings with equal order keys the same in each run.
func BuildFamily(nodes []Node, top string) family {
	f := family{Nodes: make(map[string]Node, len(nodes))}
	links := make([]forest.Link[string], len(nodes))
	for i, n := range nodes {
		l := n.MakeLink()
		l.Root = l.Root || l.ID == top
		links[i], f.Nodes[l.ID] = l, n
	}
	// siblings with equal order keys
	slices.SortStableFunc(links, func(a, b forest.Link[string]) int { return f.compareIDs(a.ID, b.ID) })
	f.Forest, f.Lost = forest.BuildForest(links)
	return f
}

// compareIDs compares two nodes by their _ids, as the server does.
func (f family) compareIDs(a, b string) int { return bsonval.CompareIDs(f.Nodes[a].ID, f.Nodes[b].ID) }

// ListPreorder returns the nodes, parents before children.
func (f family) ListPreorder() []Node {
	out := make([]Node, 0, len(f.Nodes))
	for key := range f.Forest.WalkAll() {
		out = append(out, f.Nodes[key])
	}
	return out
}
