package tree

// The writes of lists. In one change each list is written at most once, and marked with
// the change number. The steps are ordered so that a reader who goes by lists, and trusts
// only entries that the child's parent link confirms, finds each node in some list at
// each moment.

import (
	"math"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// enterInList adds an inserted node to its parent's list. It comes after the insert: if a
// validator or a unique index refuses the node, its list stays as it was.
func (t *childTree) enterInList(n Node, s spot, change int64) []model.Step {
	if s.parent == nil {
		return nil
	}
	return []model.Step{t.pushToList(n, s, change)}
}

// planMove adds the node to its new list, writes its links, and removes it from the old
// list, in this order. Among siblings, the list is rearranged after the link.
func (t *childTree) planMove(n Node, s spot, change int64) []model.Step {
	if err := t.checkRoom(s.parent, nil, n); err != nil {
		return []model.Step{model.Refused(t.Collection, err)}
	}
	relink := t.relinkNode(n, s, change)
	if s.parent != nil && s.sameParent {
		return []model.Step{relink, t.placeInList(s.parent.ID, s.prev, []bson.RawValue{n.ID}, nil, change)}
	}
	return slices.Concat(t.enterInList(n, s, change), []model.Step{relink}, t.pullFromParent(n, change))
}

// undoEntry removes the node from the new list again, if the write of its links was
// stale: the node had been moved by other code, so the entry is wrong.
func (t *childTree) undoEntry(n Node, s spot, change int64) []model.Step {
	if s.parent == nil || s.sameParent {
		return nil
	}
	return []model.Step{t.pullFromList(s.parent.ID, n.ID, mql.E(t.Links.Change, change), nil)}
}

// planDissolve relinks the children, and puts them in the node's place in its parent's
// list if they go there.
func (t *childTree) planDissolve(n Node, children []Node, to []spot, change int64) []model.Step {
	parent := to[0].parent
	if err := t.checkRoom(parent, &n, children...); err != nil {
		return []model.Step{model.Refused(t.Collection, err)}
	}
	lists := t.pullFromParent(n, change)
	if parent != nil {
		ids := make([]bson.RawValue, len(children))
		for i, c := range children {
			ids[i] = c.ID
		}
		lists = []model.Step{t.placeInList(parent.ID, &n, ids, &n, change)}
	}
	return slices.Concat(t.relinkNodes(children, to, change), lists, t.deleteByID(n, change))
}

// planSubtreeDelete removes the top from its list first: a list never names a missing
// node.
func (t *childTree) planSubtreeDelete(n Node, below []Node, change int64) []model.Step {
	return append(t.pullFromParent(n, change), t.parentTree.planSubtreeDelete(n, below, change)...)
}

// planLeafDelete removes the node from its list first, as planSubtreeDelete does.
func (t *childTree) planLeafDelete(n Node, change int64) []model.Step {
	return append(t.pullFromParent(n, change), t.deleteByID(n, change)...)
}

// pushToList adds a node to its parent's list, behind the sibling before it. The list may
// lack siblings if other code wrote it. Then the node goes before its next sibling, or to
// the end.
func (t *childTree) pushToList(n Node, s spot, change int64) model.Write {
	list, _ := t.readChildList(s.parent)
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
		Collection: t.Collection, Index: model.IDIndex, Idempotent: true,
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{
				{Key: "_id", Value: mql.Eq(s.parent.ID)}, {Key: t.path, Value: mql.Op("$ne", n.ID)},
				t.matchNotChangedAfter(change),
			},
			Update: bson.D{
				{Key: "$push", Value: bson.D{{Key: t.path, Value: each}}},
				{Key: "$set", Value: bson.D{{Key: t.Links.Change, Value: change}}},
			},
		},
	}
}

// pullFromParent removes a node from its parent's list. A root is in no list.
func (t *childTree) pullFromParent(n Node, change int64) []model.Step {
	if n.IsRoot() {
		return nil
	}
	return []model.Step{
		t.pullFromList(
			n.Parent, n.ID, t.matchNotChangedAfter(change),
			mql.Op("$set", bson.D{{Key: t.Links.Change, Value: change}}),
		),
	}
}

// pullFromList removes an _id from a list. $elemMatch matches arrays only: a value that
// is no array stays for the repair, because $pullAll would fail on it.
func (t *childTree) pullFromList(parent, id bson.RawValue, guard bson.E, mark bson.D) model.Write {
	return model.Write{
		Collection: t.Collection, Index: model.IDIndex, Idempotent: true,
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{
				{Key: "_id", Value: mql.Eq(parent)}, {Key: t.path, Value: mql.Op("$elemMatch", mql.Op("$eq", id))},
				guard,
			},
			Update: append(mql.Op("$pullAll", bson.D{{Key: t.path, Value: []bson.RawValue{id}}}), mark...),
		},
	}
}

// placeInList puts nodes behind prev in a list, or at its head if prev is nil, wherever
// they were in it before. leaves, if it isn't nil, is removed at last, because it can be
// prev. The write runs at most once per change: a second run could not find prev after it
// left.
func (t *childTree) placeInList(
	parent bson.RawValue, prev *Node, ids []bson.RawValue, leaves *Node, change int64,
) model.Write {
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
		Collection: t.Collection, Index: model.IDIndex, Idempotent: true,
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{{Key: "_id", Value: mql.Eq(parent)}, t.matchChangedBefore(change)}, Update: update,
		},
	}
}
