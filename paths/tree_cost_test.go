package paths_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What a change of a tree costs, its lease and its reads included: commands, and documents of the tree that it writes.
func TestTreeCosts(t *testing.T) {
	tenancy.Differs(
		t, "a deletion is an update, which is sent with others in one command, and keeps what it counts or indexes",
	)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		treeCosts(t, monitor, db, db, 2, 1) // taken and given back; the intent
		tx, err := model.WithTransactions(t.Context(), db)
		if errors.Is(err, model.ErrNoTransactions) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		treeCosts(t, monitor, db, tx, 1, 0) // the number of the change; the commit comes to it
	}, monitor)
}

// treeCosts measures changes that run on own. lease and intent are the commands for the lease of each change, and the
// one more of each
// that writes. In a transaction a plan of several writes is one command since MongoDB 8.0, and several before.
func treeCosts(t *testing.T, monitor *mongotest.Monitor, db *mongo.Database, own model.DB, lease, intent int) {
	for _, k := range pathstest.Kinds {
		k.Ensure(t, db)
		k.Store(t, db, pathstest.Parse("a(b(c d(e)) f) g(h)"))
		for _, c := range []struct {
			name    string
			change  model.Change
			sent    map[string]int // commands of the tree, by representation
			written map[string]int // documents of the tree
		}{
			{
				"a leaf", k.Tree.Insert(pathstest.Category{ID: "x"}, paths.LastChild("d")),
				map[string]int{"parents": 3, "ancestors": 3, "paths": 4, "nested": 4, "children": 4},
				map[string]int{"parents": 1, "ancestors": 1, "paths": 1, "nested": 2 + 2*3 + 3, "children": 2},
			},
			{
				"a move of three nodes", k.Tree.Move("d", paths.LastChild("g")),
				map[string]int{"parents": 3, "ancestors": 3, "paths": 4, "nested": 3, "children": 5},
				map[string]int{"parents": 1, "ancestors": 3, "paths": 3, "nested": 2*(3+3) + 2, "children": 3},
			},
			{
				"a node where it is", k.Tree.Move("d", paths.After("d")),
				map[string]int{"parents": 1, "ancestors": 1, "paths": 1, "nested": 1, "children": 1}, map[string]int{},
			},
			{
				"a subtree", k.Tree.Delete("g", paths.Subtree),
				map[string]int{"parents": 3, "ancestors": 3, "paths": 3, "nested": 4, "children": 3},
				map[string]int{"parents": 5, "ancestors": 5, "paths": 5, "nested": 5, "children": 5},
			},
		} {
			got, err := modeltest.Measure(monitor, func() error {
				_, err := c.change.Run(t.Context(), own)
				return err
			})
			held := lease
			if c.written[k.Name] > 0 {
				held += intent
			}
			want, right := model.Cost{
				Commands: c.sent[k.Name] + held, Written: c.written[k.Name] + held,
			}, got.Commands == c.sent[k.Name]+held
			if own != model.DB(db) {
				want.Commands++
				right = got.Commands <= want.Commands
			}
			if err != nil || !right || got.Written != want.Written {
				t.Errorf(
					"%s: %s: %d commands, %d documents, %v; want %d and %d", k.Name, c.name, got.Commands, got.Written,
					err, want.Commands, want.Written,
				)
			}
		}
		k.WantWhole(t, db)
	}
}

// Every query of a tree is served by an index that the tree declares.
func TestTreeIndexes(t *testing.T) {
	testkit.Alone(t)
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		big := &paths.Forest[string]{}
		for i := range 3000 {
			at := paths.LastRoot[string]()
			if i > 0 {
				at = paths.LastChild(fmt.Sprint("n", (i-1)/8))
			}
			_ = big.Insert(fmt.Sprint("n", i), at)
		}
		for _, k := range pathstest.Kinds {
			k.Ensure(t, db)
			k.Store(t, db, big)
		}
		id := "n300"
		for _, k := range pathstest.Kinds {
			n, err := k.Docs.ByID(id).One(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			modeltest.WantIndexed(t, db, k.Tree.Children(&n), "parent_1_order_1")
			modeltest.WantIndexed(t, db, k.Tree.Siblings(&n), "parent_1_order_1")
			switch k.Name {
			case "children":
				if strings.HasSuffix(t.Name(), "/engine") { // $graphLookup uses no index on DocumentDB
					modeltest.WantIndexed(t, db, k.Tree.Descendants(&n, 0), model.IDIndex)
				}
			case "ancestors":
				modeltest.WantIndexed(t, db, k.Tree.Descendants(&n, 0), "ancestors_1")
				modeltest.WantIndexed(t, db, k.Tree.Ancestors(&n), model.IDIndex)
			case "paths":
				modeltest.WantIndexed(t, db, k.Tree.Descendants(&n, 0), "path_1")
				modeltest.WantIndexed(t, db, k.Tree.Descendants(&n, 2), "path_1")
				modeltest.WantIndexed(t, db, k.Tree.Ancestors(&n), "path_1")
			}
		}
	})
}
