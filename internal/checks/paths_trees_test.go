package checks

import (
	"context"
	"reflect"
	"strings"
	"sync"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
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
	byParent  = paths.NewParentTree(treeNodes, paths.TreeSpec{})
	byArray   = paths.NewAncestorArray(treeNodes, paths.AncestorArraySpec{})
	byPath    = paths.NewMaterializedPath(treeNodes, paths.MaterializedPathSpec{})
)

func treeRoot(id, order string) *treeNode {
	return &treeNode{ID: id, Order: order, Ancestors: []string{id}, Path: treePath(id)}
}

// treePath is the path of a root; a segment that can't be part of a path is left out.
func treePath(id string) string {
	path, err := paths.Path(id)
	if err != nil {
		return "/"
	}
	return path
}

func treeChild(parent *treeNode, id, order string) *treeNode {
	return &treeNode{
		ID: id, Parent: &parent.ID, Order: order,
		Ancestors: append(parent.Ancestors[:len(parent.Ancestors):len(parent.Ancestors)], id),
		Path:      parent.Path + treePath(id),
	}
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

// kept are the stored documents of some nodes, with their lists of children.
func kept(nodes ...*treeNode) []bson.D {
	out := make([]bson.D, len(nodes))
	for i, n := range nodes {
		if err := bson.Unmarshal(treeRaw(n), &out[i]); err != nil {
			panic(err)
		}
		list := bson.A{}
		for _, c := range nodes {
			if c.Parent != nil && *c.Parent == n.ID {
				list = append(list, c.ID)
			}
		}
		out[i] = append(out[i], bson.E{Key: "children", Value: list})
	}
	return out
}

// read is the state that a change of a tree reads where documents are stored, as change 7.
func read(collection string, docs func(s string) []bson.D, change func(s string) model.Change) func(s string) any {
	all := anything.Named(collection)
	return func(s string) any {
		ctx, db := context.Background(), embedded().Database(bson.NewObjectID().Hex())
		defer func() { _ = db.Drop(ctx) }()
		for _, d := range docs(s) {
			if _, err := model.NewPlan(all.Insert(d)).Run(ctx, db); err != nil {
				return err
			}
		}
		state, err := change(s).Read(ctx, db)
		if err != nil {
			return err
		}
		numbered := reflect.New(reflect.TypeOf(state)).Elem()
		numbered.Set(reflect.ValueOf(state))
		numbered.FieldByName("Change").SetInt(7)
		return numbered.Interface()
	}
}

// embedded is a client of an engine that all cases read from, each from a database of its own.
var embedded = sync.OnceValue(func() *mongo.Client {
	client, _ := mongotest.Start()
	return client
})

// branch is clothes(s(x y) shoes) sale(old).
func branch(s string) []bson.D {
	clothes, sale := treeRoot("clothes", "a0"), treeRoot("sale", "a1")
	n := treeChild(clothes, s, "a0")
	return kept(clothes, n, treeChild(n, "x", "a0"), treeChild(n, "y", "a1"), treeChild(clothes, "shoes", "a1"), sale,
		treeChild(sale, "old", "a0"))
}

func init() {
	registerTree("parents", byParent)
	registerTree("ancestors", byArray)
	registerTree("paths", byPath)
	named := paths.NewMaterializedPath(treeNodes, paths.MaterializedPathSpec{Segment: "name"})
	rename := func(s string) model.Change { return named.Rename("shoes", s) }
	convert := func(string) model.Change { return paths.Convert(byParent, byArray) }
	register(
		Case{
			Method: "paths.Tree.Rename", Reason: "a segment of its own", Make: func(s string) any { return rename(s) },
			MayRefuse: badSegment,

			State: read("categories", func(s string) []bson.D {
				return kept(&treeNode{ID: "shoes", Name: "old", Order: "a0", Path: "old/"})
			}, rename),
		},
		Case{
			Method: "paths.Tree.Rename", Reason: "segments that are ids are refused",
			Make: func(s string) any { return byParent.Rename("shoes", s) },
		},
		Case{
			Method: "paths.Tree.Adopt", Reason: "a tree without lists is refused",
			Make: func(string) any { return byParent.Adopt() },
		},
		Case{
			Method: "paths.Tree.CheckLists", Reason: "a tree without lists is refused",
			Make: func(string) any { return byParent.CheckLists() },
		},
		Case{
			Method: "paths.Convert", Reason: "what is missing is written", Make: func(s string) any { return convert(s) },
			MayRefuse: badSegment,

			State: read("categories", func(s string) []bson.D { return kept(&treeNode{ID: s, Order: "a0"}) }, convert),
		},
	)
}

// registerReads registers the reads of a tree.
func registerReads(name string, t *paths.Tree[treeNode, string]) {
	clothes := treeRoot("clothes", "a0")
	of := func(method, reason string, node func(s string) *treeNode, call func(*treeNode) any) Case {
		return Case{
			Method: "paths.Tree." + method, Reason: name + ": " + reason, MayRefuse: badSegment,
			From: func(s string) ([]any, func() any) {
				n := node(s)
				n.Children = []string{"x"}
				return []any{n}, func() any { return call(n) }
			},
		}
	}
	root := func(s string) *treeNode { return treeRoot(s, "a0") }
	child := func(s string) *treeNode { return treeChild(clothes, s, "a1") }
	register(
		Case{Method: "paths.Tree.Roots", Reason: name + ": in order", Make: func(string) any { return t.Roots() }},
		of("Children", "in order", root, func(n *treeNode) any { return t.Children(n) }),
		of("Siblings", "in order", child, func(n *treeNode) any { return t.Siblings(n) }),
		of("Siblings", "of a root", root, func(n *treeNode) any { return t.Siblings(n) }),
		of("Ancestors", "of a nested node", func(s string) *treeNode { return treeChild(child(s), "boots", "a0") },
			func(n *treeNode) any { return t.Ancestors(n) }),
		of("Ancestors", "of a root", root, func(n *treeNode) any { return t.Ancestors(n) }),
		Case{
			Method: "paths.Tree.Ancestors", Reason: name + ": of nil is refused",
			Make: func(string) any { return t.Ancestors(nil) },
		},
		of("Descendants", "all", root, func(n *treeNode) any { return t.Descendants(n, 0) }),
		of("Descendants", "to a depth", child, func(n *treeNode) any { return t.Descendants(n, 2) }),
		of("Leaves", "that nothing is joined to", root, func(n *treeNode) any { return t.Leaves(n) }),
		Case{Method: "paths.Tree.Links", Reason: name, Make: func(s string) any { return t.Links(s) }},
		Case{Method: "paths.Tree.Indexes", Reason: name, Make: func(string) any { return t.Indexes() }},
	)
}

// registerTree registers what a tree of any representation does.
func registerTree(name string, t *paths.Tree[treeNode, string]) {
	registerReads(name, t)
	change := func(method, reason string, docs func(s string) []bson.D, of func(s string) model.Change) Case {
		return Case{
			Method: "paths.Tree." + method, Reason: name + ": " + reason, MayRefuse: badSegment,
			Make: func(s string) any { return of(s) }, State: read("categories", docs, of),
		}
	}
	insert := func(id func(s string) string, at paths.Place[string]) func(s string) model.Change {
		return func(s string) model.Change { return t.Insert(treeNode{ID: id(s), Name: s}, at) }
	}
	move := func(at paths.Place[string]) func(s string) model.Change {
		return func(s string) model.Change { return t.Move(s, at) }
	}
	remove := func(id string, mode paths.DeleteMode) func(s string) model.Change {
		return func(s string) model.Change {
			if id == "" {
				return t.Delete(s, mode)
			}
			return t.Delete(id, mode)
		}
	}
	crowded := func(s string) []bson.D {
		clothes := treeRoot("clothes", "a0")
		return kept(clothes, treeChild(clothes, "hats", "a0"), treeChild(clothes, s, "a0"+strings.Repeat("0", 50)+"1"))
	}
	long := func(s string) string { return s + "9" }
	register(
		change("Insert", "a child", branch, insert(long, paths.LastChild("clothes"))),
		change("Insert", "between two siblings", branch, insert(long, paths.Before("shoes"))),
		change("Insert", "siblings get new keys", crowded, insert(long, paths.After("hats"))),
		change("Move", "to another parent", branch, move(paths.LastChild("sale"))),
		change("Move", "to the roots", branch, move(paths.After("clothes"))),
		change("Move", "behind a sibling", branch, move(paths.After("shoes"))),
		change("Move", "where it is", branch, func(s string) model.Change { return t.Move(s, paths.After(s)) }),
		change("Delete", "with all below", branch, remove("", paths.Subtree)),
		change("Delete", "a leaf", branch, remove("y", paths.Restrict)),
		change("Delete", "children take its place", branch, remove("", paths.Promote)),
		Case{
			Method: "paths.Tree.Delete", Reason: name + ": an unknown mode is refused",
			Make: func(s string) any { return t.Delete(s, 9) },
		},
		Case{Method: "paths.Tree.Load", Reason: name + ": in any order", From: func(s string) ([]any, func() any) {
			docs := []treeNode{*treeChild(treeRoot(s, "a0"), "boots", ""), *treeRoot(s, "a0")}
			return []any{docs}, func() any { return t.Load(docs) }
		}, MayRefuse: badSegment,
			State: read("categories", func(string) []bson.D { return nil }, func(string) model.Change {
				return t.Load(nil)
			})},
		Case{Method: "paths.Tree.Rebalance", Reason: name, From: func(s string) ([]any, func() any) {
			parent := &s
			return []any{parent}, func() any { return t.Rebalance(parent) }
		}, MayRefuse: badSegment, State: read("categories", func(s string) []bson.D {
			top := treeRoot(s, "a0")
			return kept(top, treeChild(top, "x", "a0V"))
		}, func(s string) model.Change { return t.Rebalance(&s) })},
		Case{Method: "paths.Tree.Checks", Reason: name, Make: func(string) any { return t.Checks() }},
		Case{
			Method: "paths.Tree.Drop", Reason: name,
			Make:      func(string) any { return t.Drop(byParent) },
			MayRefuse: "has none beside the links",

			State: func(s string) any { return []bson.Raw{treeRaw(treeRoot(s, "a0"))} },
		},
	)
}
