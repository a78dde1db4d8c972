package main

import (
	"testing"

	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func Example() {
	main()
	// Output:
	//                   move Shoes under Sale   walk Sale   below Clothing  above Boots  items of Clothing
	// ParentTree        6 commands, 3 written   2 commands  2 commands      2 commands   2 commands
	// ChildTree         9 commands, 6 written   2 commands  2 commands      2 commands   2 commands
	// AncestorArray     7 commands, 5 written   2 commands  2 commands      2 commands   2 commands
	// MaterializedPath  8 commands, 5 written   2 commands  2 commands      2 commands   2 commands
	// NestedSet         7 commands, 17 written  2 commands  2 commands      2 commands   2 commands
	// Shoes are moved
	// Sale >Shoes >>Boots
	// Men's, Hats, Women's
	// Sale, Shoes
	// 12 items
}

// What a move writes is what the model was chosen by: with parents alone one node, whatever lies below it. The lease comes to that,
// and the plan where it is stored for the next writer.
func TestMoveCosts(t *testing.T) {
	monitor := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			name                string
			commands, documents int
		}{
			{"ParentTree", 6, 1 + 2},
			{"ChildTree", 9, 3 + 3},
			{"AncestorArray", 7, 2 + 3},
			{"MaterializedPath", 8, 2 + 3},
			{"NestedSet", 7, 14 + 3},
		} {
			for _, x := range trees {
				if x.name != c.name {
					continue
				}
				if err := store(t.Context(), db, x.tree); err != nil {
					t.Fatal(err)
				}
				cost, err := modeltest.Measure(monitor, func() error {
					_, _, err := x.tree.Move("Shoes", paths.LastChild("Sale")).Run(t.Context(), db)
					return err
				})
				if err != nil || cost.Commands != c.commands || cost.Written != c.documents {
					t.Errorf("%s: %d commands, %d documents, %v; want %d and %d", c.name, cost.Commands, cost.Written, err, c.commands, c.documents)
				}
			}
		}
	}, modeltest.WithMonitor(monitor))
}
