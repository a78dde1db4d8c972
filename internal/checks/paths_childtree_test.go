package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	byChildren = paths.NewChildTree(treeNodes, paths.ChildTreeSpec{})
	fewLists   = paths.NewChildTree(anything, paths.ChildTreeSpec{
		TreeSpec: paths.TreeSpec{Parent: "up", Order: "at", Change: "rev"},
		Children: "below.ids", Max: 2,
	})
)

func init() {
	registerTree("children", byChildren)
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
	few := func(method, reason string, docs func(s string) []bson.D, change func(s string) model.Change) Case {
		return Case{
			Method: "paths.Tree." + method, Reason: "children: " + reason, State: read("anything", docs, change),
			Make: func(s string) any { return change(s) },
		}
	}
	full := func(s string) []bson.D {
		return []bson.D{
			*fewNode(s, nil, "a0", s+"1", s+"2"), *fewNode(s+"1", s, "a0", s+"11"), *fewNode(s+"2", s, "a1"),
			*fewNode(s+"11", s+"1", "a0"), *fewNode(s+"3", nil, "a1"),
		}
	}
	bare := func(s string) []bson.D {
		return []bson.D{{{Key: "_id", Value: s}, {Key: "children", Value: bson.A{s + "2"}}}, {{Key: "_id", Value: s + "2"}}}
	}
	adopt := func(string) model.Change { return byChildren.Adopt() }
	return []Case{
		few("Insert", "into a list in a document", full, func(s string) model.Change {
			return fewLists.Insert(*fewNode(s+"new", nil, "", "what is not there"), paths.FirstChild[any](s+"1"))
		}),
		few("Move", "within a list that is full", full, func(s string) model.Change {
			return fewLists.Move(s+"2", paths.FirstChild[any](s))
		}),
		few("Move", "to the head of another list", full, func(s string) model.Change {
			return fewLists.Move(s+"3", paths.FirstChild[any](s+"1"))
		}),
		few("Move", "among the roots no list is written", full, func(s string) model.Change {
			return fewLists.Move(s+"3", paths.Before[any](s))
		}),
		{
			Method: "paths.Tree.CheckLists", Reason: "children: of all lists",
			Make: func(string) any { return byChildren.CheckLists() },
		},
		{
			Method: "paths.Tree.Adopt",
			Reason: "children: the links that were not there",
			Make:   func(s string) any { return adopt(s) }, State: read("categories", bare, adopt),
		},
	}
}
