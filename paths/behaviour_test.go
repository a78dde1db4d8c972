package paths_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/paths"
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

// onServer is set where the tests run on a server too. There they are fewer; every cut and every operation is run on the engine.
var onServer = os.Getenv(modeltest.EnvURI) != ""

// few reports whether random tests are to be short: on a server, and with -short, under the race detector.
func few() bool { return onServer || testing.Short() }

// alone leaves a test out with -short: it does one thing after the other on many documents, so that there is nothing to race.
func alone(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("nothing to race")
	}
}

// every is set where each operation is cut everywhere.
var every = os.Getenv("DOCMODEL_FULL") != ""

// full is set where random tests run ten times as long, by hand: a server takes most of an hour for them.
var full = os.Getenv("DOCMODEL_LONG") != ""

// A kind is a representation, in a collection of its own.
type kind struct {
	name    string
	docs    *model.Collection[category, string]
	planner func(paths.TreeSpec) *paths.Tree[category, string]
	tree    *paths.Tree[category, string]

	fields   []string // beside the links
	suspects []model.Aggregate[bson.Raw]
	plans    planned
}

// planned is what is declared of a representation.
type planned interface {
	Tree(paths.TreeSpec) *paths.Tree[category, string]
	Suspects() []model.Aggregate[bson.Raw]
	Roots() model.Find[category]
	Children(string) model.Find[category]
	Ancestors(*category) model.Aggregate[category]
	Descendants(*category, int) model.Aggregate[category]
	Insert(*category, paths.At[category], int64) model.Plan
	Move(*category, paths.At[category], int64) model.Plan
}

type nodes = model.Collection[category, string]

var kinds = []kind{
	of("parents", func(c *nodes) planned { return paths.NewParentTree(c, paths.Links{}) }),
	of("ancestors", func(c *nodes) planned { return paths.NewAncestorArray(c, paths.AncestorArraySpec{}) }, "ancestors"),
	of("paths", func(c *nodes) planned { return paths.NewMaterializedPath(c, paths.MaterializedPathSpec{}) }, "path"),
	of("nested", func(c *nodes) planned { return paths.NewNestedSet(c, paths.NestedSetSpec{}) }, "left", "right", "depth"),
	of("children", func(c *nodes) planned { return paths.NewChildTree(c, paths.ChildTreeSpec{}) }, "children"),
}

func of(name string, planner func(*nodes) planned, fields ...string) kind {
	c := model.NewCollection[category, string](name)
	p := planner(c)
	return kind{name, c, p.Tree, p.Tree(paths.TreeSpec{}), fields, p.Suspects(), p}
}

// parallel lets a test run beside others on the engine.
func parallel(t *testing.T) {
	t.Helper()
	if !onServer {
		t.Parallel()
	}
}

// ensure makes the indexes.
func (k kind) ensure(t testing.TB, db *mongo.Database) {
	t.Helper()
	if err := model.Indexes(k.tree).Ensure(context.WithoutCancel(t.Context()), db); err != nil {
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
	links := make([]paths.Link[string], len(all))
	for i, c := range all {
		links[i] = paths.Link[string]{ID: c.ID, Order: c.Order, Root: c.Parent == nil}
		if c.Parent != nil {
			links[i].Parent = *c.Parent
		}
	}
	f, lost := paths.NewForest(links)
	if len(lost) > 0 {
		t.Fatalf("%s: no place for %v", k.name, lost)
	}
	return f
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
	for _, kind := range []error{paths.ErrCycle, paths.ErrExists, paths.ErrHasChildren, paths.ErrNoNode, paths.ErrSegment} {
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
