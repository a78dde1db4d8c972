package paths_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// Changes decide from the primary, whatever read preference the client has: a secondary that lags would let two moves
// make a cycle,
// numbers overlap, and a node be deleted that has a child.
func TestTreesDecideAtThePrimary(t *testing.T) {
	for _, k := range pathstest.Kinds {
		t.Run(k.Name, func(t *testing.T) {
			faults := mongotest.NewFaults()
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mongotest.Need(t, db, mongotest.Transactions) // a standalone has no secondaries
				k.Ensure(t, db)
				k.Store(t, db, pathstest.Parse("a b c"))
				faults.Lag(t, db, nil)
				run := func(name string, c model.Change, want error) {
					t.Helper()
					if _, err := c.Run(t.Context(), db); !errors.Is(err, want) {
						t.Errorf("%s: %v, want %v", name, err, want)
					}
				}
				run("a below b", k.Tree.Move("a", paths.LastChild("b")), nil)
				run("b below a", k.Tree.Move("b", paths.LastChild("a")), paths.ErrCycle)
				run("insert", k.Tree.Insert(pathstest.Category{ID: "d"}, paths.LastChild("c")), nil)
				run("insert", k.Tree.Insert(pathstest.Category{ID: "e"}, paths.FirstChild("c")), nil)
				run("delete", k.Tree.Delete("c", paths.Restrict), paths.ErrHasChildren)
				if old, err := k.Docs.ByID("d").One(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
					t.Errorf("a query of the user reads its secondary: %v, %v", old, err)
				}
				faults.Reset()
				report, err := pathstest.Inspect(t.Context(), db, k.Tree)
				if err != nil || len(report) > 0 {
					t.Errorf("%v, %v", report, err)
				}
				if got := pathstest.Shape(k.ReadForest(t, db)); got != pathstest.Shape(pathstest.Parse("b(a) c(e d)")) {
					t.Errorf("the tree is %s", got)
				}
			}, faults,
				mongotest.Settings{Client: options.Client().SetReadPreference(readpref.SecondaryPreferred())})
		})
	}
}
