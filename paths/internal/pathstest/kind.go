// Package pathstest has what the tests of package paths and of its cores share. It is no test itself: packages tree,
// document, rollup and convert, package paths, and internal/checks import it in their tests.
//
// A test of a tree runs with every representation, over one Go type, [Category]:
//
//	for _, k := range pathstest.Kinds {
//		k.Store(t, db, pathstest.Parse("a(b c(d)) e"))
//		… run k.Tree.Move("d", paths.LastRoot[string]())
//		got := pathstest.Shape(k.ReadForest(t, db))     // "a(b c) e d"
//		k.WantWhole(t, db)                              // the check finds nothing
//	}
//
// # What it has
//
//   - kind.go: the representations, reads, and what a forest in memory says of nodes. nested.go: nested sets with their
//     numbers. document.go: trees within documents. rollup.go: totals.
//   - store.go: trees before a test, and damage. inspect.go: checks and repairs.
//   - draw.go: random operations. A paths.Forest, which needs no database, does the same operations and says what must
//     come of them.
//   - change.go and cut.go: operations that are cut at each of their writes, and run again.
//
// # Rules
//
//   - Each Kind has a collection of its own, named like the Kind. Its lease is a document of docmodel.locks.
//   - The forest of a stored tree is read by the links parent and order alone. Other fields of a representation are
//     checked by the tree's own check.
//   - A function that gets a testing.TB ends the test if the database fails.
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

// Category is a node of each representation. The first fields are for all trees, and each of the next groups is for
// one or two representations.
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

// Full says that random tests run ten times as long. It is set by hand, because a real server takes most of an hour for
// them.
var Full = os.Getenv("DOCMODEL_LONG") != ""

// A Kind is a representation, in a collection of its own.
type Kind struct {
	Name    string
	Docs    *Nodes
	Declare Declaration
	Tree    *paths.Tree[Category, string]

	Fields   []string                     // of the representation, beside the links
	Suspects []*model.Aggregate[bson.Raw] // the queries by which the check finds its first candidates
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
	return Kind{
		Name: name, Docs: c, Declare: declare, Tree: tree, Fields: fields, Suspects: tree.Checks()[0].Queries,
	}
}

// FindNode reads a node.
func FindNode(ctx context.Context, db *mongo.Database, docs *Nodes, id string) (*Category, error) {
	n, err := docs.ByID(id).One(ctx, db)
	return &n, err
}

// Ask reads a node, and runs the pipeline that of makes for it, such as k.Tree.Ancestors.
func (k Kind) Ask(
	ctx context.Context, db *mongo.Database, id string, of func(*Category) *model.Aggregate[Category],
) ([]Category, error) {
	n, err := FindNode(ctx, db, k.Docs, id)
	if err != nil {
		return nil, err
	}
	return of(n).All(ctx, db)
}

// Find reads a node, and runs the query that of makes for it.
func (k Kind) Find(
	ctx context.Context, db *mongo.Database, id string, of func(*Category) *model.Find[Category],
) ([]Category, error) {
	n, err := FindNode(ctx, db, k.Docs, id)
	if err != nil {
		return nil, err
	}
	return of(n).All(ctx, db)
}

// Walk reads a node and its descendants down to a depth, in preorder. The depth 0 means all. A negative depth is an
// error of the tree's method, which Walk returns.
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

// ReadBelow reads the descendants of a node down to a depth, in preorder.
func (k Kind) ReadBelow(ctx context.Context, db *mongo.Database, id string, depth int) (out []Category, err error) {
	visits, err := k.Walk(ctx, db, id, depth)
	for _, v := range visits {
		if v.Depth > 0 {
			out = append(out, v.Doc)
		}
	}
	return out, err
}

// ReadAncestors reads the ids on the way from the root to a node, with the node's own id.
func (k Kind) ReadAncestors(ctx context.Context, db *mongo.Database, id string) ([]string, error) {
	above, err := IDs(k.Ask(ctx, db, id, k.Tree.Ancestors))
	return append(above, id), err
}

// FindCommon returns the lowest common ancestor of two results of ReadAncestors: the last id before they differ.
func FindCommon(a, b []string) (id string, ok bool) {
	for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
		id, ok = a[i], true
	}
	return id, ok
}

// MakePlan returns the plan of a change that reads the database now and is run later, as by a slow writer. The number
// is that of its change under the tree's lease: documents with a higher number refuse the plan.
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

// ReadForest returns the forest that the links of the stored documents make.
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

// Contains reports whether a forest has a node with an id.
func Contains(f *paths.Forest[string], id string) bool {
	_, _, err := f.Parent(id)
	return err == nil
}

// CountBelow returns the number of a node's descendants.
func CountBelow(f *paths.Forest[string], id string) int { return len(Must(f.Descendants(id, 0))) }

// DepthOf returns the number of a node's ancestors.
func DepthOf(f *paths.Forest[string], id string) int { return len(Must(f.Ancestors(id))) }

// SiblingsOf returns the other children of a node's parent. For a root it returns the other roots.
func SiblingsOf(f *paths.Forest[string], id string) []string {
	parent, child, _ := f.Parent(id)
	siblings := f.Roots()
	if child {
		siblings = Must(f.Children(parent))
	}
	return slices.DeleteFunc(siblings, func(x string) bool { return x == id })
}

// LeavesOf returns the nodes below a node that have no children.
func LeavesOf(f *paths.Forest[string], id string) []string {
	return slices.DeleteFunc(Must(f.Descendants(id, 0)), func(x string) bool { return len(Must(f.Children(x))) > 0 })
}

// WalkIDs returns a node and its descendants in preorder, each with its depth below the node: "a0", "b1".
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

// LinksOf returns the links of a forest's nodes, in preorder, with new order keys.
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

// NumbersOf returns the numbers left and right of a forest's nodes, as a new nested set has them: the first number is
// 1, and each next one is larger by step.
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

// ModeName returns a mode as one word, for the name of a step.
func ModeName(m paths.DeleteMode) string {
	return []string{"restrict", "subtree", "promote", "rootify"}[m]
}

// Shape returns a forest in the short notation that [Parse] reads: a(b c(d)) e.
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

// IDs returns the _ids of a query's results. It passes an error on.
func IDs(docs []Category, err error) ([]string, error) {
	out := make([]string, len(docs))
	for i, d := range docs {
		out[i] = d.ID
	}
	return out, err
}

// SameError reports whether two errors are of one kind, as errors.Is tells them apart. Errors of other kinds are alike.
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

// Must returns the answer of a forest about a node that the forest has. An error would be a mistake of the test.
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
