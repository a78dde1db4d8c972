package checks

import (
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	nestedOnes = paths.NewNestedSet(anything, paths.NestedSetSpec{})
	gappedOnes = paths.NewNestedSet(anything, paths.NestedSetSpec{Links: paths.Links{Parent: "up", Order: "at", Change: "rev"}, Left: "set.l", Right: "set.r", Depth: "set.d", Gap: 16})
	directOnes = paths.NewNestedSet(anything, paths.NestedSetSpec{Direct: true})
)

func init() {
	register(nestedSets()...)
}

// nestedNode is a node of nestedOnes and directOnes, as it was read.
func nestedNode(id string, parent any, order string, left, right int64, depth int32) *bson.D {
	d := roomy(bson.D{
		{Key: "_id", Value: id}, {Key: "parent", Value: parent}, {Key: "order", Value: order}, {Key: "change", Value: int64(4)},
		{Key: "left", Value: left}, {Key: "right", Value: right}, {Key: "depth", Value: depth},
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
	return Case{Method: "paths.NestedSet." + method, Reason: reason, From: func(s string) ([]any, func() any) {
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
	type at = paths.At[doc]
	// a forest: s(s1(s11) s2) s3
	forest := func(s string) []*doc {
		return []*doc{
			nestedNode(s, nil, "a0", 1, 8, 0), nestedNode(s+"1", s, "a0", 2, 5, 1), nestedNode(s+"11", s+"1", "a0", 3, 4, 2),
			nestedNode(s+"2", s, "a1", 6, 7, 1), nestedNode(s+"3", nil, "a1", 9, 10, 0),
		}
	}
	wide := func(s string) []*doc {
		return []*doc{
			gappedNode(s, nil, "a0", 1, 113, 0), gappedNode(s+"1", s, "a0", 17, 65, 1), gappedNode(s+"11", s+"1", "a0", 33, 49, 2),
			gappedNode(s+"2", s, "a1", 81, 97, 1), gappedNode(s+"3", nil, "a1", 129, 145, 0),
		}
	}
	fresh := func(docs func(string) []*doc) func(string) []*doc {
		return func(s string) []*doc {
			d := roomy(doc{{Key: "_id", Value: s + "new"}, {Key: "name", Value: s}, {Key: "left", Value: int64(99)}})
			return append(docs(s), &d)
		}
	}
	torn := func(s string) []*doc {
		return []*doc{nestedNode(s, nil, "a0", 8, 1, 0), nestedNode(s+"1", nil, "a1", 9, 10, 0)}
	}
	return []Case{
		{Method: "paths.NestedSet.Indexes", Reason: "unique on left", Make: func(string) any { return nestedOnes.Indexes() }},
		{Method: "paths.NestedSet.Indexes", Reason: "not unique for direct shifts", Make: func(string) any { return directOnes.Indexes() }},
		{Method: "paths.NestedSet.Roots", Reason: "by the links", Make: func(string) any { return nestedOnes.Roots() }},
		{Method: "paths.NestedSet.Children", Reason: "by the links", Make: func(s string) any { return nestedOnes.Children(s) }},
		ofNodes("Load", "numbers are given", func(s string) []*doc {
			a, b := roomy(doc{{Key: "_id", Value: s}, {Key: "parent", Value: s + "2"}}), roomy(doc{{Key: "_id", Value: s + "2"}, {Key: "parent", Value: nil}})
			return []*doc{&a, &b}
		}, func(d []*doc) any { return nestedOnes.Load([]doc{*d[0], *d[1]}, 7) }),
		ofNodes("Ancestors", "by both numbers", forest, func(d []*doc) any { return nestedOnes.Ancestors(d[2]) }),
		ofNodes("Ancestors", "of a node without numbers there are none", torn, func(d []*doc) any { return nestedOnes.Ancestors(d[0]) }),
		ofNodes("Descendants", "a range", forest, func(d []*doc) any { return nestedOnes.Descendants(d[0], 0) }),
		ofNodes("Descendants", "to a depth, of numbers in a document", wide, func(d []*doc) any { return gappedOnes.Descendants(d[0], 2) }),
		ofNodes("Descendants", "of a node without numbers there are none", torn, func(d []*doc) any { return nestedOnes.Descendants(d[0], 0) }),
		ofNodes("Leaves", "known by their numbers", forest, func(d []*doc) any { return nestedOnes.Leaves(d[0]) }),
		ofNodes("Leaves", "that nothing is joined to", wide, func(d []*doc) any { return gappedOnes.Leaves(d[0]) }),
		ofNodes("Insert", "all that comes after makes room", fresh(forest), func(d []*doc) any { return nestedOnes.Insert(d[5], at{Parent: d[1], Prev: d[2]}, 7) }),
		ofNodes("Insert", "after the last root nothing is shifted", fresh(forest), func(d []*doc) any { return nestedOnes.Insert(d[5], at{Prev: d[4]}, 7) }),
		ofNodes("Insert", "into a gap nothing is shifted", fresh(wide), func(d []*doc) any { return gappedOnes.Insert(d[5], at{Parent: d[0], Prev: d[1], Next: d[3]}, 7) }),
		ofNodes("Insert", "room is made in one update", fresh(forest), func(d []*doc) any { return directOnes.Insert(d[5], at{Next: d[0]}, 7) }),
		ofNodes("Insert", "a number of a change before is refused", fresh(forest), func(d []*doc) any { return nestedOnes.Insert(d[5], at{Next: d[0]}, 4) }),
		ofNodes("Insert", "beside numbers that make no sense it is refused", fresh(torn), func(d []*doc) any { return nestedOnes.Insert(d[2], at{Prev: d[0]}, 7) }),
		ofNodes("Move", "to the right: what is on the way comes to the left", forest, func(d []*doc) any { return nestedOnes.Move(d[1], at{Prev: d[4]}, 7) }),
		ofNodes("Move", "to the left", forest, func(d []*doc) any { return nestedOnes.Move(d[4], at{Parent: d[1], Next: d[2]}, 7) }),
		ofNodes("Move", "in one update", forest, func(d []*doc) any { return directOnes.Move(d[4], at{Parent: d[1], Next: d[2]}, 7) }),
		ofNodes("Move", "into a gap only the subtree is written", wide, func(d []*doc) any { return gappedOnes.Move(d[1], at{Prev: d[4]}, 7) }),
		ofNodes("Move", "a gap that is too narrow", wide, func(d []*doc) any { return gappedOnes.Move(d[4], at{Parent: d[1], Next: d[2]}, 7) }),
		ofNodes("Move", "to where it is: nothing", forest, func(d []*doc) any { return nestedOnes.Move(d[1], at{Parent: d[0], Next: d[3]}, 7) }),
		ofNodes("Move", "below itself is refused", forest, func(d []*doc) any { return nestedOnes.Move(d[0], at{Parent: d[2]}, 7) }),
		ofNodes("Move", "of numbers that make no sense is refused", torn, func(d []*doc) any { return nestedOnes.Move(d[0], at{Prev: d[1]}, 7) }),
	}
}
