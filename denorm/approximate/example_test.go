package approximate_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/docmodel/docmodel/denorm/approximate"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// A page counts its views, about once in a hundred.
type page struct {
	ID    string `bson:"_id"`
	Views int64  `bson:"views"`
}

var (
	pages     = model.NewCollection[page, string]("pages")
	pageViews = approximate.New(pages, "views", 100)
)

func ExampleApproximate() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("site")

	if _, err := pages.Insert(page{ID: "home"}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	random := rand.New(rand.NewPCG(1, 2)) // an application draws from rand.Float64
	commands := 0
	for range 10_000 {
		view := pageViews.Count("home", 1, random.Float64())
		commands += view.Cost().Commands
		if _, err := view.Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}
	home, err := pages.ByID("home").One(ctx, db)
	fmt.Println(home.Views, "views of 10000, in", commands, "commands", err)
	// Output:
	// 9700 views of 10000, in 97 commands <nil>
}
