package paths_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// No key sorts before a sibling without an order key: a place before it is refused, in a tree and in a document. A
// place behind other
// siblings isn't.
func TestNoOrder(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		places := map[paths.Place[string]]bool{ // true where the node comes
			paths.FirstRoot[string](): false, paths.Before("a"): false, paths.LastRoot[string](): true,
			paths.After("b"): true, paths.Before("b"): true,
		}
		for place, comes := range places {
			want := func(what string, err error) {
				t.Helper()
				if comes && err != nil || !comes && !errors.Is(err, paths.ErrDamaged) {
					t.Errorf("%s: %v: %v", what, place, err)
				}
			}
			for _, k := range pathstest.Kinds[:3] {
				k.Store(t, db, pathstest.Parse("a b c"))
				k.Put(t, db, "a", bson.D{{Key: "order", Value: ""}})
				for _, c := range []model.Change{
					k.Tree.Insert(pathstest.Category{ID: "x"}, place), k.Tree.Move("c", place),
				} {
					_, err := c.Run(t.Context(), db)
					want(k.Name, err)
				}
				roots, err := pathstest.IDs(k.Tree.Roots().All(t.Context(), db))
				if err != nil || roots[0] != "a" {
					t.Errorf("%s: %v: %v, %v", k.Name, place, roots, err)
				}
			}
			for _, f := range []pathstest.DocumentForm{pathstest.KeyedForm, pathstest.KeyedRevForm} {
				f.Start(
					t, db, pathstest.Remark{ID: "a"}, pathstest.Remark{ID: "b", Order: "a0"},
					pathstest.Remark{ID: "c", Order: "a1"},
				)
				for _, c := range []model.Change{
					f.Tree.Insert("p", pathstest.Remark{ID: "x"}, place), f.Tree.Move("p", "c", place),
				} {
					_, err := c.Run(t.Context(), db)
					want(f.Name, err)
				}
				if got := f.Shape(t, db); got[0] != 'a' {
					t.Errorf("%s: %v: %s", f.Name, place, got)
				}
			}
		}
	})
}
