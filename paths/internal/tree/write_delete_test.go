package tree_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A deletion whose writer was only slow, and that another finished meanwhile, doesn't delete what came into the place
// afterwards.
func TestDeleteComesLate(t *testing.T) {
	tenancy.Differs(t, "an _id that was deleted stays taken")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.Kinds {
			for _, mode := range []paths.DeleteMode{paths.Subtree, paths.Restrict} {
				k.Ensure(t, db)
				k.Store(t, db, pathstest.Parse("a(b c)"))
				node, err := db.Collection(k.Name).FindOne(t.Context(), bson.D{{Key: "_id", Value: "c"}}).Raw()
				if err != nil {
					t.Fatal(err)
				}
				number, _ := node.Lookup("change").AsInt64OK()
				late := pathstest.MakePlan(t, db, k.Tree.Delete("c", mode), number+1)
				if late.Err() != nil {
					t.Fatal(late.Err())
				}
				for _, change := range []model.Change{
					k.Tree.Move("b", paths.LastChild("a")), // so that the numbers of changes are beyond the late one's
					k.Tree.Delete("c", mode),
					k.Tree.Insert(pathstest.Category{ID: "c"}, paths.LastChild("a")),
					k.Tree.Insert(pathstest.Category{ID: "d"}, paths.LastChild("c")),
				} {
					if _, err := change.Run(t.Context(), db); err != nil {
						t.Fatalf("%s: %v", k.Name, err)
					}
				}
				if _, err := late.Run(t.Context(), db); err != nil && !errors.Is(err, model.ErrStale) && !errors.Is(
					err, model.ErrNotFound,
				) {
					t.Errorf("%s: %v", k.Name, err)
				}
				if got := pathstest.Shape(k.ReadForest(t, db)); got != "a(b c(d))" {
					t.Errorf("%s, %v: %s is left", k.Name, pathstest.ModeName(mode), got)
				}
				k.WantWhole(t, db)
			}
		}
	})
}
