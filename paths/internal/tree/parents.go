package tree

// The parent tree, and the writes of links and the deletions that all representations
// share.

import (
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// DeclareParentTree declares a tree whose nodes store nothing beside the links.
func DeclareParentTree(d Declared) *Tree {
	t := d.declareTree("ParentTree")
	t.Rep = &parentTree{t}
	return t
}

// parentTree is the representation of paths.NewParentTree. Its methods without a comment
// have nothing to do: there are no fields to derive, to check or to park.
type parentTree struct{ *Tree }

func (t *parentTree) CheckStored(Node) error                  { return nil }
func (t *parentTree) deriveFields(Node, spot) (bson.D, error) { return nil, nil }
func (t *parentTree) matchConflict(Node, spot) bson.D         { return nil }

func (t *parentTree) planLeafDelete(n Node, change int64) []model.Step {
	return t.deleteByID(n, change)
}

// isWithin knows only that a root is below no other node. Other answers need
// FindAncestors.
func (t *parentTree) isWithin(n, top Node) (is, known bool) {
	return n.Key() == top.Key(), n.IsRoot() || n.Key() == top.Key()
}
func (t *parentTree) planMove(n Node, s spot, c int64) []model.Step {
	return []model.Step{t.relinkNode(n, s, c)}
}
func (t *parentTree) ParkFields(Node, bson.D) bson.D { return nil }
func (t *parentTree) ComputeFields(*forest.Forest[string], map[string]Node) map[string]bson.D {
	return nil
}

// describeFitting adds the query of cycles, which parent links alone don't exclude.
func (t *parentTree) describeFitting() fitting {
	return fitting{
		more: []Source{t.findCircularNodes()},
	}
}

// planDissolve relinks the children before the node is deleted, so that no child is an
// orphan.
func (t *parentTree) planDissolve(n Node, children []Node, to []spot, change int64) []model.Step {
	return append(t.relinkNodes(children, to, change), t.deleteByID(n, change)...)
}

// planSubtreeDelete deletes the deepest nodes first, and the top last. If the plan is
// cut, the nodes that are left still form a tree.
func (t *parentTree) planSubtreeDelete(n Node, below []Node, change int64) []model.Step {
	ids := make([]bson.RawValue, 0, len(below)+1)
	for _, b := range slices.Backward(below) {
		ids = append(ids, b.ID)
	}
	return t.DeleteByIDs(append(ids, n.ID), change)
}

func (t *parentTree) FindAncestors(n Node) Source {
	return t.followLinks(n, "$"+t.Links.Parent, t.Links.Parent, "_id", -1, 0)
}

func (t *parentTree) FindDescendants(n Node, depth int) Source {
	return t.followLinks(n, "$_id", "_id", t.Links.Parent, 1, depth)
}

// distance is the field for the depth that $graphLookup finds. Results don't have it.
const distance = "_distance"

// followLinks is the query of the documents that are reached from a node along a link,
// sorted by their distance: ascending for direction 1. $graphLookup keeps the found
// documents in memory:
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/graphLookup/.
func (t *Tree) followLinks(n Node, start, from, to string, direction, depth int) Source {
	lookup := bson.D{
		{Key: "from", Value: t.Collection}, {Key: "startWith", Value: start}, {Key: "connectFromField", Value: from},
		{Key: "connectToField", Value: to}, {Key: "as", Value: "nodes"}, {Key: "depthField", Value: distance},
	}
	if depth > 0 {
		lookup = append(lookup, mql.E("maxDepth", int64(depth-1)))
	}
	s := Match(model.IDIndex, bson.D{{Key: "_id", Value: mql.Eq(n.ID)}},
		mql.Op("$project", bson.D{{Key: from, Value: 1}}),
		mql.Op("$graphLookup", lookup),
		mql.Op("$unwind", "$nodes"),
		sortByField("nodes."+distance, direction),
		mql.Op("$replaceRoot", bson.D{{Key: "newRoot", Value: "$nodes"}}),
		mql.Op("$unset", distance))
	return s
}

// relinkNode is the write that gives one node the links of a spot. It expects the links
// that were read. Done says when the write was applied before: the node has the new
// links.
func (t *Tree) relinkNode(n Node, s spot, change int64) model.Write {
	id := mql.E("_id", mql.Eq(n.ID))
	was := bson.D{
		id, {Key: t.Links.Parent, Value: nil}, {Key: t.Links.Order, Value: n.Order}, t.matchChangedBefore(change),
	}
	if !n.IsRoot() {
		was[1].Value = mql.Eq(n.Parent)
	}
	return model.Write{
		Collection: t.Collection, Expect: model.One, Index: model.IDIndex,
		Model: &mongo.UpdateOneModel{Filter: was, Update: mql.Op("$set", t.setLinks(s, change))},
		Done: bson.D{
			id, {Key: t.Links.Parent, Value: mql.Eq(EncodeParentID(s.parent))}, {Key: t.Links.Order, Value: s.order},
		},
	}
}

// relinkNodes gives nodes the links of spots. The lease and the change number guard it,
// not the links that were read: earlier steps of the plan may have marked the nodes.
func (t *Tree) relinkNodes(nodes []Node, to []spot, change int64) []model.Step {
	steps := make([]model.Step, len(nodes))
	for i, n := range nodes {
		steps[i] = model.Write{Collection: t.Collection, Index: model.IDIndex, Idempotent: true,
			Model: &mongo.UpdateOneModel{
				Filter: bson.D{{Key: "_id", Value: mql.Eq(n.ID)}, t.matchNotChangedAfter(change)},
				Update: mql.Op("$set", t.setLinks(to[i], change)),
			}}
	}
	return steps
}

// deleteByID deletes a node, except if a later change wrote a document with its _id.
func (t *Tree) deleteByID(n Node, change int64) []model.Step {
	return []model.Step{model.Write{Collection: t.Collection, Index: model.IDIndex, Model: &mongo.DeleteOneModel{
		Filter: bson.D{{Key: "_id", Value: mql.Eq(n.ID)}, t.matchNotChangedAfter(change)},
	}}}
}

// DeleteByIDs deletes documents, 10,000 per command, because a command's filter has a
// limit of 16 MiB.
func (t *Tree) DeleteByIDs(ids []bson.RawValue, change int64) []model.Step {
	var steps []model.Step
	for part := range slices.Chunk(ids, 10_000) {
		steps = append(steps, t.deleteMatching(model.IDIndex, bson.D{{Key: "_id", Value: mql.Op("$in", part)}}, change))
	}
	return steps
}

// deleteMatching deletes the matching documents that no later change wrote.
func (t *Tree) deleteMatching(index string, filter bson.D, change int64) model.Write {
	return model.Write{
		Collection: t.Collection, Index: index,
		Model: &mongo.DeleteManyModel{Filter: append(filter, t.matchNotChangedAfter(change))},
	}
}
