package paths_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
)

// Accounts follow accounts. Who is how far from Ann, which of them hang together, who counts most? Neighbours of one
// are one query; of all of them these are computed in supersteps.
type account struct {
	ID      string   `bson:"_id"`
	Follows []string `bson:"follows,omitempty"`
}

var (
	accounts = model.NewCollection[account, string]("accounts")
	near     = paths.NewGraph(accounts, "follows", paths.GraphSpec{States: "near"})
	groups   = paths.NewGraph(accounts, "follows", paths.GraphSpec{States: "groups"})
	ranks    = paths.NewGraph(accounts, "follows", paths.GraphSpec{States: "ranks"})
)

func ExampleGraph() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("social")

	plan := accounts.InsertMany([]account{
		// dan follows nobody
		{"ann", []string{"bob", "cy"}}, {"bob", []string{"cy", "dan"}}, {"cy", []string{"dan"}}, {"dan", nil},
		{"eve", []string{"fay"}}, {"fay", []string{"eve", "gone"}}, // nobody is called gone
	})
	if _, err := plan.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// A superstep is a pipeline that writes what it finds, and a record that it is over. A job goes on where it was.
	run := func(s *paths.Supersteps) {
		if _, err := s.Job().Run(ctx, db, model.JobOptions{}); err != nil {
			fmt.Println(err)
		}
	}
	fromAnn := near.Distances("ann")
	run(fromAnn)
	for step, err := range fromAnn.Steps().Each(ctx, db) {
		fmt.Println("reached", step.Changed, "in superstep", step.Step, err)
	}
	found, err := near.Within(2).All(ctx, db)
	for _, v := range found {
		fmt.Printf("%s is %d away, by %q\n", v.ID, v.Step, v.Via)
	}
	unreached, err2 := near.Unreached().All(ctx, db)
	fmt.Println("unreached:", unreached, err, err2)

	run(groups.Components())
	of, err := groups.States("fay").One(ctx, db)
	fmt.Println("fay is in the component of", of.Component, err)

	run(ranks.PageRank(paths.RankSpec{}))
	top, err := ranks.Top(3).All(ctx, db)
	for _, v := range top {
		fmt.Printf("%s %.3f\n", v.ID, v.Rank)
	}
	fmt.Println(err)
	// Output:
	// reached 1 in superstep 0 <nil>
	// reached 2 in superstep 1 <nil>
	// reached 1 in superstep 2 <nil>
	// reached 0 in superstep 3 <nil>
	// ann is 0 away, by ""
	// bob is 1 away, by "ann"
	// cy is 1 away, by "ann"
	// dan is 2 away, by "bob"
	// unreached: [{eve [fay]} {fay [eve gone]}] <nil> <nil>
	// fay is in the component of eve <nil>
	// eve 0.316
	// fay 0.316
	// dan 0.158
	// <nil>
}
