package tree

import (
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/paths/internal/forest"
)

// family are nodes that were read, and how they hang together.
type family struct {
	Nodes  map[string]Node
	Forest *forest.Forest[string]
	Lost   []forest.Link[string] // what has no place
}

// relate puts nodes in order. Those whose parent isn't among them are roots, if top says so.
func FamilyOf(nodes []Node, top string) family {
	f := family{Nodes: make(map[string]Node, len(nodes))}
	links := make([]forest.Link[string], len(nodes))
	for i, n := range nodes {
		l := n.Link()
		l.Root = l.Root || l.ID == top
		links[i], f.Nodes[l.ID] = l, n
	}
	slices.SortStableFunc(links, func(a, b forest.Link[string]) int { return f.compare(a.ID, b.ID) }) // siblings with equal order keys
	f.Forest, f.Lost = forest.New(links)
	return f
}

// compare compares nodes by their _ids, as the server does.
func (f family) compare(a, b string) int { return bsonval.CompareIDs(f.Nodes[a].ID, f.Nodes[b].ID) }

func (f family) Preorder() []Node {
	out := make([]Node, 0, len(f.Nodes))
	for key := range f.Forest.All() {
		out = append(out, f.Nodes[key])
	}
	return out
}
