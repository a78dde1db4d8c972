package paths

import (
	"math"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The writes of lists. Each document gets at most one of them in a change, which marks it with the change's number. The orders of
// the steps are such that whoever reads by lists, and believes what the links confirm, finds each node somewhere at each moment.

// listed puts a node that was inserted into its parent's list. It comes after the insert: one that is refused, by a unique index or a
// validator, leaves nothing.
func (t *childTree) listed(n node, s spot, change int64) []model.Step {
	if s.parent == nil {
		return nil
	}
	return []model.Step{t.push(n, s, change)}
}

// move enters the node in its new list, ties it to the new place, and takes it out of the old list.
func (t *childTree) move(n node, s spot, change int64) []model.Step {
	if err := t.full(s.parent, nil, n); err != nil {
		return []model.Step{model.Refused(t.docs, err)}
	}
	relink := t.relink(n, s, change)
	if s.parent != nil && n.reorders(s) {
		return []model.Step{relink, t.place(s.parent.id, s.prev, []bson.RawValue{n.id}, nil, change)}
	}
	return slices.Concat(t.listed(n, s, change), []model.Step{relink}, t.pull(n, change))
}

// unlisted takes a node out of a list again, when the move for which it was entered is refused as stale.
func (t *childTree) unlisted(n node, s spot, change int64) []model.Step {
	if s.parent == nil || n.reorders(s) {
		return nil
	}
	return []model.Step{t.pullFrom(s.parent.id, n.id, bson.E{Key: t.links.Change, Value: change}, nil)}
}

// dissolve enters the children in the node's place in its parent's list, if they go there.
func (t *childTree) dissolve(n node, children []node, to []spot, change int64) []model.Step {
	parent := to[0].parent
	if err := t.full(parent, &n, children...); err != nil {
		return []model.Step{model.Refused(t.docs, err)}
	}
	lists := t.pull(n, change)
	if parent != nil {
		ids := make([]bson.RawValue, len(children))
		for i, c := range children {
			ids[i] = c.id
		}
		lists = []model.Step{t.place(parent.id, &n, ids, &n, change)}
	}
	return slices.Concat(t.relinkAll(children, to, change), lists, t.deleteOne(n, change))
}

// prune deletes what the links say lies below: a list that is damaged deletes nothing from elsewhere.
func (t *childTree) prune(n node, below []node, change int64) []model.Step {
	all := familyOf(append(slices.Clone(below), n), n.key())
	linked := all.pick(all.forest.descendants(n.key(), 0))
	return append(t.pull(n, change), t.parentTree.prune(n, linked, change)...)
}

func (t *childTree) removal(n node, change int64) []model.Step {
	return append(t.pull(n, change), t.deleteOne(n, change)...)
}

// push is the write that enters a node in the list of its parent-to-be, behind the sibling before it.
func (t *childTree) push(n node, s spot, change int64) model.Write {
	list, _ := t.list(s.parent)
	each := bson.D{{Key: "$each", Value: []bson.RawValue{n.id}}}
	index := func(sibling *node) int {
		return slices.IndexFunc(list, func(id bson.RawValue) bool { return bsonval.Key(id) == sibling.key() })
	}
	at := -1 // the end
	switch {
	case s.prev != nil && index(s.prev) >= 0:
		at = index(s.prev) + 1
	case s.next != nil:
		at = index(s.next)
	}
	if at >= 0 && at < len(list) {
		each = append(each, bson.E{Key: "$position", Value: at})
	}
	return model.Write{
		Collection: t.docs, Index: model.IDIndex, Once: true,
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{
				{Key: "_id", Value: model.Eq(s.parent.id)}, {Key: t.path, Value: bson.D{{Key: "$ne", Value: n.id}}}, t.notLater(change),
			},
			Update: bson.D{
				{Key: "$push", Value: bson.D{{Key: t.path, Value: each}}}, {Key: "$set", Value: bson.D{{Key: t.links.Change, Value: change}}},
			},
		},
	}
}

// pull is the write that takes a node out of its parent's list, if it has a parent.
func (t *childTree) pull(n node, change int64) []model.Step {
	if n.root() {
		return nil
	}
	return []model.Step{t.pullFrom(n.parent, n.id, t.notLater(change), bson.D{{Key: "$set", Value: bson.D{{Key: t.links.Change, Value: change}}}})}
}

// pullFrom matches lists that have the id alone: what is no list is left to the repair.
func (t *childTree) pullFrom(parent, id bson.RawValue, guard bson.E, mark bson.D) model.Write {
	return model.Write{
		Collection: t.docs, Index: model.IDIndex, Once: true,
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{
				{Key: "_id", Value: model.Eq(parent)}, {Key: t.path, Value: bson.D{{Key: "$elemMatch", Value: bson.D{{Key: "$eq", Value: id}}}}}, guard,
			},
			Update: append(bson.D{{Key: "$pullAll", Value: bson.D{{Key: t.path, Value: []bson.RawValue{id}}}}}, mark...),
		},
	}
}

// place is the write that puts nodes behind another in a list, or at its head, wherever they were in it before; the one that leaves
// is taken out. It is done once, for what leaves may be what the others come behind.
func (t *childTree) place(parent bson.RawValue, prev *node, ids []bson.RawValue, leaves *node, change int64) model.Write {
	list := "$" + t.path
	without := func(ids []bson.RawValue) bson.D {
		in := bson.D{{Key: "$in", Value: bson.A{"$$id", bson.D{{Key: "$literal", Value: ids}}}}}
		return bson.D{{Key: "$set", Value: bson.D{{Key: t.path, Value: bson.D{{Key: "$filter", Value: bson.D{
			{Key: "input", Value: list}, {Key: "as", Value: "id"}, {Key: "cond", Value: bson.D{{Key: "$not", Value: bson.A{in}}}},
		}}}}}}}
	}
	come := bson.D{{Key: "$literal", Value: ids}}
	parts := bson.A{come, list}
	if prev != nil { // $indexOfArray is -1 for what isn't there
		at := bson.D{{Key: "$add", Value: bson.A{bson.D{{Key: "$indexOfArray", Value: bson.A{list, bson.D{{Key: "$literal", Value: prev.id}}}}}, 1}}}
		parts = bson.A{
			bson.D{{Key: "$slice", Value: bson.A{list, at}}}, come, bson.D{{Key: "$slice", Value: bson.A{list, at, math.MaxInt32}}},
		}
	}
	set := bson.D{{Key: t.path, Value: bson.D{{Key: "$concatArrays", Value: parts}}}, {Key: t.links.Change, Value: change}}
	update := mongo.Pipeline{without(ids), {{Key: "$set", Value: set}}}
	if leaves != nil {
		update = append(update, without([]bson.RawValue{leaves.id}))
	}
	return model.Write{
		Collection: t.docs, Index: model.IDIndex, Once: true,
		Model: &mongo.UpdateOneModel{Filter: bson.D{{Key: "_id", Value: model.Eq(parent)}, t.notYet(change)}, Update: update},
	}
}
