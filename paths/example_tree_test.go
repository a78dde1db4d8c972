package paths_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
)

// A shelf of a shop is in a tree with the others. The tree's own fields are written by the library.
type shelf struct {
	ID     string  `bson:"_id"`
	Parent *string `bson:"parent"`
	Order  string  `bson:"order"`
	Change int64   `bson:"change"`
	Path   string  `bson:"path"`
}

var (
	shelves   = model.NewCollection[shelf, string]("shelves")
	shelfTree = paths.NewMaterializedPath(shelves, paths.MaterializedPathSpec{})
)

// Any representation has these operations; this one keeps paths.
func ExampleTree() {
	monitor := mongotest.NewMonitor()
	client, stop := mongotest.Start(monitor)
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	if err := model.New("shop", shelfTree).Indexes().Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	for _, s := range []struct {
		id string
		at paths.Place[string]
	}{
		{"clothing", paths.LastRoot[string]()},
		{"men", paths.LastChild("clothing")},
		{"women", paths.FirstChild("clothing")},
		{"shoes", paths.LastChild("men")},
		{"boots", paths.LastChild("shoes")},
		{"sale", paths.LastRoot[string]()},
	} {
		if _, err := shelfTree.Insert(shelf{ID: s.id}, s.at).Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}
	clothing, err := shelves.ByID("clothing").One(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	below, err := shelfTree.Descendants(&clothing, 0).All(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	for v, err := range shelfTree.Arrange(&clothing, below) {
		fmt.Printf("%s%s %v\n", strings.Repeat("  ", v.Depth), v.Doc.ID, err)
	}

	// The lease, what it is decided from, and the subtree by one update.
	cost, err := modeltest.Measure(monitor, func() error {
		_, err := shelfTree.Move("shoes", paths.LastChild("sale")).Run(ctx, db)
		return err
	})
	fmt.Println(cost.Commands, "commands,", cost.Written, "documents written, three times the lock document", err)
	boots, err := shelves.ByID("boots").One(ctx, db)
	fmt.Println(boots.Path, err)
	_, err = shelfTree.Move("sale", paths.LastChild("boots")).Run(ctx, db)
	fmt.Println(err)

	found, err := shelfTree.Checks()[0].All(ctx, db)
	fmt.Println(len(found), "problems", err)
	// Output:
	// clothing <nil>
	//   women <nil>
	//   men <nil>
	//     shoes <nil>
	//       boots <nil>
	// 7 commands, 5 documents written, three times the lock document <nil>
	// sale/shoes/boots/ <nil>
	// docmodel: a node can't be moved under itself or a descendant: 'sale' under 'boots'
	// 0 problems <nil>
}
