package tree_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var (
	childKind = pathstest.Kinds[4]
	childTree = paths.NewChildTree(childKind.Docs, paths.ChildTreeSpec{})
	fewTree   = paths.NewChildTree(childKind.Docs, paths.ChildTreeSpec{Max: 2})
)

// childDoc reads a node.
func childDoc(t testing.TB, db *mongo.Database, id string) *pathstest.Category {
	t.Helper()
	n, err := childKind.Docs.ByID(id).One(t.Context(), db)
	if err != nil {
		t.Fatal(id, err)
	}
	return &n
}

// childSet sets fields of a node past the tree.
func childSet(t testing.TB, db *mongo.Database, id string, set bson.D) {
	t.Helper()
	if _, err := db.Collection(childKind.Name).UpdateOne(
		t.Context(), bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$set", Value: set}},
	); err != nil {
		t.Fatal(err)
	}
}

// Children are read page by page, and counted, by one command each.
func TestChildTreeReads(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		childKind.Ensure(t, db)
		childKind.Store(t, db, pathstest.Parse("a(e d c b) f"))
		childSet(t, db, "a", bson.D{{Key: "children", Value: []string{"e", "nobody", "d", "c", "b"}}})
		for _, c := range []struct {
			id          string
			skip, limit int64
			want        []string
		}{
			{"a", 0, 0, []string{"e", "d", "c", "b"}}, {"a", 0, 2, []string{"e", "d"}}, {"a", 1, 2, []string{"d", "c"}},
			{"a", 3, 9, []string{"b"}},
			{"a", 5, 1, nil}, {"f", 0, 0, nil}, {"nobody", 0, 0, nil},
		} {
			q := childTree.Children(&pathstest.Category{ID: c.id}).Limited(c.limit)
			q.Skip = c.skip
			var got []string
			modeltest.WantCost(t, monitor, model.Cost{Commands: 1, Returned: len(c.want)}, func() error {
				var err error
				got, err = pathstest.IDs(q.All(t.Context(), db))
				return err
			})
			pathstest.MustEqual(t, q.String(), got, c.want)
		}
		for id, want := range map[string]int64{"a": 4, "f": 0, "nobody": 0} {
			got, err := childTree.Children(&pathstest.Category{ID: id}).Count(t.Context(), db)
			if err != nil || got != want {
				t.Errorf("%s has %v, %v, want %v", id, got, err, want)
			}
		}
	}, monitor)
}

// What one type leaves out when it is empty is an empty list; in a stored document it is a list that nobody wrote.
func TestChildTreeUnsound(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, damage := range []any{nil, "b", bson.D{{Key: "0", Value: "b"}}} {
			childKind.Store(t, db, pathstest.Parse("a(b) c"))
			childSet(t, db, "a", bson.D{{Key: "children", Value: damage}})
			var refused *model.ValueError
			if _, err := childKind.Tree.Insert(
				pathstest.Category{ID: "x"}, paths.LastChild("a"),
			).Run(t.Context(), db); !errors.As(err, &refused) || refused.Field != "children" {
				t.Errorf("%v: insert: %v", damage, err)
			}
			// the list is left as it is
			if _, err := childKind.Tree.Move("b", paths.LastRoot[string]()).Run(t.Context(), db); err != nil {
				t.Errorf("%v: move: %v", damage, err)
			}
			if _, err := pathstest.MendTree(childKind.Tree).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			childKind.WantWhole(t, db)
			if got := pathstest.Shape(childKind.ReadForest(t, db)); got != "a c b" {
				t.Errorf("%v: %s", damage, got)
			}
		}
		leaf := childDoc(t, db, "c")
		if leaf.Children = nil; childTree.Descendants(leaf, 0).Err != nil {
			t.Error("a leaf as the driver decodes it has no list")
		}
	})
}

// A full list takes no more: nothing is written, and the next change goes on at once. What is in it already may be
// moved within.
func TestChildTreeFull(t *testing.T) {
	testkit.Parallel(t)
	tree := fewTree
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for name, c := range map[string]struct {
			change model.Change
			want   error
			after  string
		}{
			"insert": {tree.Insert(
				pathstest.Category{ID: "x"}, paths.LastChild("a"),
			), model.ErrFull, "a(b(c d) e(g)) f"},
			"insert below another": {tree.Insert(
				pathstest.Category{ID: "x"}, paths.FirstChild("e"),
			), nil, "a(b(c d) e(x g)) f"},
			"move":                 {tree.Move("f", paths.After("b")), model.ErrFull, "a(b(c d) e(g)) f"},
			"move within":          {tree.Move("e", paths.Before("b")), nil, "a(e(g) b(c d)) f"},
			"promote":              {tree.Delete("b", paths.Promote), model.ErrFull, "a(b(c d) e(g)) f"},
			"promote an only one":  {tree.Delete("e", paths.Promote), nil, "a(b(c d) g) f"},
			"promote to the roots": {tree.Delete("a", paths.Promote), nil, "b(c d) e(g) f"},
			"rootify":              {tree.Delete("b", paths.Rootify), nil, "a(e(g)) f c d"},
			"delete":               {tree.Delete("b", paths.Subtree), nil, "a(e(g)) f"},
		} {
			childKind.Store(t, db, pathstest.Parse("a(b(c d) e(g)) f"))
			if _, err := c.change.Run(t.Context(), db); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
			if got := pathstest.Shape(childKind.ReadForest(t, db)); got != c.after {
				t.Errorf("%s: %s, want %s", name, got, c.after)
			}
			childKind.WantWhole(t, db)
			if _, err := tree.Move("f", paths.FirstRoot[string]()).Run(t.Context(), db); err != nil {
				t.Errorf("%s: the next change: %v", name, err)
			}
		}
		fullDocument(t, db)
	})
}

// fullDocument refuses a list that would outgrow its document.
func fullDocument(t *testing.T, db *mongo.Database) {
	t.Helper()
	childKind.Store(t, db, pathstest.Parse("a(b)"))
	big := &pathstest.Category{
		ID: "a", Order: "a0", Children: []string{"b"}, Name: strings.Repeat("x", model.MaxDocument-200),
	}
	if _, err := db.Collection(childKind.Name).ReplaceOne(
		t.Context(), bson.D{{Key: "_id", Value: "a"}}, big,
	); err != nil {
		t.Fatal(err)
	}
	if err := pathstest.MakePlan(
		t, db, childTree.Insert(pathstest.Category{ID: "c"}, paths.LastChild("a")), 7,
	).Err(); err != nil {
		t.Error(err)
	}
	if err := pathstest.MakePlan(
		t, db, childTree.Insert(pathstest.Category{ID: strings.Repeat("c", 200)}, paths.LastChild("a")), 7,
	).Err(); !errors.Is(err, model.ErrFull) {
		t.Errorf("a list that outgrows its document: %v", err)
	}
}

// An insert that the server refuses leaves no list that names it, and nothing for the next writer to finish.
func TestChildTreeInsertRefused(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		childKind.Store(t, db, pathstest.Parse("a(b) c"))
		unique := options.Index().SetUnique(true).SetPartialFilterExpression(
			bson.D{{Key: "name", Value: bson.D{{Key: "$gt", Value: ""}}}},
		)
		if _, err := db.Collection(childKind.Name).Indexes().CreateOne(
			t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "name", Value: 1}}, Options: unique},
		); err != nil {
			t.Fatal(err)
		}
		childSet(t, db, "b", bson.D{{Key: "name", Value: "taken"}})
		_, err := childKind.Tree.Insert(
			pathstest.Category{ID: "x", Name: "taken"}, paths.LastChild("a"),
		).Run(t.Context(), db)
		if !mongo.IsDuplicateKeyError(err) {
			t.Fatal(err)
		}
		childKind.WantWhole(t, db)
		if _, err := childKind.Tree.Insert(
			pathstest.Category{ID: "x", Name: "free"}, paths.LastChild("a"),
		).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		childKind.WantWhole(t, db)
	})
}

// A list that names what isn't below it makes no delete reach there, and no read.
func TestChildTreeForeign(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		childKind.Store(t, db, pathstest.Parse("a(b(c) d) e(f) g"))
		childSet(t, db, "b", bson.D{{Key: "children", Value: []string{"e", "c", "g", "a", "b", "nobody"}}})
		got, err := pathstest.IDs(childKind.ReadBelow(t.Context(), db, "a", 0))
		if err != nil {
			t.Fatal(err)
		}
		pathstest.MustEqual(t, "below", got, []string{"b", "c", "d"})
		if _, err := childKind.Tree.Delete("b", paths.Subtree).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if got := pathstest.Shape(childKind.ReadForest(t, db)); got != "a(d) e(f) g" {
			t.Error(got)
		}
		childKind.WantWhole(t, db)
	})
}

// After each of many operations the lists are those of the links, and the typed reads say so.
func TestChildTreeLists(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		childKind.Store(t, db, &paths.Forest[string]{})
		r := rand.New(rand.NewPCG(8, 11))
		f := &paths.Forest[string]{}
		for range 80 {
			op, change, want := pathstest.DrawStep(r, f)
			if _, err := change(childKind).Run(t.Context(), db); !pathstest.SameError(err, want) {
				t.Fatalf("%s: %v, want %v", op, err, want)
			}
			childKind.WantWhole(t, db)
			id := pathstest.PickID(r, f)
			children, err := pathstest.IDs(childTree.Children(&pathstest.Category{ID: id}).All(t.Context(), db))
			if err != nil {
				t.Fatal(err)
			}
			listed, _ := f.Children(id) // a missing node has none
			pathstest.MustEqual(t, op, children, listed)
			if pathstest.Contains(f, id) {
				pathstest.MustEqual(t, op, childDoc(t, db, id).Children, listed)
			}
		}
	})
}

func TestChildTreeDeclaration(t *testing.T) {
	type wrong struct {
		ID       string  `bson:"_id"`
		Parent   *string `bson:"parent"`
		Order    string  `bson:"order"`
		Change   int64   `bson:"change"`
		Children []int   `bson:"children,omitempty"`
		Nulls    []string
		Name     string
	}
	docs := model.NewCollection[wrong, string]("wrong")
	for want, spec := range map[string]paths.ChildTreeSpec{
		"not _ids":     {},
		"as null":      {Children: "nulls"},
		"not an array": {Children: "name"},
		"no field":     {Children: "kids"},
	} {
		wantChildPanic(t, want, func() { paths.NewChildTree(docs, spec) })
	}
	open := model.NewCollection[bson.D, any]("open")
	wantChildPanic(
		t, "two fields of the tree", func() { paths.NewChildTree(open, paths.ChildTreeSpec{Children: "order"}) },
	)
	wantChildPanic(t, "Max is -1", func() { paths.NewChildTree(childKind.Docs, paths.ChildTreeSpec{Max: -1}) })
}

func wantChildPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		var e *model.DeclarationError
		if err, ok := recover().(error); !ok || !errors.As(err, &e) || !strings.Contains(
			strings.ToLower(e.Error()), strings.ToLower(want),
		) {
			t.Errorf("%q: %v (%v)", want, err, reflect.TypeOf(err))
		}
	}()
	f()
}
