package paths

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// family are nodes that were read, and how they hang together.
type family struct {
	nodes  map[string]node
	forest *Forest[string]
	lost   []Link[string] // what has no place
}

// relate puts nodes in order. Those whose parent isn't among them are roots, if top says so.
func familyOf(nodes []node, top string) family {
	f := family{nodes: make(map[string]node, len(nodes))}
	links := make([]Link[string], len(nodes))
	for i, n := range nodes {
		l := n.link()
		l.Root = l.Root || l.ID == top
		links[i], f.nodes[l.ID] = l, n
	}
	slices.SortStableFunc(links, func(a, b Link[string]) int { return f.compare(a.ID, b.ID) }) // siblings with equal order keys
	f.forest, f.lost = NewForest(links)
	return f
}

// compare compares nodes by their _ids, as the server does.
func (f family) compare(a, b string) int { return bsonval.CompareIDs(f.nodes[a].id, f.nodes[b].id) }

func (f family) pick(keys []string) []node {
	out := make([]node, len(keys))
	for i, k := range keys {
		out[i] = f.nodes[k]
	}
	return out
}

func (f family) preorder() []node { return f.pick(slices.Collect(f.forest.keys())) }

// subtree reads a node's descendants, and puts them in order.
func (t *tree) subtree(ctx context.Context, db *mongo.Database, n node, depth int) (family, error) {
	below, err := t.nodes(ctx, db, t.rep.below(n, depth))
	return familyOf(append(below, n), n.key()), err
}

// ancestors reads the nodes above a node, root first.
func (t *tree) ancestors(ctx context.Context, db *mongo.Database, n node) ([]node, error) {
	if n.root() {
		return nil, nil
	}
	found, err := t.nodes(ctx, db, t.rep.above(n))
	if err != nil {
		return nil, err
	}
	byKey := make(map[string]node, len(found))
	for _, a := range found {
		byKey[a.key()] = a
	}
	var out []node
	for {
		next, ok := byKey[bsonval.Key(n.parent)]
		if n.root() || !ok || len(out) > len(found) {
			break
		}
		out = append(out, next)
		n = next
	}
	slices.Reverse(out)
	return out, nil
}

// isBelow reports whether a node lies below another.
func (t *tree) isBelow(ctx context.Context, db *mongo.Database, n, top node) (bool, error) {
	if n.key() == top.key() {
		return false, nil
	}
	if in, known := t.rep.within(n, top); known || in {
		return in, nil
	}
	above, err := t.ancestors(ctx, db, n)
	return slices.ContainsFunc(above, func(a node) bool { return a.key() == top.key() }), err
}

// count counts a query's documents on the server.
func (t *tree) count(ctx context.Context, db *mongo.Database, s source) (int, error) {
	a := t.aggregate(s)
	a.Pipeline = append(slices.Clone(a.Pipeline), bson.D{{Key: "$group", Value: bson.D{
		{Key: "_id", Value: nil}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}},
	}}})
	for doc, err := range a.Each(ctx, db) {
		if err != nil {
			return 0, err
		}
		n, _ := doc.Lookup("n").AsInt64OK()
		return int(n), nil
	}
	return 0, nil
}
