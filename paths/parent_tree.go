package paths

import (
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ParentTree is a tree whose nodes name their parents: an adjacency list. A move writes one document, whatever lies below the
// node; ancestors and descendants take $graphLookup, which follows the links one level at a time on the server.
//
// Make it with [NewParentTree]; [ParentTree.Tree] is what reads, decides and runs. The methods here generate single queries and
// writes, from the documents that they need.
//
// $graphLookup keeps its documents in memory, up to 100 MB, and each document that it returns is one command's result of up to
// 16 MB in all. Ask for descendants of larger trees by levels, or choose another representation.
//
// Sources: "Adjacency Lists" of https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-parent-references/.
type ParentTree[D, K any] struct{ planner[D, K] }

// NewParentTree declares a tree by parent links. It panics with a [*model.DeclarationError] when the documents don't have the
// fields of the links, or have them with other types.
func NewParentTree[D, K any](c *model.Collection[D, K], l Links) *ParentTree[D, K] {
	t := declareTree(c, l, "ParentTree")
	t.rep = &parentTree{t}
	return &ParentTree[D, K]{planner[D, K]{c, t}}
}

// parentTree keeps nothing beside the links.
type parentTree struct{ *tree }

func (t *parentTree) sound(node) error                  { return nil }
func (t *parentTree) derive(node, spot) (bson.D, error) { return nil, nil }
func (t *parentTree) taken(node, spot) bson.D           { return nil }

func (t *parentTree) removal(n node, change int64) []model.Step { return t.deleteOne(n, change) }
func (t *parentTree) within(n, top node) (is, known bool) {
	return n.key() == top.key(), n.root() || n.key() == top.key()
}
func (t *parentTree) move(n node, s spot, c int64) []model.Step {
	return []model.Step{t.relink(n, s, c)}
}
func (t *parentTree) parked(node, bson.D) bson.D                                   { return nil }
func (t *parentTree) canonical(*Forest[string], map[string]node) map[string]bson.D { return nil }
func (t *parentTree) fits() fitting                                                { return fitting{more: []source{t.circular()}} }

func (t *parentTree) dissolve(n node, children []node, to []spot, change int64) []model.Step {
	return append(t.relinkAll(children, to, change), t.deleteOne(n, change)...)
}

func (t *parentTree) prune(n node, below []node, change int64) []model.Step {
	ids := make([]bson.RawValue, 0, len(below)+1)
	for _, b := range slices.Backward(below) {
		ids = append(ids, b.id)
	}
	return t.deleteAll(append(ids, n.id), change)
}

func (t *parentTree) above(n node) source {
	return t.follow(n, "$"+t.links.Parent, t.links.Parent, "_id", -1, 0)
}

func (t *parentTree) below(n node, depth int) source {
	return t.follow(n, "$_id", "_id", t.links.Parent, 1, depth)
}

// distance is the field in which $graphLookup tells how far a document is; it is not in the results.
const distance = "_distance"

// follow is the pipeline of the documents that are reached from a node's, by distance in a direction.
func (t *tree) follow(n node, start, from, to string, direction, depth int) source {
	lookup := bson.D{
		{Key: "from", Value: t.docs}, {Key: "startWith", Value: start}, {Key: "connectFromField", Value: from},
		{Key: "connectToField", Value: to}, {Key: "as", Value: "nodes"}, {Key: "depthField", Value: distance},
	}
	if depth > 0 {
		lookup = append(lookup, bson.E{Key: "maxDepth", Value: int64(depth - 1)})
	}
	s := match(model.IDIndex, bson.D{{Key: "_id", Value: model.Eq(n.id)}},
		bson.D{{Key: "$project", Value: bson.D{{Key: from, Value: 1}}}},
		bson.D{{Key: "$graphLookup", Value: lookup}},
		bson.D{{Key: "$unwind", Value: "$nodes"}},
		sortBy("nodes."+distance, direction),
		bson.D{{Key: "$replaceRoot", Value: bson.D{{Key: "newRoot", Value: "$nodes"}}}},
		bson.D{{Key: "$unset", Value: distance}})
	return s
}

// relink is the write that ties a node to another spot. A node that has come back to the old spot
// by a later change stays there.
func (t *tree) relink(n node, s spot, change int64) model.Write {
	id := bson.E{Key: "_id", Value: model.Eq(n.id)}
	was := bson.D{id, {Key: t.links.Parent, Value: nil}, {Key: t.links.Order, Value: n.order}, t.notYet(change)}
	if !n.root() {
		was[1].Value = model.Eq(n.parent)
	}
	return model.Write{
		Collection: t.docs, Expect: model.One, Index: model.IDIndex,
		Model: &mongo.UpdateOneModel{Filter: was, Update: bson.D{{Key: "$set", Value: t.linked(s, change)}}},
		Done:  bson.D{id, {Key: t.links.Parent, Value: model.Eq(under(s.parent))}, {Key: t.links.Order, Value: s.order}},
	}
}

// relinkAll are the writes that tie nodes to other spots, for a plan that was decided under a lease.
func (t *tree) relinkAll(nodes []node, to []spot, change int64) []model.Step {
	steps := make([]model.Step, len(nodes))
	for i, n := range nodes {
		steps[i] = model.Write{Collection: t.docs, Index: model.IDIndex, Once: true, Model: &mongo.UpdateOneModel{
			Filter: bson.D{{Key: "_id", Value: model.Eq(n.id)}, t.notLater(change)}, Update: bson.D{{Key: "$set", Value: t.linked(to[i], change)}},
		}}
	}
	return steps
}

// deleteOne deletes a node, unless a later change wrote one of its _id: see notYet.
func (t *tree) deleteOne(n node, change int64) []model.Step {
	return []model.Step{model.Write{Collection: t.docs, Index: model.IDIndex, Model: &mongo.DeleteOneModel{
		Filter: bson.D{{Key: "_id", Value: model.Eq(n.id)}, t.notLater(change)},
	}}}
}

// deleteAll are the writes that delete documents, ten thousand in each.
func (t *tree) deleteAll(ids []bson.RawValue, change int64) []model.Step {
	var steps []model.Step
	for part := range slices.Chunk(ids, 10_000) {
		steps = append(steps, t.deleteMany(model.IDIndex, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: part}}}}, change))
	}
	return steps
}

func (t *tree) deleteMany(index string, filter bson.D, change int64) model.Write {
	return model.Write{Collection: t.docs, Index: index, Model: &mongo.DeleteManyModel{Filter: append(filter, t.notLater(change))}}
}
