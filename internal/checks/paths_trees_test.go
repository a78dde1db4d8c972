package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// treeNode is a node of each representation.
type treeNode struct {
	ID     string  `bson:"_id"`
	Name   string  `bson:"name,omitempty"`
	Parent *string `bson:"parent"`
	Order  string  `bson:"order"`
	Change int64   `bson:"change"`

	Children  []string `bson:"children,omitempty"`
	Ancestors []string `bson:"ancestors,omitempty"`
	Path      string   `bson:"path,omitempty"`

	Items int64                `bson:"items,omitempty"`
	Total *paths.Totals[int64] `bson:"total,omitempty"`
}

var (
	treeNodes = model.NewCollection[treeNode, string]("categories")
	byParent  = paths.NewParentTree(treeNodes, paths.Links{})
	byArray   = paths.NewAncestorArray(treeNodes, paths.AncestorArraySpec{})
	byPath    = paths.NewMaterializedPath(treeNodes, paths.MaterializedPathSpec{})
)

func treeRoot(id, order string) *treeNode {
	segment, _ := paths.Escape(id)
	return &treeNode{ID: id, Order: order, Ancestors: []string{id}, Path: segment + "/"}
}

func treeChild(parent *treeNode, id, order string) *treeNode {
	segment, _ := paths.Escape(id)
	return &treeNode{ID: id, Parent: &parent.ID, Order: order, Ancestors: append(parent.Ancestors[:len(parent.Ancestors):len(parent.Ancestors)], id), Path: parent.Path + segment + "/"}
}

// planning are the methods that all representations share.
type planning interface {
	Roots() model.Find[treeNode]
	Children(id string) model.Find[treeNode]
	Ancestors(n *treeNode) model.Aggregate[treeNode]
	Descendants(n *treeNode, depth int) model.Aggregate[treeNode]
	Insert(doc *treeNode, at paths.At[treeNode], change int64) model.Plan
	Move(n *treeNode, to paths.At[treeNode], change int64) model.Plan
	Load(docs []treeNode, change int64) model.Plan
	Indexes() []model.Index
	Relations() []model.Relation
}

// badSegment is why a path doesn't take every string.
const badSegment = "the segment can't be part of the path"

func treeRaw(n *treeNode) bson.Raw {
	raw, err := bson.Marshal(n)
	if err != nil {
		panic(err)
	}
	return raw
}

func init() {
	registerPlanning("paths.ParentTree.", byParent)
	registerPlanning("paths.AncestorArray.", byArray)
	registerPlanning("paths.MaterializedPath.", byPath)
	registerTree("parents", byParent.Tree(paths.TreeSpec{}))
	registerTree("ancestors", byArray.Tree(paths.TreeSpec{}))
	registerTree("paths", byPath.Tree(paths.TreeSpec{}))
	named := paths.NewMaterializedPath(treeNodes, paths.MaterializedPathSpec{Segment: "name"}).Tree(paths.TreeSpec{})
	register(
		Case{Method: "paths.Tree.Rename", Reason: "a segment of its own", Make: func(s string) any { return named.Rename("shoes", s) }, MayRefuse: badSegment,
			State: func(s string) any {
				return paths.State{Change: 7, Node: treeRaw(&treeNode{ID: "shoes", Name: s, Order: "a0", Path: "old/"})}
			}},
		Case{Method: "paths.Tree.Rename", Reason: "segments that are ids are refused", Make: func(s string) any { return byParent.Tree(paths.TreeSpec{}).Rename("shoes", s) }},
		Case{Method: "paths.Convert", Reason: "what is missing is written", Make: func(string) any {
			return paths.Convert(byParent.Tree(paths.TreeSpec{}), byPath.Tree(paths.TreeSpec{}))
		}, State: func(s string) any {
			return paths.State{Change: 7, Repair: model.NewPlan(treeNodes.Update(s, bson.D{{Key: "$set", Value: bson.D{{Key: "path", Value: "a/"}}}}))}
		}},
	)
}

func registerPlanning(method string, p planning) {
	clothes := treeRoot("clothes", "a0")
	shoes := treeChild(clothes, "shoes", "a1")
	aggregate := func(name, reason string, of func(s string) *treeNode, call func(*treeNode) any) Case {
		return Case{Method: method + name, Reason: reason, MayRefuse: badSegment, From: func(s string) ([]any, func() any) {
			n := of(s)
			return []any{n}, func() any { return call(n) }
		}}
	}
	all := func(n *treeNode) any { return p.Descendants(n, 0) }
	register(
		Case{Method: method + "Roots", Reason: "in order", Make: func(string) any { return p.Roots() }},
		Case{Method: method + "Children", Reason: "in order", Make: func(s string) any { return p.Children(s) }, MayRefuse: badSegment},
		aggregate("Ancestors", "of a nested node", func(s string) *treeNode { return treeChild(treeChild(clothes, s, "a1"), "boots", "a0") }, func(n *treeNode) any { return p.Ancestors(n) }),
		aggregate("Ancestors", "of a root", func(string) *treeNode { return clothes }, func(n *treeNode) any { return p.Ancestors(n) }),
		Case{Method: method + "Ancestors", Reason: "of nil is refused", Make: func(string) any { return p.Ancestors(nil) }},
		aggregate("Descendants", "all", func(s string) *treeNode { return treeRoot(s, "a0") }, all),
		aggregate("Descendants", "to a depth", func(s string) *treeNode { return treeChild(clothes, s, "a1") }, func(n *treeNode) any { return p.Descendants(n, 2) }),
		Case{Method: method + "Insert", Reason: "a child after another", MayRefuse: badSegment, From: func(s string) ([]any, func() any) {
			doc, at := &treeNode{ID: s, Name: s}, paths.At[treeNode]{Parent: clothes, Prev: shoes}
			return []any{doc, at}, func() any { return p.Insert(doc, at, 7) }
		}},
		Case{Method: method + "Insert", Reason: "between two siblings", MayRefuse: badSegment, From: func(s string) ([]any, func() any) {
			parent := treeRoot(s, "a0")
			doc, at := &treeNode{ID: "hats"}, paths.At[treeNode]{Parent: parent, Prev: treeChild(parent, "a", "a0"), Next: treeChild(parent, "b", "a1")}
			return []any{doc, at}, func() any { return p.Insert(doc, at, 7) }
		}},
		Case{Method: method + "Insert", Reason: "siblings out of order are refused", Make: func(string) any {
			return p.Insert(&treeNode{ID: "hats"}, paths.At[treeNode]{Prev: shoes, Next: clothes}, 7)
		}},
		Case{Method: method + "Move", Reason: "a branch to another parent", MayRefuse: badSegment, From: func(s string) ([]any, func() any) {
			n, at := treeChild(treeRoot("sale", "a1"), s, "a0"), paths.At[treeNode]{Parent: clothes, Prev: shoes}
			return []any{n, at}, func() any { return p.Move(n, at, 8) }
		}},
		Case{Method: method + "Move", Reason: "to the roots", MayRefuse: badSegment, From: func(s string) ([]any, func() any) {
			n := treeChild(clothes, s, "a0")
			return []any{n}, func() any { return p.Move(n, paths.At[treeNode]{Prev: clothes}, 8) }
		}},
		Case{Method: method + "Move", Reason: "under itself is refused", From: func(string) ([]any, func() any) {
			n := treeRoot("shoes", "a0")
			return []any{n}, func() any { return p.Move(n, paths.At[treeNode]{Parent: n}, 8) }
		}},
		Case{Method: method + "Load", Reason: "in any order", MayRefuse: badSegment, From: func(s string) ([]any, func() any) {
			docs := []treeNode{*treeChild(treeRoot(s, "a0"), "boots", ""), *treeRoot(s, "a0")}
			return []any{docs}, func() any { return p.Load(docs, 9) }
		}},
		Case{Method: method + "Load", Reason: "an orphan is refused", From: func(string) ([]any, func() any) {
			docs := []treeNode{*treeChild(clothes, "boots", "")}
			return []any{docs}, func() any { return p.Load(docs, 9) }
		}},
		Case{Method: method + "Indexes", Reason: "the declared ones", Make: func(string) any { return p.Indexes() }},
	)
}

func registerTree(name string, t *paths.Tree[treeNode, string]) {
	clothes := treeRoot("clothes", "a0")
	shoes := treeChild(clothes, "shoes", "a1")
	state := func(of func(s string) paths.State) func(string) any {
		return func(s string) any { out := of(s); out.Change = 7; return out }
	}
	nested := state(func(s string) paths.State {
		n := treeChild(clothes, s, "a0")
		return paths.State{Node: treeRaw(n), Parent: treeRaw(treeRoot("sale", "a1")), Prev: treeRaw(treeChild(treeRoot("sale", "a1"), "old", "a0"))}
	})
	dissolved := state(func(s string) paths.State {
		n := treeChild(clothes, s, "a0")
		return paths.State{Node: treeRaw(n), Parent: treeRaw(clothes), Prev: treeRaw(n), Next: treeRaw(shoes), Children: []bson.Raw{treeRaw(treeChild(n, "x", "a0")), treeRaw(treeChild(n, "y", "a1"))}}
	})
	register(
		Case{Method: "paths.Tree.Insert", Reason: name + ": a child", Make: func(s string) any { return t.Insert(treeNode{ID: s}, paths.LastChild("clothes")) }, MayRefuse: badSegment,
			State: state(func(s string) paths.State {
				return paths.State{Node: treeRaw(&treeNode{ID: s, Name: s}), Parent: treeRaw(clothes), Prev: treeRaw(shoes)}
			})},
		Case{Method: "paths.Tree.Insert", Reason: name + ": siblings get new keys", Make: func(s string) any { return t.Insert(treeNode{ID: "new"}, paths.LastChild("clothes")) }, MayRefuse: badSegment,
			State: state(func(s string) paths.State {
				return paths.State{Node: treeRaw(&treeNode{ID: "new"}), Parent: treeRaw(clothes), Prev: treeRaw(treeChild(clothes, s, "a0V")), Siblings: []bson.Raw{treeRaw(treeChild(clothes, s, "a0V"))}}
			})},
		Case{Method: "paths.Tree.Move", Reason: name + ": to another parent", Make: func(s string) any { return t.Move(s, paths.LastChild("sale")) }, MayRefuse: badSegment, State: nested},
		Case{Method: "paths.Tree.Move", Reason: name + ": where it is", Make: func(s string) any { return t.Move(s, paths.After(s)) }, MayRefuse: badSegment, State: state(func(s string) paths.State { return paths.State{Still: true} })},
		Case{Method: "paths.Tree.Delete", Reason: name + ": with all below", Make: func(s string) any { return t.Delete(s, paths.Subtree) }, MayRefuse: badSegment,
			State: state(func(s string) paths.State {
				n := treeChild(clothes, s, "a0")
				return paths.State{Node: treeRaw(n), Below: []bson.Raw{treeRaw(treeChild(n, "x", "a0"))}}
			})},
		Case{Method: "paths.Tree.Delete", Reason: name + ": a leaf", Make: func(s string) any { return t.Delete(s, paths.Restrict) }, MayRefuse: badSegment,
			State: state(func(s string) paths.State { return paths.State{Node: treeRaw(treeChild(clothes, s, "a0"))} })},
		Case{Method: "paths.Tree.Delete", Reason: name + ": children take its place", Make: func(s string) any { return t.Delete(s, paths.Promote) }, MayRefuse: badSegment, State: dissolved},
		Case{Method: "paths.Tree.Delete", Reason: name + ": an unknown mode is refused", Make: func(s string) any { return t.Delete(s, 9) }},
		Case{Method: "paths.Tree.Load", Reason: name, From: func(s string) ([]any, func() any) {
			docs := []treeNode{*treeRoot(s, "")}
			return []any{docs}, func() any { return t.Load(docs) }
		}, MayRefuse: badSegment, State: state(func(string) paths.State { return paths.State{} })},
		Case{Method: "paths.Tree.Rebalance", Reason: name, From: func(s string) ([]any, func() any) {
			parent := &s
			return []any{parent}, func() any { return t.Rebalance(parent) }
		}, MayRefuse: badSegment, State: state(func(s string) paths.State {
			return paths.State{Children: []bson.Raw{treeRaw(treeChild(clothes, s, "a0V"))}}
		})},
		Case{Method: "paths.Tree.Checks", Reason: name, Make: func(string) any { return t.Checks() }},
		Case{Method: "paths.Tree.Drop", Reason: name, Make: func(string) any { return t.Drop() }, MayRefuse: "has none beside the links",
			State: func(s string) any { return []bson.Raw{treeRaw(treeRoot(s, "a0"))} }},
		Case{Method: "paths.Tree.Indexes", Reason: name, Make: func(string) any { return t.Indexes() }},
	)
}
