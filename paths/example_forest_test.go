package paths_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
)

// The menu of a web site is an ordered tree.
type menuItem struct {
	ID     string  `bson:"_id"`
	Parent *string `bson:"parent"`
	Order  string  `bson:"order"`
	Change int64   `bson:"change"`
}

var (
	menuItems = model.NewCollection[menuItem, string]("menu")
	menu      = paths.NewParentTree(menuItems, paths.TreeSpec{})
)

// A forest is read from a tree once, and then answers in memory.
func ExampleForest() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("site")
	home, about := "home", "about"
	if _, err := menu.Load([]menuItem{
		{ID: "home"}, {ID: "about", Parent: &home}, {ID: "team", Parent: &about}, {ID: "contact", Parent: &home},
	}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	forest, err := paths.NewForest(menu.Dump(ctx, db), func(item menuItem) string { return item.ID })
	if err != nil {
		fmt.Println(err)
		return
	}
	for id, depth := range forest.All() {
		fmt.Printf("%s%s\n", strings.Repeat("  ", depth), id)
	}
	fmt.Println(forest.Ancestors("team"))
	fmt.Println(forest.Children("home"))

	// A forest has the operations of a tree. They change memory only, so you can try a
	// move before you run it.
	fmt.Println(forest.Move("team", paths.FirstChild("home")))
	fmt.Println(forest.Descendants("home", 1))
	err = forest.Move("home", paths.LastChild("about"))
	fmt.Println(errors.Is(err, paths.ErrCycle), err)
	err = forest.Insert("team", paths.LastRoot[string]())
	fmt.Println(errors.Is(err, model.ErrTaken), err)
	fmt.Println(forest.Delete("home", paths.Restrict))
	// Output:
	// home
	//   about
	//     team
	//   contact
	// [home about] <nil>
	// [about contact] <nil>
	// <nil>
	// [team about contact] <nil>
	// true docmodel: a node can't be moved under itself or a descendant: home last child of about
	// true docmodel: taken already: node team
	// docmodel: the node has children: home has 3
}
