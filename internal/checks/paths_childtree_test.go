package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	byChildren = paths.NewChildTree(treeNodes, paths.ChildTreeSpec{})
	fewLists   = paths.NewChildTree(anything, paths.ChildTreeSpec{Links: paths.Links{Parent: "up", Order: "at", Change: "rev"}, Children: "below.ids", Max: 2})
)

func init() {
	registerPlanning("paths.ChildTree.", byChildren)
	registerTree("children", byChildren.Tree(paths.TreeSpec{}))
	register(childTrees()...)
}

// fewNode is a node of fewLists.
func fewNode(id string, parent any, order string, children ...any) *bson.D {
	d := roomy(bson.D{
		{Key: "_id", Value: id}, {Key: "up", Value: parent}, {Key: "at", Value: order}, {Key: "rev", Value: int64(4)},
		{Key: "below", Value: bson.D{{Key: "ids", Value: append(bson.A{}, children...)}}},
	})
	return &d
}

func childTrees() []Case {
	listing := func(id, order string, children ...string) *treeNode {
		n := treeRoot(id, order)
		n.Children = children
		return n
	}
	move := func(reason string, of func(s string) (*treeNode, paths.At[treeNode])) Case {
		return Case{Method: "paths.ChildTree.Move", Reason: reason, From: func(s string) ([]any, func() any) {
			n, at := of(s)
			return []any{n, at}, func() any { return byChildren.Move(n, at, 8) }
		}}
	}
	few := func(method, reason string, docs func(s string) []*bson.D, call func(d []*bson.D) any) Case {
		c := ofNodes(method, reason, docs, call)
		c.Method = "paths.ChildTree." + method
		return c
	}
	type at = paths.At[bson.D]
	full := func(s string) []*bson.D {
		return []*bson.D{
			fewNode(s, nil, "a0", s+"1", s+"2"), fewNode(s+"1", s, "a0", s+"11"), fewNode(s+"2", s, "a1"), fewNode(s+"11", s+"1", "a0"), fewNode(s+"3", nil, "a1"),
		}
	}
	return []Case{
		move("the first of a list", func(s string) (*treeNode, paths.At[treeNode]) {
			to := listing("sale", "a1", s)
			return treeChild(treeRoot("clothes", "a0"), "shoes", "a0"), paths.At[treeNode]{Parent: to, Next: treeChild(to, s, "a0")}
		}),
		move("between others", func(s string) (*treeNode, paths.At[treeNode]) {
			to := listing(s, "a1", "a", "b")
			return treeChild(treeRoot("clothes", "a0"), "shoes", "a0"), paths.At[treeNode]{Parent: to, Prev: treeChild(to, "a", "a0"), Next: treeChild(to, "b", "a1")}
		}),
		move("within one list, behind another", func(s string) (*treeNode, paths.At[treeNode]) {
			parent := listing("clothes", "a0", "shoes", s)
			return treeChild(parent, "shoes", "a0"), paths.At[treeNode]{Parent: parent, Prev: treeChild(parent, s, "a1")}
		}),
		move("within one list, to its head", func(s string) (*treeNode, paths.At[treeNode]) {
			parent := listing("clothes", "a0", "hats", s)
			return treeChild(parent, s, "a1"), paths.At[treeNode]{Parent: parent, Next: treeChild(parent, "hats", "a0")}
		}),
		move("among the roots no list is written", func(s string) (*treeNode, paths.At[treeNode]) {
			return listing(s, "a0", "x"), paths.At[treeNode]{Prev: listing("sale", "a1")}
		}),
		few("Insert", "into a list that is full it is refused", func(s string) []*bson.D { return append(full(s), fewNode(s+"new", nil, "")) },
			func(d []*bson.D) any { return fewLists.Insert(d[5], at{Parent: d[0], Prev: d[2]}, 7) }),
		few("Insert", "into a list in a document", func(s string) []*bson.D { return append(full(s), fewNode(s+"new", nil, "", "what is not there")) },
			func(d []*bson.D) any { return fewLists.Insert(d[5], at{Parent: d[1], Next: d[3]}, 7) }),
		few("Move", "into a list that is full it is refused", full, func(d []*bson.D) any { return fewLists.Move(d[4], at{Parent: d[0], Prev: d[2]}, 7) }),
		few("Move", "within a list that is full", full, func(d []*bson.D) any { return fewLists.Move(d[2], at{Parent: d[0], Next: d[1]}, 7) }),
		few("Move", "a document without its list is refused", func(s string) []*bson.D {
			d := roomy(bson.D{{Key: "_id", Value: s}, {Key: "up", Value: nil}, {Key: "at", Value: "a0"}, {Key: "below", Value: bson.D{{Key: "ids", Value: "x"}}}})
			return append(full("n"), &d)
		}, func(d []*bson.D) any { return fewLists.Move(d[2], at{Parent: d[5]}, 7) }),
		{Method: "paths.ChildTree.Page", Reason: "some", Make: func(s string) any { return byChildren.Page(s, 20, 10) }},
		{Method: "paths.ChildTree.Page", Reason: "all", Make: func(s string) any { return fewLists.Page(s, 0, 0) }},
		{Method: "paths.ChildTree.Page", Reason: "a negative number is refused", Make: func(s string) any { return byChildren.Page(s, 0, -1) }},
		{Method: "paths.ChildTree.Page", Reason: "one is refused for what is skipped too", Make: func(s string) any { return byChildren.Page(s, -1, 0) }},
		{Method: "paths.ChildTree.Page", Reason: "no _id is refused", Make: func(string) any { return byChildren.Page("", 0, 1) }},
		{Method: "paths.ChildTree.CountChildren", Reason: "without them", Make: func(s string) any { return byChildren.CountChildren(s) }},
		{Method: "paths.ChildTree.Listing", Reason: "by the index on the lists", Make: func(s string) any { return byChildren.Listing(s) }},
		{Method: "paths.ChildTree.CheckLists", Reason: "of all lists", Make: func(string) any { return byChildren.CheckLists(paths.TreeSpec{}) }},
		{Method: "paths.ChildTree.Adopt", Reason: "the links that were not there", Make: func(string) any { return byChildren.Adopt(paths.TreeSpec{}) },
			State: func(s string) any {
				set := bson.D{{Key: "parent", Value: s}, {Key: "order", Value: "a0"}, {Key: "change", Value: int64(7)}}
				return paths.State{Change: 7, Repair: model.NewPlan(treeNodes.Update(s, bson.D{{Key: "$set", Value: set}}))}
			}},
	}
}
