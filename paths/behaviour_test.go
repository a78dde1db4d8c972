package paths_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"github.com/docmodel/docmodel/paths/internal/tree"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// category is a node of each representation.
type category struct {
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

var onServer, few, alone, parallel = testkit.Sample, testkit.Few, testkit.Alone, testkit.Parallel

// every is set where each operation is cut everywhere.
var every = testkit.EveryPair

// full is set where random tests run ten times as long, by hand: a server takes most of an hour for them.
var full = os.Getenv("DOCMODEL_LONG") != ""

// A kind is a representation, in a collection of its own.
type kind struct {
	name    string
	docs    *nodes
	declare declaration
	tree    *paths.Tree[category, string]

	fields   []string // beside the links
	suspects []*model.Aggregate[bson.Raw]
}

type nodes = model.Collection[category, string]

type declaration = func(*nodes, paths.TreeSpec) *paths.Tree[category, string]

var kinds = []kind{
	of("parents", paths.NewParentTree[category, string]),
	of("ancestors", func(c *nodes, s paths.TreeSpec) *paths.Tree[category, string] {
		return paths.NewAncestorArray(c, paths.AncestorArraySpec{TreeSpec: s})
	}, "ancestors"),
	of("paths", func(c *nodes, s paths.TreeSpec) *paths.Tree[category, string] {
		return paths.NewMaterializedPath(c, paths.MaterializedPathSpec{TreeSpec: s})
	}, "path"),
	of("nested", func(c *nodes, s paths.TreeSpec) *paths.Tree[category, string] {
		return paths.NewNestedSet(c, paths.NestedSetSpec{TreeSpec: s})
	}, "left", "right", "depth"),
	of("children", func(c *nodes, s paths.TreeSpec) *paths.Tree[category, string] {
		return paths.NewChildTree(c, paths.ChildTreeSpec{TreeSpec: s})
	}, "children"),
}

func of(name string, declare declaration, fields ...string) kind {
	c := model.NewCollection[category, string](name)
	tree := declare(c, paths.TreeSpec{})
	return kind{name, c, declare, tree, fields, tree.Checks()[0].Queries}
}

// find reads a node.
func find(ctx context.Context, db *mongo.Database, docs *nodes, id string) (*category, error) {
	n, err := docs.ByID(id).One(ctx, db)
	return &n, err
}

// asked reads a node, and asks a query about it.
func (k kind) asked(ctx context.Context, db *mongo.Database, id string, of func(*category) *model.Aggregate[category]) ([]category, error) {
	n, err := find(ctx, db, k.docs, id)
	if err != nil {
		return nil, err
	}
	return of(n).All(ctx, db)
}

// found is asked for a Find.
func (k kind) found(ctx context.Context, db *mongo.Database, id string, of func(*category) *model.Find[category]) ([]category, error) {
	n, err := find(ctx, db, k.docs, id)
	if err != nil {
		return nil, err
	}
	return of(n).All(ctx, db)
}

// walk reads a node and what is below it down to a depth, in preorder.
func (k kind) walk(ctx context.Context, db *mongo.Database, id string, depth int) (out []paths.Visit[category], err error) {
	n, err := find(ctx, db, k.docs, id)
	if depth < 0 {
		err = k.tree.Descendants(n, depth).Err
	}
	if err != nil {
		return nil, err
	}
	below, err := k.tree.Descendants(n, depth).All(ctx, db)
	if err != nil {
		return nil, err
	}
	for v, err := range k.tree.Arrange(n, below) {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// below reads what is below a node down to a depth, in order.
func (k kind) below(ctx context.Context, db *mongo.Database, id string, depth int) (out []category, err error) {
	visits, err := k.walk(ctx, db, id, depth)
	for _, v := range visits {
		if v.Depth > 0 {
			out = append(out, v.Doc)
		}
	}
	return out, err
}

// line reads the nodes above a node, and the node.
func (k kind) line(ctx context.Context, db *mongo.Database, id string) ([]string, error) {
	above, err := ids(k.asked(ctx, db, id, k.tree.Ancestors))
	return append(above, id), err
}

// common is the last that two lines have in common.
func common(a, b []string) (id string, ok bool) {
	for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
		id, ok = a[i], true
	}
	return id, ok
}

// planned is the plan of a change that is decided now, with a number, and is run later.
func planned(t testing.TB, db *mongo.Database, c model.Change[any], number int64) model.Plan {
	t.Helper()
	if c.Err != nil {
		return model.RefusedPlan("nodes", c.Err)
	}
	state, err := c.Read(t.Context(), db)
	if err != nil {
		return model.RefusedPlan("nodes", err)
	}
	p, err := c.Decide(withNumber(state, number))
	if err != nil {
		return model.RefusedPlan("nodes", err)
	}
	return p
}

// withNumber is what a change read, with another number.
func withNumber(state any, number int64) any {
	s := state.(tree.State)
	s.Change = number
	return s
}

// ensure makes the indexes.
func (k kind) ensure(t testing.TB, db *mongo.Database) {
	t.Helper()
	if err := model.New("test", k.tree).Indexes().Ensure(context.WithoutCancel(t.Context()), db); err != nil {
		t.Fatal(err)
	}
}

// stored is the forest that the links of the stored documents make.
func (k kind) stored(t testing.TB, db *mongo.Database) *paths.Forest[string] {
	t.Helper()
	all, err := k.docs.Find(nil).All(t.Context(), db)
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
	f, lost := forest.New(links)
	if len(lost) > 0 {
		t.Fatalf("%s: no place for %v", k.name, lost)
	}
	return sure(paths.NewForest(func(yield func(paths.Visit[string], error) bool) {
		for id, depth := range f.All() {
			if !yield(paths.Visit[string]{Doc: id, Depth: depth}, nil) {
				return
			}
		}
	}, func(id string) string { return id }))
}

// count is the number of a node's descendants.
func count(f *paths.Forest[string], id string) int { return len(sure(f.Descendants(id, 0))) }

// depthOf is the number of a node's ancestors.
func depthOf(f *paths.Forest[string], id string) int { return len(sure(f.Ancestors(id))) }

// siblingsOf are the other children of a node's parent, or the other roots.
func siblingsOf(f *paths.Forest[string], id string) []string {
	parent, child, _ := f.Parent(id)
	siblings := f.Roots()
	if child {
		siblings = sure(f.Children(parent))
	}
	return slices.DeleteFunc(siblings, func(x string) bool { return x == id })
}

// leavesOf are the nodes below a node that have no children.
func leavesOf(f *paths.Forest[string], id string) []string {
	return slices.DeleteFunc(sure(f.Descendants(id, 0)), func(x string) bool { return len(sure(f.Children(x))) > 0 })
}

// walked are a node and what is below it, in preorder, with their depths.
func walked(f *paths.Forest[string], id string) (out []string) {
	var walk func(id string, depth int)
	walk = func(id string, depth int) {
		out = append(out, fmt.Sprint(id, depth))
		for _, c := range sure(f.Children(id)) {
			walk(c, depth+1)
		}
	}
	walk(id, 0)
	return out
}

// linksOf are the links of a forest's nodes, in preorder, with new order keys.
func linksOf(f *paths.Forest[string]) (out []forest.Link[string]) {
	for id := range f.All() {
		parent, child, _ := f.Parent(id)
		siblings := f.Roots()
		if child {
			siblings = sure(f.Children(parent))
		}
		order := paths.Spread(len(siblings))[slices.Index(siblings, id)]
		out = append(out, forest.Link[string]{ID: id, Parent: parent, Root: !child, Order: order})
	}
	return out
}

// numbersOf are the numbers of a forest's nodes as nested sets have them.
func numbersOf(f *paths.Forest[string], step int64) map[string][2]int64 {
	out := map[string][2]int64{}
	n := 1 - step
	var give func(ids []string)
	give = func(ids []string) {
		for _, id := range ids {
			n += step
			left := n
			give(sure(f.Children(id)))
			n += step
			out[id] = [2]int64{left, n}
		}
	}
	give(f.Roots())
	return out
}

// modeName is a mode in a word.
func modeName(m paths.DeleteMode) string {
	return []string{"restrict", "subtree", "promote", "rootify"}[m]
}

// shape is a forest in a small notation: a(b c(d)).
func shape(f *paths.Forest[string]) string {
	var b strings.Builder
	var list func(ids []string)
	list = func(ids []string) {
		for i, id := range ids {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(id)
			if c := sure(f.Children(id)); len(c) > 0 {
				b.WriteByte('(')
				list(c)
				b.WriteByte(')')
			}
		}
	}
	list(f.Roots())
	return b.String()
}

// ids are the _ids of what a query gave.
func ids(docs []category, err error) ([]string, error) {
	out := make([]string, len(docs))
	for i, d := range docs {
		out[i] = d.ID
	}
	return out, err
}

// sameErr reports whether two errors are of one kind.
func sameErr(a, b error) bool {
	if (a == nil) != (b == nil) {
		return false
	}
	for _, kind := range []error{paths.ErrCycle, model.ErrTaken, paths.ErrHasChildren, model.ErrNotFound, paths.ErrSegment} {
		if errors.Is(a, kind) != errors.Is(b, kind) {
			return false
		}
	}
	return true
}

// sure is what a forest says of a node that is there.
func sure[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func mustEqual[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}
