package document_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// remarksOf are the nodes of a forest as a form has them: in any order if order keys sort them, else siblings in their
// order.
func remarksOf(f pathstest.DocumentForm, r *rand.Rand, forest *paths.Forest[string]) []pathstest.Remark {
	var out []pathstest.Remark
	var list func(parent string, ids []string) []pathstest.Remark
	list = func(parent string, ids []string) (nested []pathstest.Remark) {
		keys := paths.Spread(len(ids))
		for i, id := range ids {
			n := pathstest.Remark{ID: id, Text: "text of " + id, Likes: likesOf(id)}
			below := list(id, pathstest.Must(forest.Children(id)))
			if f.Spec.Nested != "" {
				n.Below = below
			} else {
				n.Parent = parent
			}
			if f.Spec.Order != "" {
				n.Order = keys[i]
			}
			out, nested = append(out, n), append(nested, n)
		}
		return nested
	}
	nested := list("", forest.Roots())
	if f.Spec.Nested != "" {
		return nested
	}
	if f.Spec.Order != "" {
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}

// Every query of a tree in a document finds what the plain tree has, in order, and nodes come whole but for their
// children.
func TestDocumentTreeQueries(t *testing.T) {
	testkit.Parallel(t)
	rounds := 6
	if testkit.Sample {
		rounds = 2
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(4, 8))
		for round := range rounds {
			for _, f := range pathstest.DocumentForms {
				forest := pathstest.DrawForest(r, 1+round*3)
				f.Start(t, db, remarksOf(f, r, forest)...)
				wantQueries(f, t, db, forest)
			}
		}
	})
}

func wantQueries(f pathstest.DocumentForm, t *testing.T, db *mongo.Database, forest *paths.Forest[string]) {
	t.Helper()
	want := func(what string, q *model.Aggregate[pathstest.Remark], want []string) {
		t.Helper()
		got, err := q.All(t.Context(), db)
		if err != nil || !slices.Equal(pathstest.RemarkIDs(got), want) {
			t.Fatalf(
				"%s: %s in %s: %v, %v, want %v", f.Name, what, pathstest.Shape(forest), pathstest.RemarkIDs(got), err,
				want,
			)
		}
		for _, n := range got {
			if n.Text != "text of "+n.ID || n.Below != nil {
				t.Fatalf("%s: %s: %+v", f.Name, what, n)
			}
		}
	}
	want("roots", f.Tree.Roots("p"), forest.Roots())
	for id := range forest.All() {
		want("node "+id, f.Tree.Node("p", id), []string{id})
		above, below := pathstest.Must(forest.Ancestors(id)), pathstest.Must(forest.Descendants(id, 0))
		want("parent of "+id, f.Tree.Parent("p", id), above[max(0, len(above)-1):])
		want("children of "+id, f.Tree.Children("p", id), pathstest.Must(forest.Children(id)))
		want("siblings of "+id, f.Tree.Siblings("p", id), pathstest.SiblingsOf(forest, id))
		want("ancestors of "+id, f.Tree.Ancestors("p", id), above)
		for depth := range 4 {
			want(
				fmt.Sprint("descendants of ", id, " to ", depth), f.Tree.Descendants("p", id, depth),
				pathstest.Must(forest.Descendants(id, depth)),
			)
		}
		want(
			"leaves of "+id, f.Tree.Leaves("p", id),
			slices.DeleteFunc(below, func(x string) bool { return len(pathstest.Must(forest.Children(x))) > 0 }),
		)
	}
	again, err := paths.NewForest(f.Tree.Dump(t.Context(), db, "p"), func(n pathstest.Remark) string { return n.ID })
	if err != nil || pathstest.Shape(again) != pathstest.Shape(forest) {
		t.Fatalf("%s: the dump is %v, %v, want %s", f.Name, again, err, pathstest.Shape(forest))
	}
}

// likesOf is a node's number; 0 is not stored.
func likesOf(id string) int { return int(id[len(id)-1]) % 7 }

// A missing owner or node gives nothing, a bad argument an error, and a damaged list is read to its end.
func TestDocumentTreeQueriesOfNothing(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range pathstest.DocumentForms {
			f.Start(
				t, db, pathstest.Remark{ID: "a"}, pathstest.Remark{ID: "b", Parent: "c"},
				pathstest.Remark{ID: "c", Parent: "b"}, pathstest.Remark{ID: "d", Parent: "z"},
				pathstest.Remark{ID: "d", Parent: "d"},
			)
			owners := []any{
				bson.D{{Key: "_id", Value: "none"}}, bson.D{{Key: "_id", Value: "null"}, {Key: "remarks", Value: nil}},
				bson.D{{Key: "_id", Value: "text"}, {Key: "remarks", Value: "x"}},
			}
			if _, err := db.Collection(f.Name).InsertMany(t.Context(), owners); err != nil {
				t.Fatal(err)
			}
			ask := func(owner, id string) (all []*model.Aggregate[pathstest.Remark]) {
				return []*model.Aggregate[pathstest.Remark]{
					f.Tree.Node(owner, id), f.Tree.Parent(owner, id), f.Tree.Children(owner, id),
					f.Tree.Siblings(owner, id), f.Tree.Ancestors(owner, id),
					f.Tree.Descendants(owner, id, 0), f.Tree.Leaves(owner, id)}
			}
			for _, at := range [][2]string{{"p", "z0"}, {"none", "a"}, {"null", "a"}, {"text", "a"}, {"nobody", "a"}} {
				for i, q := range append(ask(at[0], at[1]), f.Tree.Roots(at[0])) {
					if n, err := q.Count(t.Context(), db); err != nil || n > 0 && (at[0] != "p" || i < 7) {
						t.Errorf("%s: query %d of %v: %d, %v", f.Name, i, at, n, err)
					}
				}
			}
			for _, id := range []string{"a", "b", "c", "d"} {
				for i, q := range ask("p", id) {
					if n, err := q.Count(t.Context(), db); err != nil || n > 5 {
						t.Errorf("%s: query %d of %s in a damaged list: %d, %v", f.Name, i, id, n, err)
					}
				}
			}
			var value *model.ValueError
			for i, q := range append(ask("p", ""), f.Tree.Descendants("p", "a", -1)) {
				if _, err := q.All(t.Context(), db); !errors.As(err, &value) {
					t.Errorf("%s: query %d: %v", f.Name, i, err)
				}
			}
			for _, err := range f.Tree.Dump(t.Context(), db, "nobody") {
				pathstest.WantDocumentError(t, "no owner", err, model.ErrNotFound)
			}
			if f.Spec.Nested == "" {
				for _, err := range f.Tree.Dump(t.Context(), db, "p") {
					pathstest.WantDocumentError(t, "damaged", err, paths.ErrDamaged)
				}
			}
		}
	})
}

// A node whose fields can't be decoded is in the way of nobody who doesn't ask for it.
func TestDocumentTreeQueriesMistyped(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range []pathstest.DocumentForm{pathstest.FlatForm, pathstest.KeyedForm, pathstest.NestedForm} {
			forest := pathstest.Parse("a(b(c d)) e")
			f.Start(t, db, remarksOf(f, rand.New(rand.NewPCG(1, 1)), forest)...)
			filter := bson.D{{Key: "_id", Value: "p"}}
			set := bson.D{{Key: "$set", Value: bson.D{{Key: "remarks.$[n].likes", Value: "many"}}}}
			if f.Spec.Nested != "" {
				set = bson.D{{Key: "$set", Value: bson.D{{Key: "remarks.0.likes", Value: "many"}}}}
			}
			w := model.Write{
				Collection: f.Name,
				Model: &mongo.UpdateOneModel{
					Filter: filter, Update: set, ArrayFilters: []any{bson.D{{Key: "n.id", Value: "a"}}},
				},
			}
			if f.Spec.Nested != "" {
				w.Model = &mongo.UpdateOneModel{Filter: filter, Update: set}
			}
			if _, err := w.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Tree.Node("p", "a").One(t.Context(), db); err == nil {
				t.Errorf("%s: a mistyped node is decoded", f.Name)
			}
			below, err := f.Tree.Descendants("p", "a", 0).All(t.Context(), db)
			if err != nil || !slices.Equal(pathstest.RemarkIDs(below), []string{"b", "c", "d"}) {
				t.Errorf("%s: %v, %v", f.Name, below, err)
			}
			if n, err := f.Tree.Roots("p").Count(t.Context(), db); err != nil || n != 2 {
				t.Errorf("%s: %d roots, %v", f.Name, n, err)
			}
			for _, c := range []model.Change{
				f.Tree.Move("p", "c", paths.LastRoot[string]()),
				f.Tree.Insert("p", pathstest.Remark{ID: "x"}, paths.FirstChild("a")),
				f.Tree.Delete("p", "b", paths.Promote), f.Tree.Repair("p"),
			} {
				if _, err := c.Run(t.Context(), db); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
			}
		}
	})
}

// Each query is one command, and returns only what it finds.
func TestDocumentTreeQueryCosts(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range []pathstest.DocumentForm{pathstest.FlatForm, pathstest.KeyedForm, pathstest.NestedForm} {
			f.Start(t, db, remarksOf(f, rand.New(rand.NewPCG(1, 1)), pathstest.Parse("a(b(c d)) e"))...)
			for _, q := range []struct {
				of   *model.Aggregate[pathstest.Remark]
				want int
			}{
				{f.Tree.Node("p", "d"), 1}, {f.Tree.Roots("p"), 2}, {f.Tree.Parent("p", "d"), 1},
				{f.Tree.Children("p", "b"), 2}, {f.Tree.Siblings("p", "a"), 1},
				{f.Tree.Ancestors("p", "d"), 2}, {f.Tree.Descendants("p", "a", 0), 3}, {f.Tree.Leaves("p", "a"), 2},
			} {
				modeltest.WantCost(
					t, monitor, model.Cost{Commands: 1, Returned: q.want},
					func() error { _, err := q.of.All(t.Context(), db); return err },
				)
				modeltest.WantIndexed(t, db, q.of, model.IDIndex)
			}
			modeltest.WantCost(t, monitor, model.Cost{Commands: 1, Returned: 1}, func() error {
				for _, err := range f.Tree.Dump(t.Context(), db, "p") {
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
	}, monitor)
}
