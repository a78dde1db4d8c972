package paths_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// Changes decide from the primary, whatever read preference the client has: a secondary that lags would let two moves make a cycle,
// numbers overlap, and a node be deleted that has a child.
func TestTreesDecideAtThePrimary(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			faults := mongotest.NewFaults()
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mongotest.NeedTransactions(t, db) // a standalone has no secondaries
				k.ensure(t, db)
				k.store(t, db, parse("a b c"))
				faults.Lag(t, db)
				run := func(name string, c model.Change[any], want error) {
					t.Helper()
					if _, _, err := c.Run(t.Context(), db); !errors.Is(err, want) {
						t.Errorf("%s: %v, want %v", name, err, want)
					}
				}
				run("a below b", k.tree.Move("a", paths.LastChild("b")), nil)
				run("b below a", k.tree.Move("b", paths.LastChild("a")), paths.ErrCycle)
				run("insert", k.tree.Insert(category{ID: "d"}, paths.LastChild("c")), nil)
				run("insert", k.tree.Insert(category{ID: "e"}, paths.FirstChild("c")), nil)
				run("delete", k.tree.Delete("c", paths.Restrict), paths.ErrHasChildren)
				if old, err := k.docs.ByID("d").One(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
					t.Errorf("a query of the user reads its secondary: %v, %v", old, err)
				}
				faults.Reset()
				report, err := inspect(t.Context(), db, k.tree)
				if err != nil || len(report) > 0 {
					t.Errorf("%v, %v", report, err)
				}
				if got := shape(k.stored(t, db)); got != shape(parse("b(a) c(e d)")) {
					t.Errorf("the tree is %s", got)
				}
			}, mongotest.WithFaults(faults), mongotest.WithClientOptions(options.Client().SetReadPreference(readpref.SecondaryPreferred())))
		})
	}
}
