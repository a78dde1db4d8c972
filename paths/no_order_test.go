package paths_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// No key sorts before a sibling without an order key: a place before it is refused, in a tree and in a document. A place behind other
// siblings isn't.
func TestNoOrder(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		places := map[paths.Place[string]]bool{ // true where the node comes
			paths.FirstRoot[string](): false, paths.Before("a"): false, paths.LastRoot[string](): true, paths.After("b"): true, paths.Before("b"): true,
		}
		for place, comes := range places {
			want := func(what string, err error) {
				t.Helper()
				if comes && err != nil || !comes && !errors.Is(err, paths.ErrDamaged) {
					t.Errorf("%s: %v: %v", what, place, err)
				}
			}
			for _, k := range kinds[:3] {
				k.store(t, db, parse("a b c"))
				k.put(t, db, "a", bson.D{{Key: "order", Value: ""}})
				for _, c := range []model.Change[any]{k.tree.Insert(category{ID: "x"}, place), k.tree.Move("c", place)} {
					_, _, err := c.Run(t.Context(), db)
					want(k.name, err)
				}
				roots, err := ids(k.tree.Roots().All(t.Context(), db))
				if err != nil || roots[0] != "a" {
					t.Errorf("%s: %v: %v, %v", k.name, place, roots, err)
				}
			}
			for _, f := range []documentForm{keyed, keyedRev} {
				f.start(t, db, remark{ID: "a"}, remark{ID: "b", Order: "a0"}, remark{ID: "c", Order: "a1"})
				for _, c := range []model.Change[any]{f.tree.Insert("p", remark{ID: "x"}, place), f.tree.Move("p", "c", place)} {
					_, _, err := c.Run(t.Context(), db)
					want(f.name, err)
				}
				if got := f.shape(t, db); got[0] != 'a' {
					t.Errorf("%s: %v: %s", f.name, place, got)
				}
			}
		}
	})
}
