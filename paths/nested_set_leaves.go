package paths

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Leaves returns the query of the nodes without children, at or below a node, in order.
//
// Where numbers are dense, a leaf is known by its own: its right number follows its left one. Else each node of the subtree is
// joined with its children on the server, by the index on the links.
//
// Cost: one command, by the index on the left number; only the leaves are sent.
func (p *NestedSet[D, K]) Leaves(n *D) model.Aggregate[D] {
	return p.query(n, p.t.rep.(*nestedSet).leaves)
}

// Count returns how many nodes are below a node, as its own numbers tell: no query is run. It returns a [*model.ValueError] where
// there are gaps between numbers, which don't tell it, and where the numbers make no sense; [Tree.Count] asks.
func (p *NestedSet[D, K]) Count(n *D) (int, error) {
	read, err := p.node(n)
	if err != nil {
		return 0, err
	}
	t := p.t.rep.(*nestedSet)
	if t.gap > 1 {
		return 0, t.refused(t.right, t.gap, "is the gap of the numbers, which don't tell how many nodes there are")
	}
	own, err := t.span(read)
	return int((own.right - own.left) / 2), err
}

// counted is how many nodes are below a node, if its numbers tell.
func (t *nestedSet) counted(n node) (int, bool) {
	own, err := t.span(n)
	return int((own.right - own.left) / 2), err == nil && t.gap == 1
}

// joined is the field in which children are joined; it is not in the results.
const joined = "_children"

func (t *nestedSet) leaves(n node) source {
	own, err := t.span(n)
	if err != nil {
		return t.nothing()
	}
	inside := between(t.left, own.left, own.right)
	if t.gap == 1 {
		width := bson.D{{Key: "$subtract", Value: bson.A{"$" + t.right, "$" + t.left}}}
		leaf := bson.E{Key: "$expr", Value: bson.D{{Key: "$eq", Value: bson.A{width, 1}}}}
		return match(t.byLeft(), bson.D{inside, leaf}, sortBy(t.left, 1))
	}
	return match(t.byLeft(), bson.D{inside}, sortBy(t.left, 1),
		bson.D{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: t.docs}, {Key: "localField", Value: "_id"}, {Key: "foreignField", Value: t.links.Parent}, {Key: "as", Value: joined},
		}}},
		bson.D{{Key: "$match", Value: bson.D{{Key: joined, Value: bson.D{{Key: "$size", Value: 0}}}}}},
		bson.D{{Key: "$unset", Value: joined}})
}
