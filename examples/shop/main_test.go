package main

import (
	"testing"

	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func Example() {
	main()
	// Output:
	//                   move Shoes into Sale    show Sale   above Boots  items of Clothing
	// DocumentTree      2 commands, 1 written   1 command   1 command    1 command
	// ParentTree        6 commands, 3 written   2 commands  2 commands   2 commands
	// ChildTree         9 commands, 6 written   2 commands  2 commands   2 commands
	// AncestorArray     7 commands, 5 written   2 commands  2 commands   2 commands
	// MaterializedPath  8 commands, 5 written   2 commands  2 commands   2 commands
	// NestedSet         7 commands, 17 written  2 commands  2 commands   2 commands
	// 6 say:
	// Shoes are moved
	// Sale >Shoes >>Boots
	// Sale, Shoes
	// 12 items
}

// What a move writes is what the model was chosen by: with parents alone one node, whatever lies below it. The lease comes to that,
// and the plan where it is stored for the next writer. In one document it is that document.
func TestMoveCosts(t *testing.T) {
	monitor := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		want := map[string][2]int{ // commands, and documents written
			"DocumentTree": {2, 1}, "ParentTree": {6, 1 + 2}, "ChildTree": {9, 3 + 3}, "AncestorArray": {7, 2 + 3}, "MaterializedPath": {8, 2 + 3}, "NestedSet": {7, 14 + 3},
		}
		for _, s := range shops {
			if err := store(t.Context(), db, s); err != nil {
				t.Fatal(err)
			}
			cost, err := modeltest.Measure(monitor, func() error { return s.Move(t.Context(), db, "Shoes", "Sale") })
			if got := [2]int{cost.Commands, cost.Written}; err != nil || got != want[s.name] {
				t.Errorf("%s: commands and documents %v, %v; want %v", s.name, got, err, want[s.name])
			}
		}
	}, modeltest.WithMonitor(monitor))
}
