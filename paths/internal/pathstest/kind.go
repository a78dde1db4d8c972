// Package pathstest has what the tests of package paths and of its cores share: trees of
// every representation over one Go type, trees within documents, forests in a short
// notation, random operations, and operations that are cut at each of their writes.
package pathstest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Category is a node of each representation.
type Category struct {
	ID     string  `bson:"_id"`
	Name   string  `bson:"name,omitempty"`
	Parent *string `bson:"parent"`
	Order  string  `bson:"order"`
	Change int64   `bson:"change"`

	Children  []string `bson:"children,omitempty"`
	Ancestors []string `bson:"ancestors,omitempty"`
	Path      string   `bson:"path,omitempty"`

	Left  int64 `bson:"left,omitempty"`
	Right int64 `bson:"right,omitempty"`
	Depth int   `bson:"depth,omitempty"`

	Items int64                `bson:"items,omitempty"`
	Total *paths.Totals[int64] `bson:"total,omitempty"`
}

// Full is set where random tests run ten times as long, by hand: a server takes most of
// an hour for them.
var Full = os.Getenv("DOCMODEL_LONG") != ""

// A Kind is a representation, in a collection of its own.
type Kind struct {
	Name    string
	Docs    *Nodes
	Declare Declaration
	Tree    *paths.Tree[Category, string]

	Fields   []string // beside the links
	Suspects []*model.Aggregate[bson.Raw]
}

// Nodes is the collection of a kind.
type Nodes = model.Collection[Category, string]

// A Declaration is a constructor of paths, with the rest of its spec filled in.
type Declaration = func(*Nodes, paths.TreeSpec) *paths.Tree[Category, string]

// Kinds are the five representations. Tests rely on their order: the fifth has lists of
// children.
var Kinds = []Kind{
	KindOf("parents", paths.NewParentTree[Category, string]),
	KindOf("ancestors", func(c *Nodes, s paths.TreeSpec) *paths.Tree[Category, string] {
		return paths.NewAncestorArray(c, paths.AncestorArraySpec{TreeSpec: s})
	}, "ancestors"),
	KindOf("paths", func(c *Nodes, s paths.TreeSpec) *paths.Tree[Category, string] {
		return paths.NewMaterializedPath(c, paths.MaterializedPathSpec{TreeSpec: s})
	}, "path"),
	KindOf("nested", func(c *Nodes, s paths.TreeSpec) *paths.Tree[Category, string] {
		return paths.NewNestedSet(c, paths.NestedSetSpec{TreeSpec: s})
	}, "left", "right", "depth"),
	KindOf("children", func(c *Nodes, s paths.TreeSpec) *paths.Tree[Category, string] {
		return paths.NewChildTree(c, paths.ChildTreeSpec{TreeSpec: s})
	}, "children"),
}

// KindOf declares a tree in a collection with the given name. fields are the
// representation's.
func KindOf(name string, declare Declaration, fields ...string) Kind {
	c := model.NewCollection[Category, string](name)
	tree := declare(c, paths.TreeSpec{})
	return Kind{name, c, declare, tree, fields, tree.Checks()[0].Queries}
}

// FindNode reads a node.
func FindNode(ctx context.Context, db *mongo.Database, docs *Nodes, id string) (*Category, error) {
	n, err := docs.ByID(id).One(ctx, db)
	return &n, err
}

// Ask reads a node, and asks a query about it.
func (k Kind) Ask(
	ctx context.Context, db *mongo.Database, id string, of func(*Category) *model.Aggregate[Category],
) ([]Category, error) {
	n, err := FindNode(ctx, db, k.Docs, id)
	if err != nil {
		return nil, err
	}
	return of(n).All(ctx, db)
}

// Find reads a node, and runs a find about it.
func (k Kind) Find(
	ctx context.Context, db *mongo.Database, id string, of func(*Category) *model.Find[Category],
) ([]Category, error) {
	n, err := FindNode(ctx, db, k.Docs, id)
	if err != nil {
		return nil, err
	}
	return of(n).All(ctx, db)
}

// Walk reads a node and what is below it down to a depth, in preorder.
func (k Kind) Walk(
	ctx context.Context, db *mongo.Database, id string, depth int,
) (out []paths.Visit[Category], err error) {
	n, err := FindNode(ctx, db, k.Docs, id)
	if depth < 0 {
		err = k.Tree.Descendants(n, depth).Err
	}
	if err != nil {
		return nil, err
	}
	below, err := k.Tree.Descendants(n, depth).All(ctx, db)
	if err != nil {
		return nil, err
	}
	for v, err := range k.Tree.Arrange(n, below) {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// ReadBelow reads what is below a node down to a depth, in order.
func (k Kind) ReadBelow(ctx context.Context, db *mongo.Database, id string, depth int) (out []Category, err error) {
	visits, err := k.Walk(ctx, db, id, depth)
	for _, v := range visits {
		if v.Depth > 0 {
			out = append(out, v.Doc)
		}
	}
	return out, err
}

// ReadAncestors reads the nodes above a node, and the node.
func (k Kind) ReadAncestors(ctx context.Context, db *mongo.Database, id string) ([]string, error) {
	above, err := IDs(k.Ask(ctx, db, id, k.Tree.Ancestors))
	return append(above, id), err
}

// FindCommon is the last that two lines have in common.
func FindCommon(a, b []string) (id string, ok bool) {
	for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
		id, ok = a[i], true
	}
	return id, ok
}

// MakePlan returns the plan of a change that is decided now, under a number of the tree's
// lease, and is run later.
func MakePlan(t testing.TB, db *mongo.Database, c model.Change, number int64) model.Plan {
	t.Helper()
	p, err := c.Plan(runctx.WithFence(t.Context(), number), db)
	if err != nil {
		return model.NewPlan(model.Refused("nodes", err))
	}
	return p
}

// Ensure makes the indexes.
func (k Kind) Ensure(t testing.TB, db *mongo.Database) {
	t.Helper()
	if err := model.New("test", k.Tree).Indexes().Ensure(context.WithoutCancel(t.Context()), db); err != nil {
		t.Fatal(err)
	}
}

// ReadForest is the forest that the links of the stored documents make.
func (k Kind) ReadForest(t testing.TB, db *mongo.Database) *paths.Forest[string] {
	t.Helper()
	all, err := k.Docs.Find(nil).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	links := make([]forest.Link[string], len(all))
	for i, c := range all {
		links[i] = forest.Link[string]{ID: c.ID, Order: c.Order, Root: c.Parent == nil}
		if c.Parent != nil {
			links[i].Parent = *c.Parent
		}
	}
	f, lost := forest.BuildForest(links)
	if len(lost) > 0 {
		t.Fatalf("%s: no place for %v", k.Name, lost)
	}
	return Must(paths.NewForest(func(yield func(paths.Visit[string], error) bool) {
		for id, depth := range f.WalkAll() {
			if !yield(paths.Visit[string]{Doc: id, Depth: depth}, nil) {
				return
			}
		}
	}, func(id string) string { return id }))
}

// CountBelow is the number of a node's descendants.
func CountBelow(f *paths.Forest[string], id string) int { return len(Must(f.Descendants(id, 0))) }

// DepthOf is the number of a node's ancestors.
func DepthOf(f *paths.Forest[string], id string) int { return len(Must(f.Ancestors(id))) }

// SiblingsOf are the other children of a node's parent, or the other roots.
func SiblingsOf(f *paths.Forest[string], id string) []string {
	parent, child, _ := f.Parent(id)
	siblings := f.Roots()
	if child {
		siblings = Must(f.Children(parent))
	}
	return slices.DeleteFunc(siblings, func(x string) bool { return x == id })
}

// LeavesOf are the nodes below a node that have no children.
func LeavesOf(f *paths.Forest[string], id string) []string {
	return slices.DeleteFunc(Must(f.Descendants(id, 0)), func(x string) bool { return len(Must(f.Children(x))) > 0 })
}

// WalkIDs are a node and what is below it, in preorder, with their depths.
func WalkIDs(f *paths.Forest[string], id string) (out []string) {
	var walk func(id string, depth int)
	walk = func(id string, depth int) {
		out = append(out, fmt.Sprint(id, depth))
		for _, c := range Must(f.Children(id)) {
			walk(c, depth+1)
		}
	}
	walk(id, 0)
	return out
}

// LinksOf are the links of a forest's nodes, in preorder, with new order keys.
func LinksOf(f *paths.Forest[string]) (out []forest.Link[string]) {
	for id := range f.All() {
		parent, child, _ := f.Parent(id)
		siblings := f.Roots()
		if child {
			siblings = Must(f.Children(parent))
		}
		order := paths.Spread(len(siblings))[slices.Index(siblings, id)]
		out = append(out, forest.Link[string]{ID: id, Parent: parent, Root: !child, Order: order})
	}
	return out
}

// NumbersOf are the numbers of a forest's nodes as nested sets have them.
func NumbersOf(f *paths.Forest[string], step int64) map[string][2]int64 {
	out := map[string][2]int64{}
	n := 1 - step
	var give func(ids []string)
	give = func(ids []string) {
		for _, id := range ids {
			n += step
			left := n
			give(Must(f.Children(id)))
			n += step
			out[id] = [2]int64{left, n}
		}
	}
	give(f.Roots())
	return out
}

// ModeName is a mode in a word.
func ModeName(m paths.DeleteMode) string {
	return []string{"restrict", "subtree", "promote", "rootify"}[m]
}

// Shape is a forest in a small notation: a(b c(d)).
func Shape(f *paths.Forest[string]) string {
	var b strings.Builder
	var list func(ids []string)
	list = func(ids []string) {
		for i, id := range ids {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(id)
			if c := Must(f.Children(id)); len(c) > 0 {
				b.WriteByte('(')
				list(c)
				b.WriteByte(')')
			}
		}
	}
	list(f.Roots())
	return b.String()
}

// IDs are the _ids of what a query gave.
func IDs(docs []Category, err error) ([]string, error) {
	out := make([]string, len(docs))
	for i, d := range docs {
		out[i] = d.ID
	}
	return out, err
}

// SameError reports whether two errors are of one kind.
func SameError(a, b error) bool {
	if (a == nil) != (b == nil) {
		return false
	}
	for _, kind := range []error{
		paths.ErrCycle, model.ErrTaken, paths.ErrHasChildren, model.ErrNotFound, paths.ErrSegment,
	} {
		if errors.Is(a, kind) != errors.Is(b, kind) {
			return false
		}
	}
	return true
}

// Must is what a forest says of a node that is there.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// MustEqual fails the test unless both lists are equal.
func MustEqual[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}
