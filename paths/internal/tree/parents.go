package tree

import (
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Parents declares a tree whose nodes name their parents.
func Parents(d Declared) *Tree {
	t := d.tree("ParentTree")
	t.Rep = &parentTree{t}
	return t
}

// parentTree keeps nothing beside the links.
type parentTree struct{ *Tree }

func (t *parentTree) Sound(Node) error                  { return nil }
func (t *parentTree) derive(Node, spot) (bson.D, error) { return nil, nil }
func (t *parentTree) taken(Node, spot) bson.D           { return nil }

func (t *parentTree) removal(n Node, change int64) []model.Step { return t.deleteOne(n, change) }
func (t *parentTree) within(n, top Node) (is, known bool) {
	return n.Key() == top.Key(), n.Root() || n.Key() == top.Key()
}
func (t *parentTree) move(n Node, s spot, c int64) []model.Step {
	return []model.Step{t.relink(n, s, c)}
}
func (t *parentTree) Parked(Node, bson.D) bson.D                                          { return nil }
func (t *parentTree) Canonical(*forest.Forest[string], map[string]Node) map[string]bson.D { return nil }
func (t *parentTree) fits() fitting                                                       { return fitting{more: []Source{t.circular()}} }

func (t *parentTree) dissolve(n Node, children []Node, to []spot, change int64) []model.Step {
	return append(t.relinkAll(children, to, change), t.deleteOne(n, change)...)
}

func (t *parentTree) prune(n Node, below []Node, change int64) []model.Step {
	ids := make([]bson.RawValue, 0, len(below)+1)
	for _, b := range slices.Backward(below) {
		ids = append(ids, b.ID)
	}
	return t.DeleteAll(append(ids, n.ID), change)
}

func (t *parentTree) Above(n Node) Source {
	return t.follow(n, "$"+t.Links.Parent, t.Links.Parent, "_id", -1, 0)
}

func (t *parentTree) Below(n Node, depth int) Source {
	return t.follow(n, "$_id", "_id", t.Links.Parent, 1, depth)
}

// distance is the field in which $graphLookup tells how far a document is; it is not in the results.
const distance = "_distance"

// follow is the pipeline of the documents that are reached from a node's, by distance in a direction.
func (t *Tree) follow(n Node, start, from, to string, direction, depth int) Source {
	lookup := bson.D{
		{Key: "from", Value: t.Collection}, {Key: "startWith", Value: start}, {Key: "connectFromField", Value: from},
		{Key: "connectToField", Value: to}, {Key: "as", Value: "nodes"}, {Key: "depthField", Value: distance},
	}
	if depth > 0 {
		lookup = append(lookup, mql.E("maxDepth", int64(depth-1)))
	}
	s := Match(model.IDIndex, bson.D{{Key: "_id", Value: model.Eq(n.ID)}},
		mql.Op("$project", bson.D{{Key: from, Value: 1}}),
		mql.Op("$graphLookup", lookup),
		mql.Op("$unwind", "$nodes"),
		sortBy("nodes."+distance, direction),
		mql.Op("$replaceRoot", bson.D{{Key: "newRoot", Value: "$nodes"}}),
		mql.Op("$unset", distance))
	return s
}

// relink is the write that ties a node to another spot. A node that has come back to the old spot by a later change stays there.
func (t *Tree) relink(n Node, s spot, change int64) model.Write {
	id := mql.E("_id", model.Eq(n.ID))
	was := bson.D{id, {Key: t.Links.Parent, Value: nil}, {Key: t.Links.Order, Value: n.Order}, t.notYet(change)}
	if !n.Root() {
		was[1].Value = model.Eq(n.Parent)
	}
	return model.Write{
		Collection: t.Collection, Expect: model.One, Index: model.IDIndex,
		Model: &mongo.UpdateOneModel{Filter: was, Update: mql.Op("$set", t.linked(s, change))},
		Done:  bson.D{id, {Key: t.Links.Parent, Value: model.Eq(Under(s.parent))}, {Key: t.Links.Order, Value: s.order}},
	}
}

// relinkAll are the writes that tie nodes to other spots, for a plan that was decided under a lease.
func (t *Tree) relinkAll(nodes []Node, to []spot, change int64) []model.Step {
	steps := make([]model.Step, len(nodes))
	for i, n := range nodes {
		steps[i] = model.Write{Collection: t.Collection, Index: model.IDIndex, Once: true, Model: &mongo.UpdateOneModel{
			Filter: bson.D{{Key: "_id", Value: model.Eq(n.ID)}, t.notLater(change)}, Update: mql.Op("$set", t.linked(to[i], change)),
		}}
	}
	return steps
}

// deleteOne deletes a node, unless a later change wrote one of its _id: see notYet.
func (t *Tree) deleteOne(n Node, change int64) []model.Step {
	return []model.Step{model.Write{Collection: t.Collection, Index: model.IDIndex, Model: &mongo.DeleteOneModel{
		Filter: bson.D{{Key: "_id", Value: model.Eq(n.ID)}, t.notLater(change)},
	}}}
}

// DeleteAll are the writes that delete documents, ten thousand in each.
func (t *Tree) DeleteAll(ids []bson.RawValue, change int64) []model.Step {
	var steps []model.Step
	for part := range slices.Chunk(ids, 10_000) {
		steps = append(steps, t.deleteMany(model.IDIndex, bson.D{{Key: "_id", Value: mql.Op("$in", part)}}, change))
	}
	return steps
}

func (t *Tree) deleteMany(index string, filter bson.D, change int64) model.Write {
	return model.Write{Collection: t.Collection, Index: index, Model: &mongo.DeleteManyModel{Filter: append(filter, t.notLater(change))}}
}
