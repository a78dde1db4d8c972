package tree_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
)

// convertKinds are all representations, with their default names, in one collection.
func convertKinds() (out []pathstest.Kind) {
	docs := model.NewCollection[pathstest.Category, string]("convertPairs")
	for _, k := range slices.Concat(
		pathstest.Kinds,
		[]pathstest.Kind{
			pathstest.Named, pathstest.NestedKinds[1].Kind, pathstest.NestedKinds[2].Kind,
			pathstest.NestedKinds[3].Kind,
		},
	) {
		own := pathstest.Kind{Name: k.Name, Docs: docs, Declare: k.Declare, Fields: k.Fields}
		own.Tree = k.Declare(docs, paths.TreeSpec{})
		out = append(out, own)
	}
	return out
}

// findOnlyIndexes are the names of the indexes that one tree has and the other hasn't.
func findOnlyIndexes(k pathstest.Kind, other pathstest.Kind) (names []string) {
	for _, x := range k.Tree.Indexes() {
		if !slices.ContainsFunc(other.Tree.Indexes(), func(y model.Index) bool { return x.Name == y.Name }) {
			names = append(names, x.Name)
		}
	}
	return names
}

// A convertWalk brings a tree from one representation to another in one collection.
type convertWalk struct {
	testing.TB
	from, to pathstest.Kind
	db       model.DB
	prefix   string // of the tree's ids
}

func (w convertWalk) do(step string, c model.Change) {
	w.Helper()
	if _, err := c.Run(w.Context(), w.db); err != nil {
		w.Fatalf("%s to %s: %s: %v", w.from.Name, w.to.Name, step, err)
	}
}

func (w convertWalk) ensure(k pathstest.Kind) {
	w.Helper()
	if err := model.New("test", k.Tree).Indexes().Ensure(w.Context(), w.db); err != nil {
		w.Fatalf("%s to %s: indexes of %s: %v", w.from.Name, w.to.Name, k.Name, err)
	}
}

func (w convertWalk) whole(step string) {
	w.Helper()
	if report, err := pathstest.Inspect(w.Context(), w.db, w.to.Tree); err != nil || len(report) > 0 {
		w.Fatalf("%s to %s: %s: %v, %v", w.from.Name, w.to.Name, step, report, err)
	}
}

// load stores the tree in the source's representation.
func (w convertWalk) load() {
	w.Helper()
	notation := strings.NewReplacer("(", "("+w.prefix, " ", " "+w.prefix).Replace(w.prefix + "a(b(c d(e)) f) g(h)")
	docs := pathstest.NodesOf(pathstest.Parse(notation))
	for i := range docs {
		// the segments of named, some of which are other nodes' _ids
		docs[i].Name = []string{"a", "b", "c", "d", "e", "g", "h", "f"}[i]
	}
	w.do("load", w.from.Tree.Load(docs))
	// the numbers of a nested set with gaps aren't those of Load any more
	w.do("a gap", w.from.Tree.Delete(w.prefix+"f", paths.Subtree))
}

// convert replaces the source by the target, as the comment of Convert says.
func (w convertWalk) convert() {
	inPlace := len(w.to.Fields) > 0 && slices.Equal(w.from.Fields, w.to.Fields)
	if !inPlace {
		w.ensure(w.to)
	}
	w.do("convert", paths.Convert(w.from.Tree, w.to.Tree))
	w.whole("converted")
	if inPlace {
		w.ensure(w.to)
	} else {
		w.do("a change through the source", w.from.Tree.Move(w.prefix+"d", paths.FirstChild(w.prefix+"g")))
		w.do("convert again", paths.Convert(w.from.Tree, w.to.Tree))
		w.whole("converted again")
	}
}

// drop removes the source's fields.
func (w convertWalk) drop() {
	_, err := w.from.Tree.Drop(w.to.Tree).Run(w.Context(), w.db, model.JobOptions{BatchSize: 3})
	var value *model.ValueError
	kept := len(w.from.Fields) == 0 || slices.Equal(w.from.Fields, w.to.Fields)
	if kept && !errors.As(err, &value) || !kept && err != nil {
		w.Fatalf("%s to %s: drop: %v", w.from.Name, w.to.Name, err)
	}
	w.whole("dropped")
}

// use changes the tree through the target, and asks it.
func (w convertWalk) use() {
	w.do("insert", w.to.Tree.Insert(pathstest.Category{ID: w.prefix + "n", Name: "n"}, paths.FirstChild(w.prefix+"b")))
	w.do("move", w.to.Tree.Move(w.prefix+"b", paths.FirstChild(w.prefix+"g")))
	w.whole("used")
	doc, err := w.to.Docs.ByID(w.prefix+"g").One(w.Context(), w.db)
	if err != nil {
		w.Fatal(err)
	}
	below, err := pathstest.IDs(w.to.Tree.Descendants(&doc, 0).All(w.Context(), w.db))
	if slices.Sort(below); err != nil || len(below) < 4 || !slices.Contains(below, w.prefix+"n") ||
		!slices.Contains(below, w.prefix+"h") {
		w.Fatalf("%s to %s: below g: %v, %v", w.from.Name, w.to.Name, below, err)
	}
}

// One collection is a tree of each representation in turn, with the indexes of both while they convert.
func TestConvert(t *testing.T) {
	testkit.Parallel(t)
	all := convertKinds()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, from := range all {
			for j, to := range all {
				if i == j || testkit.Sample && (i+j)%3 > 0 {
					continue
				}
				if err := db.Collection("convertPairs").Drop(t.Context()); err != nil {
					t.Fatal(err)
				}
				w := convertWalk{TB: t, from: from, to: to, db: db}
				w.ensure(from)
				w.load()
				w.convert()
				for _, name := range findOnlyIndexes(from, to) {
					if err := db.Collection("convertPairs").Indexes().DropOne(t.Context(), name); err != nil {
						t.Fatal(err)
					}
				}
				w.drop()
				w.use()
				for _, field := range from.Fields {
					n, err := db.Collection("convertPairs").CountDocuments(
						t.Context(), bson.D{{Key: field, Value: bson.D{{Key: "$exists", Value: true}}}},
					)
					if err != nil || (n > 0) != slices.Contains(to.Fields, field) {
						t.Errorf("%s to %s: %d documents have %s, %v", from.Name, to.Name, n, field, err)
					}
				}
			}
		}
	})
	other := paths.NewParentTree(model.NewCollection[pathstest.Category, string]("others"), paths.TreeSpec{})
	if paths.Convert(all[0].Tree, other).Err == nil || all[1].Tree.Drop(other).Err == nil {
		t.Error("trees of two collections are converted")
	}
	swapped := paths.NewNestedSet(all[0].Docs, paths.NestedSetSpec{Left: "right", Right: "left"})
	for _, k := range all {
		if err := paths.Convert(k.Tree, swapped).Err; (err != nil) != slices.Contains(k.Fields, "left") {
			t.Errorf("%s: a field of both trees: %v", k.Name, err)
		}
	}
}

// Under tenants, each converts by itself, also those that convert last.
func TestConvertTenants(t *testing.T) {
	tenancy.Differs(t, "the test has scopes of its own")
	testkit.Parallel(t)
	all := convertKinds()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, from := range all {
			for j, to := range all {
				if i == j || testkit.Sample && (i+j)%3 > 0 || slices.Equal(from.Fields, to.Fields) {
					continue
				}
				if err := db.Collection("convertPairs").Drop(t.Context()); err != nil {
					t.Fatal(err)
				}
				var tenants []convertWalk
				for _, name := range []string{"x", "y"} {
					scope := model.Scope{
						Tenant: bson.D{{Key: "tenant", Value: name}}, Delete: bson.D{{Key: "gone", Value: true}},
					}
					w := convertWalk{TB: t, from: from, to: to, db: scope.On(db), prefix: name}
					w.ensure(from)
					w.load()
					tenants = append(tenants, w)
				}
				for _, w := range tenants {
					w.convert()
					w.drop()
					w.use()
				}
				tenants[0].whole("after the other tenant")
			}
		}
	})
}

// linksOnly is the tree of the same documents by their links alone.
func linksOnly(k pathstest.Kind) *paths.Tree[pathstest.Category, string] {
	return paths.NewParentTree(k.Docs, paths.TreeSpec{})
}

// cutLinks says that the links make the whole tree of a shape.
func cutLinks(want string) func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
	return func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
		report, err := pathstest.Inspect(ctx, db, linksOnly(k))
		if err != nil || len(report) > 0 {
			return fmt.Errorf("%v, %w", report, err)
		}
		f, err := paths.NewForest(linksOnly(k).Dump(ctx, db), func(c pathstest.Category) string { return c.ID })
		if err == nil && pathstest.Shape(f) != want {
			err = fmt.Errorf("the links make %s, not %s", pathstest.Shape(f), want)
		}
		return err
	}
}

// A conversion in place that is cut leaves the tree that it is converted from whole, and goes on when it is run again.
func TestConvertCuts(t *testing.T) {
	testkit.Parallel(t)
	const all = "a(b(c d(e)) f) g(h)"
	for _, k := range pathstest.CutKinds() {
		if len(k.Fields) == 0 {
			continue
		}
		pathstest.Cut{
			Seed: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
				_, err := linksOnly(k).Load(pathstest.NodesOf(pathstest.Parse(all))).Run(ctx, db)
				return err
			},
			Run: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
				_, err := paths.Convert(linksOnly(k), k.Tree).Run(ctx, db)
				return err
			},
			Stays:  cutLinks(all),
			Want:   pathstest.WantShape(all),
			Server: "children nested",
		}.Test(t, k)
	}
}

// A drop that is cut leaves the links, and takes away the rest when it is run again.
func TestDropCuts(t *testing.T) {
	testkit.Parallel(t)
	const all = "a(b(c d(e)) f) g(h)"
	for _, k := range pathstest.CutKinds() {
		if len(k.Fields) == 0 || k.Name == "direct" || k.Name == "direct gapped" { // which drop the same
			continue
		}
		pathstest.Cut{
			Seed: pathstest.LoadShape(all, false),
			Run: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
				job := k.Tree.Drop(paths.NewParentTree(k.Docs, paths.TreeSpec{}))
				job.Stages[0].BatchSize = 3
				_, err := job.Run(ctx, db, model.JobOptions{})
				return err
			},
			Stays: cutLinks(all),
			Want: func(t testing.TB, db *mongo.Database, k pathstest.Kind) {
				for _, f := range k.Fields {
					if n, err := db.Collection(k.Name).CountDocuments(
						t.Context(), bson.D{{Key: f, Value: bson.D{{Key: "$exists", Value: true}}}},
					); n > 0 || err != nil {
						t.Errorf("%s: %d documents have %s, %v", k.Name, n, f, err)
					}
				}
				if err := cutLinks(all)(t.Context(), db, k); err != nil {
					t.Error(err)
				}
			},
			Server: "ancestors",
		}.Test(t, k)
	}
}
