package tree

import (
	"math"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The writes of lists. Each document gets at most one of them in a change, which marks it with the change's number. The orders of
// the steps are such that whoever reads by lists, and believes what the links confirm, finds each node somewhere at each moment.

// listed puts a node that was inserted into its parent's list. It comes after the insert: one that is refused, by a unique index or a
// validator, leaves nothing.
func (t *childTree) listed(n Node, s spot, change int64) []model.Step {
	if s.parent == nil {
		return nil
	}
	return []model.Step{t.push(n, s, change)}
}

// move enters the node in its new list, ties it to the new place, and takes it out of the old list.
func (t *childTree) move(n Node, s spot, change int64) []model.Step {
	if err := t.full(s.parent, nil, n); err != nil {
		return []model.Step{model.Refused(t.Collection, err)}
	}
	relink := t.relink(n, s, change)
	if s.parent != nil && s.among {
		return []model.Step{relink, t.place(s.parent.ID, s.prev, []bson.RawValue{n.ID}, nil, change)}
	}
	return slices.Concat(t.listed(n, s, change), []model.Step{relink}, t.pull(n, change))
}

// unlisted takes a node out of a list again, when the move for which it was entered is refused as stale.
func (t *childTree) unlisted(n Node, s spot, change int64) []model.Step {
	if s.parent == nil || s.among {
		return nil
	}
	return []model.Step{t.pullFrom(s.parent.ID, n.ID, mql.E(t.Links.Change, change), nil)}
}

// dissolve enters the children in the node's place in its parent's list, if they go there.
func (t *childTree) dissolve(n Node, children []Node, to []spot, change int64) []model.Step {
	parent := to[0].parent
	if err := t.full(parent, &n, children...); err != nil {
		return []model.Step{model.Refused(t.Collection, err)}
	}
	lists := t.pull(n, change)
	if parent != nil {
		ids := make([]bson.RawValue, len(children))
		for i, c := range children {
			ids[i] = c.ID
		}
		lists = []model.Step{t.place(parent.ID, &n, ids, &n, change)}
	}
	return slices.Concat(t.relinkAll(children, to, change), lists, t.deleteOne(n, change))
}

func (t *childTree) prune(n Node, below []Node, change int64) []model.Step {
	return append(t.pull(n, change), t.parentTree.prune(n, below, change)...)
}

func (t *childTree) removal(n Node, change int64) []model.Step {
	return append(t.pull(n, change), t.deleteOne(n, change)...)
}

// push is the write that enters a node in the list of its parent-to-be, behind the sibling before it.
func (t *childTree) push(n Node, s spot, change int64) model.Write {
	list, _ := t.list(s.parent)
	each := mql.Op("$each", []bson.RawValue{n.ID})
	index := func(sibling *Node) int {
		return slices.IndexFunc(list, func(id bson.RawValue) bool { return bsonval.Key(id) == sibling.Key() })
	}
	at := -1 // the end
	switch {
	case s.prev != nil && index(s.prev) >= 0:
		at = index(s.prev) + 1
	case s.next != nil:
		at = index(s.next)
	}
	if at >= 0 && at < len(list) {
		each = append(each, mql.E("$position", at))
	}
	return model.Write{
		Collection: t.Collection, Index: model.IDIndex, Once: true,
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{
				{Key: "_id", Value: model.Eq(s.parent.ID)}, {Key: t.path, Value: mql.Op("$ne", n.ID)}, t.notLater(change),
			},
			Update: bson.D{
				{Key: "$push", Value: bson.D{{Key: t.path, Value: each}}}, {Key: "$set", Value: bson.D{{Key: t.Links.Change, Value: change}}},
			},
		},
	}
}

// pull is the write that takes a node out of its parent's list, if it has a parent.
func (t *childTree) pull(n Node, change int64) []model.Step {
	if n.Root() {
		return nil
	}
	return []model.Step{t.pullFrom(n.Parent, n.ID, t.notLater(change), mql.Op("$set", bson.D{{Key: t.Links.Change, Value: change}}))}
}

// pullFrom matches lists that have the id alone: what is no list is left to the repair.
func (t *childTree) pullFrom(parent, id bson.RawValue, guard bson.E, mark bson.D) model.Write {
	return model.Write{
		Collection: t.Collection, Index: model.IDIndex, Once: true,
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{
				{Key: "_id", Value: model.Eq(parent)}, {Key: t.path, Value: mql.Op("$elemMatch", mql.Op("$eq", id))}, guard,
			},
			Update: append(mql.Op("$pullAll", bson.D{{Key: t.path, Value: []bson.RawValue{id}}}), mark...),
		},
	}
}

// place is the write that puts nodes behind another in a list, or at its head, wherever they were in it before; the one that leaves
// is taken out. It is done once, for what leaves may be what the others come behind.
func (t *childTree) place(parent bson.RawValue, prev *Node, ids []bson.RawValue, leaves *Node, change int64) model.Write {
	list := "$" + t.path
	without := func(ids []bson.RawValue) bson.D {
		in := mql.Op("$in", "$$id", mql.Literal(ids))
		return bson.D{{Key: "$set", Value: bson.D{{Key: t.path, Value: bson.D{{Key: "$filter", Value: bson.D{
			{Key: "input", Value: list}, {Key: "as", Value: "id"}, {Key: "cond", Value: mql.Op("$not", bson.A{in})},
		}}}}}}}
	}
	come := mql.Literal(ids)
	parts := bson.A{come, list}
	if prev != nil { // $indexOfArray is -1 for what isn't there
		at := mql.Op("$add", mql.Op("$indexOfArray", list, mql.Literal(prev.ID)), 1)
		parts = bson.A{
			mql.Op("$slice", list, at), come, mql.Op("$slice", list, at, math.MaxInt32),
		}
	}
	set := bson.D{{Key: t.path, Value: mql.Op("$concatArrays", parts)}, {Key: t.Links.Change, Value: change}}
	update := mongo.Pipeline{without(ids), mql.Op("$set", set)}
	if leaves != nil {
		update = append(update, without([]bson.RawValue{leaves.ID}))
	}
	return model.Write{
		Collection: t.Collection, Index: model.IDIndex, Once: true,
		Model: &mongo.UpdateOneModel{Filter: bson.D{{Key: "_id", Value: model.Eq(parent)}, t.notYet(change)}, Update: update},
	}
}
