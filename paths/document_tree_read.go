package paths

import (
	"context"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// read reads an owner's list.
func (t *DocumentTree[E, N, K]) read(ctx context.Context, db *mongo.Database, owner K) (*grove, error) {
	o, err := t.owner(owner)
	if err != nil {
		return nil, err
	}
	s, err := t.t.state(ctx, db, o)
	if err != nil {
		return nil, err
	}
	return t.t.grove(s.List)
}

// node reads an owner's list, and finds a node in it.
func (t *DocumentTree[E, N, K]) node(ctx context.Context, db *mongo.Database, owner K, id N) (g *grove, key string, err error) {
	n, err := t.t.nodeID(id)
	if err != nil {
		return nil, "", err
	}
	if g, err = t.read(ctx, db, owner); err == nil {
		_, err = t.t.find(g, n)
	}
	return g, bsonval.Key(n), err
}

// pick decodes nodes.
func (t *DocumentTree[E, N, K]) pick(g *grove, keys []string) ([]E, error) {
	out := make([]E, len(keys))
	for i, k := range keys {
		if err := t.decode(g.all[g.at[k]].doc(), &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// of decodes the nodes that a question about one gives.
func (t *DocumentTree[E, N, K]) of(
	ctx context.Context, db *mongo.Database, owner K, id N, ask func(f *Forest[string], key string) []string,
) ([]E, error) {
	g, key, err := t.node(ctx, db, owner, id)
	if err != nil {
		return nil, err
	}
	return t.pick(g, ask(g.forest, key))
}

// visits decodes nodes with their depths.
func (t *DocumentTree[E, N, K]) visits(g *grove, walk func(yield func(string, int) bool)) ([]Visit[E], error) {
	var out []Visit[E]
	for key, depth := range walk {
		v := Visit[E]{Depth: depth}
		if err := t.decode(g.all[g.at[key]].doc(), &v.Doc); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// All reads an owner's tree, in preorder: parents before their children, siblings in order. Depths are below the roots.
//
// Cost: one command, which reads the owner by _id.
func (t *DocumentTree[E, N, K]) All(ctx context.Context, db *mongo.Database, owner K) ([]Visit[E], error) {
	g, err := t.read(ctx, db, owner)
	if err != nil {
		return nil, err
	}
	return t.visits(g, g.forest.All())
}

// Arrange puts the nodes of a document that was read already in preorder, with their depths, as [DocumentTree.All] does: without a
// command.
func (t *DocumentTree[E, N, K]) Arrange(list []E) ([]Visit[E], error) {
	v, err := t.t.value(t.t.path, list)
	if err != nil {
		return nil, err
	}
	g, err := t.t.grove(v)
	if err != nil {
		return nil, err
	}
	return t.visits(g, g.forest.All())
}

// Subtree reads a node and all below it, in preorder. Depths are below the node.
func (t *DocumentTree[E, N, K]) Subtree(ctx context.Context, db *mongo.Database, owner K, id N) ([]Visit[E], error) {
	g, key, err := t.node(ctx, db, owner, id)
	if err != nil {
		return nil, err
	}
	return t.visits(g, g.forest.subtree(key))
}

// Roots reads the roots, in order.
func (t *DocumentTree[E, N, K]) Roots(ctx context.Context, db *mongo.Database, owner K) ([]E, error) {
	g, err := t.read(ctx, db, owner)
	if err != nil {
		return nil, err
	}
	return t.pick(g, g.forest.Roots())
}

// Children reads a node's children, in order.
func (t *DocumentTree[E, N, K]) Children(ctx context.Context, db *mongo.Database, owner K, id N) ([]E, error) {
	return t.of(ctx, db, owner, id, (*Forest[string]).children)
}

// Siblings reads the other children of a node's parent, or the other roots, in order.
func (t *DocumentTree[E, N, K]) Siblings(ctx context.Context, db *mongo.Database, owner K, id N) ([]E, error) {
	return t.of(ctx, db, owner, id, (*Forest[string]).siblings)
}

// Ancestors reads the nodes above a node, root first.
func (t *DocumentTree[E, N, K]) Ancestors(ctx context.Context, db *mongo.Database, owner K, id N) ([]E, error) {
	return t.of(ctx, db, owner, id, (*Forest[string]).ancestors)
}

// Descendants reads the nodes below a node down to a depth, in preorder: 1 means children, 0 means all. A negative depth is refused.
func (t *DocumentTree[E, N, K]) Descendants(ctx context.Context, db *mongo.Database, owner K, id N, depth int) ([]E, error) {
	if depth < 0 {
		return nil, t.t.refused("depth", depth, "is negative; 0 means all")
	}
	return t.of(ctx, db, owner, id, func(f *Forest[string], key string) []string { return f.descendants(key, depth) })
}

// Leaves reads the nodes without children, at or below a node, in order.
func (t *DocumentTree[E, N, K]) Leaves(ctx context.Context, db *mongo.Database, owner K, id N) ([]E, error) {
	return t.of(ctx, db, owner, id, (*Forest[string]).leaves)
}

// Count counts a node's descendants.
func (t *DocumentTree[E, N, K]) Count(ctx context.Context, db *mongo.Database, owner K, id N) (int, error) {
	g, key, err := t.node(ctx, db, owner, id)
	if err != nil {
		return 0, err
	}
	return g.forest.Count(key)
}

// IsAncestor reports whether a node lies above another.
func (t *DocumentTree[E, N, K]) IsAncestor(ctx context.Context, db *mongo.Database, owner K, ancestor, id N) (bool, error) {
	g, key, top, err := t.two(ctx, db, owner, id, ancestor)
	if err != nil {
		return false, err
	}
	return g.forest.IsAncestor(top, key)
}

// CommonAncestor reads the lowest node that equals or is above both nodes; false when they are in different trees.
func (t *DocumentTree[E, N, K]) CommonAncestor(ctx context.Context, db *mongo.Database, owner K, a, b N) (node E, ok bool, err error) {
	g, x, y, err := t.two(ctx, db, owner, a, b)
	if err != nil {
		return node, false, err
	}
	key, ok, err := g.forest.CommonAncestor(x, y)
	if ok {
		err = t.decode(g.all[g.at[key]].doc(), &node)
	}
	return node, ok, err
}

// two reads an owner's list, and finds two nodes in it.
func (t *DocumentTree[E, N, K]) two(ctx context.Context, db *mongo.Database, owner K, a, b N) (g *grove, x, y string, err error) {
	other, err := t.t.nodeID(b)
	if err != nil {
		return nil, "", "", err
	}
	if g, x, err = t.node(ctx, db, owner, a); err == nil {
		_, err = t.t.find(g, other)
	}
	return g, x, bsonval.Key(other), err
}
