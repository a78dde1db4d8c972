package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	nestedOnes = paths.NewNestedSet(anything, paths.NestedSetSpec{})
	gappedOnes = paths.NewNestedSet(anything, paths.NestedSetSpec{
		TreeSpec: paths.TreeSpec{Parent: "up", Order: "at", Change: "rev"},
		Left:     "set.l", Right: "set.r", Depth: "set.d", Gap: 16,
	})
	directOnes = paths.NewNestedSet(anything, paths.NestedSetSpec{Direct: true})
)

func init() {
	register(nestedSets()...)
}

// nestedNode is a node of nestedOnes and directOnes, as it was read.
func nestedNode(id string, parent any, order string, left, right int64, depth int32) *bson.D {
	d := roomy(bson.D{
		{Key: "_id", Value: id}, {Key: "parent", Value: parent}, {Key: "order", Value: order},
		{Key: "change", Value: int64(4)}, {Key: "left", Value: left}, {Key: "right", Value: right},
		{Key: "depth", Value: depth},
	})
	return &d
}

// gappedNode is a node of gappedOnes.
func gappedNode(id string, parent any, order string, left, right int64, depth int32) *bson.D {
	d := roomy(bson.D{
		{Key: "_id", Value: id}, {Key: "up", Value: parent}, {Key: "at", Value: order}, {Key: "rev", Value: int64(4)},
		{Key: "set", Value: bson.D{{Key: "l", Value: left}, {Key: "r", Value: right}, {Key: "d", Value: depth}}},
	})
	return &d
}

// ofNodes is a case about documents.
func ofNodes(method, reason string, docs func(s string) []*bson.D, call func(d []*bson.D) any) Case {
	return Case{Method: "paths.Tree." + method, Reason: "nested: " + reason, From: func(s string) ([]any, func() any) {
		list := docs(s)
		inputs := make([]any, len(list))
		for i, d := range list {
			inputs[i] = *d
		}
		return inputs, func() any { return call(list) }
	}}
}

func nestedSets() []Case {
	type doc = bson.D
	// a forest: s(s1(s11) s2) s3
	forest := func(s string) []*doc {
		return []*doc{
			nestedNode(s, nil, "a0", 1, 8, 0), nestedNode(s+"1", s, "a0", 2, 5, 1), nestedNode(s+"11", s+"1", "a0", 3, 4, 2),
			nestedNode(s+"2", s, "a1", 6, 7, 1), nestedNode(s+"3", nil, "a1", 9, 10, 0),
		}
	}
	wide := func(s string) []*doc {
		return []*doc{
			gappedNode(s, nil, "a0", 1, 113, 0), gappedNode(s+"1", s, "a0", 17, 65, 1),
			gappedNode(s+"11", s+"1", "a0", 33, 49, 2), gappedNode(s+"2", s, "a1", 81, 97, 1),
			gappedNode(s+"3", nil, "a1", 129, 145, 0),
		}
	}
	torn := func(s string) []*doc {
		return []*doc{nestedNode(s, nil, "a0", 8, 1, 0), nestedNode(s+"1", nil, "a1", 9, 10, 0)}
	}
	change := func(method, reason string, docs func(string) []*doc, of func(s string) model.Change) Case {
		return Case{
			Method: "paths.Tree." + method, Reason: "nested: " + reason, Make: func(s string) any { return of(s) },
			State: read("anything", func(s string) []doc {
				var out []doc
				for _, d := range docs(s) {
					out = append(out, *d)
				}
				return out
			}, of),
		}
	}
	type tree = *paths.Tree[doc, any]
	insert := func(t tree, at func(s string) paths.Place[any]) func(s string) model.Change {
		return func(s string) model.Change {
			return t.Insert(doc{{Key: "_id", Value: s + "new"}, {Key: "name", Value: s}, {Key: "left", Value: int64(99)}}, at(s))
		}
	}
	move := func(t tree, id string, at func(s string) paths.Place[any]) func(s string) model.Change {
		return func(s string) model.Change { return t.Move(s+id, at(s)) }
	}
	by := func(of func(any) paths.Place[any], id string) func(s string) paths.Place[any] {
		return func(s string) paths.Place[any] { return of(s + id) }
	}
	return []Case{
		{
			Method: "paths.Tree.Indexes", Reason: "nested: unique on left",
			Make: func(string) any { return nestedOnes.Indexes() },
		},
		{
			Method: "paths.Tree.Indexes", Reason: "nested: not unique for direct shifts",
			Make: func(string) any { return directOnes.Indexes() },
		},
		{Method: "paths.Tree.Roots", Reason: "nested: by the links", Make: func(string) any { return nestedOnes.Roots() }},
		ofNodes("Children", "by the links", forest, func(d []*doc) any { return nestedOnes.Children(d[0]) }),
		{
			Method: "paths.Tree.Load", Reason: "nested: numbers are given",
			State: read("anything", func(string) []doc { return nil }, func(string) model.Change {
				return nestedOnes.Load(nil)
			}),
			From: func(s string) ([]any, func() any) {
				docs := []doc{
					{{Key: "_id", Value: s}, {Key: "parent", Value: s + "2"}},
					{{Key: "_id", Value: s + "2"}, {Key: "parent", Value: nil}},
				}
				return []any{docs}, func() any { return nestedOnes.Load(docs) }
			},
		},
		ofNodes("Ancestors", "by both numbers", forest, func(d []*doc) any { return nestedOnes.Ancestors(d[2]) }),
		ofNodes("Ancestors", "of a node without numbers there are none", torn, func(d []*doc) any {
			return nestedOnes.Ancestors(d[0])
		}),
		ofNodes("Descendants", "a range", forest, func(d []*doc) any { return nestedOnes.Descendants(d[0], 0) }),
		ofNodes("Descendants", "to a depth, of numbers in a document", wide, func(d []*doc) any {
			return gappedOnes.Descendants(d[0], 2)
		}),
		ofNodes("Descendants", "of a node without numbers there are none", torn, func(d []*doc) any {
			return nestedOnes.Descendants(d[0], 0)
		}),
		ofNodes("Leaves", "known by their numbers", forest, func(d []*doc) any { return nestedOnes.Leaves(d[0]) }),
		ofNodes("Leaves", "that nothing is joined to", wide, func(d []*doc) any { return gappedOnes.Leaves(d[0]) }),
		change("Insert", "all that comes after makes room", forest, insert(nestedOnes, by(paths.LastChild[any], "1"))),
		change("Insert", "after the last root nothing is shifted", forest, insert(nestedOnes, by(paths.After[any], "3"))),
		change("Insert", "into a gap nothing is shifted", wide, insert(gappedOnes, by(paths.After[any], "1"))),
		change("Insert", "room is made in one update", forest, insert(directOnes, by(paths.Before[any], ""))),
		change("Move", "to the right: what is on the way comes to the left", forest,
			move(nestedOnes, "1", by(paths.After[any], "3"))),
		change("Move", "to the left", forest, move(nestedOnes, "3", by(paths.FirstChild[any], "1"))),
		change("Move", "in one update", forest, move(directOnes, "3", by(paths.FirstChild[any], "1"))),
		change("Move", "into a gap only the subtree is written", wide, move(gappedOnes, "1", by(paths.After[any], "3"))),
		change("Move", "a gap that is too narrow", wide, move(gappedOnes, "3", by(paths.FirstChild[any], "1"))),
		change("Move", "to where it is: nothing", forest, move(nestedOnes, "1", by(paths.FirstChild[any], ""))),
	}
}
