package paths_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What a change of a tree costs, its lease and its reads included: commands, and documents of the tree that it writes.
func TestTreeCosts(t *testing.T) {
	tenancy.Differs(t, "a deletion is an update, which is sent with others in one command, and keeps what it counts or indexes")
	monitor := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range kinds {
			k.ensure(t, db)
			k.store(t, db, parse("a(b(c d(e)) f) g(h)"))
			for _, c := range []struct {
				name     string
				change   model.Change[any]
				commands map[string]int // by representation
				written  map[string]int // of the tree; the lease's two or three updates come to them
			}{
				{"a leaf", k.tree.Insert(category{ID: "x"}, paths.LastChild("d")), map[string]int{"parents": 7, "ancestors": 7, "paths": 8, "nested": 8, "children": 8}, map[string]int{"parents": 1, "ancestors": 1, "paths": 1, "nested": 2 + 2*3 + 3, "children": 2}},
				{"a move of three nodes", k.tree.Move("d", paths.LastChild("g")), map[string]int{"parents": 7, "ancestors": 7, "paths": 8, "nested": 7, "children": 9}, map[string]int{"parents": 1, "ancestors": 3, "paths": 3, "nested": 2*(3+3) + 2, "children": 3}},
				{"a node where it is", k.tree.Move("d", paths.After("d")), map[string]int{"parents": 3, "ancestors": 3, "paths": 3, "nested": 3, "children": 3}, map[string]int{}},
				{"a subtree", k.tree.Delete("g", paths.Subtree), map[string]int{"parents": 6, "ancestors": 6, "paths": 6, "nested": 7, "children": 6}, map[string]int{"parents": 5, "ancestors": 5, "paths": 5, "nested": 5, "children": 5}},
			} {
				got, err := modeltest.Measure(monitor, func() error {
					_, _, err := c.change.Run(t.Context(), db)
					return err
				})
				lease := 2 // taken and given back
				if c.written[k.name] > 0 {
					lease = 3 // and the intent
				}
				want := model.Cost{Commands: c.commands[k.name], Written: c.written[k.name] + lease}
				if err != nil || got.Commands != want.Commands || got.Written != want.Written {
					t.Errorf("%s: %s: %d commands, %d documents, %v; want %d and %d", k.name, c.name, got.Commands, got.Written, err, want.Commands, want.Written)
				}
			}
		}
	}, modeltest.WithMonitor(monitor))
}

// Every query of a tree is served by an index that the tree declares.
func TestTreeIndexes(t *testing.T) {
	alone(t)
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		big := &paths.Forest[string]{}
		for i := range 3000 {
			at := paths.LastRoot[string]()
			if i > 0 {
				at = paths.LastChild(fmt.Sprint("n", (i-1)/8))
			}
			_ = big.Insert(fmt.Sprint("n", i), at)
		}
		for _, k := range kinds {
			k.ensure(t, db)
			k.store(t, db, big)
		}
		id := "n300"
		for _, k := range kinds {
			n, err := k.docs.ByID(id).One(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			modeltest.WantIndexed(t, db, k.tree.Children(&n), "parent_1_order_1")
			modeltest.WantIndexed(t, db, k.tree.Siblings(&n), "parent_1_order_1")
			switch k.name {
			case "children":
				if strings.HasSuffix(t.Name(), "/engine") { // $graphLookup uses no index on DocumentDB
					modeltest.WantIndexed(t, db, k.tree.Descendants(&n, 0), model.IDIndex)
				}
			case "ancestors":
				modeltest.WantIndexed(t, db, k.tree.Descendants(&n, 0), "ancestors_1")
				modeltest.WantIndexed(t, db, k.tree.Ancestors(&n), model.IDIndex)
			case "paths":
				modeltest.WantIndexed(t, db, k.tree.Descendants(&n, 0), "path_1")
				modeltest.WantIndexed(t, db, k.tree.Descendants(&n, 2), "path_1")
				modeltest.WantIndexed(t, db, k.tree.Ancestors(&n), "path_1")
			}
		}
	})
}
