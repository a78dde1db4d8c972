package paths_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/paths"
)

// Accounts follow accounts. Who is how far from Ann, which of them hang together, who counts most? Neighbours of one are one
// query; of all of them these are computed in supersteps.
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
	client, stop := modeltest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("social")

	plan := accounts.InsertMany([]account{
		{"ann", []string{"bob", "cy"}}, {"bob", []string{"cy", "dan"}}, {"cy", []string{"dan"}}, {"dan", nil}, // dan follows nobody
		{"eve", []string{"fay"}}, {"fay", []string{"eve", "gone"}}, // nobody is called gone
	})
	if _, err := plan.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// A superstep is a pipeline that writes what it finds, and a record that it is over.
	fromAnn := near.Distances("ann")
	last, err := fromAnn.Run(ctx, db, paths.GraphOptions{Steps: 1})
	fmt.Println("reached", last.Changed, "in superstep", last.Step, err)
	step := fromAnn.Step(last)
	fmt.Println(step.Cost(), "-", step.Guarantee())
	fmt.Println(step.Steps[0])
	if _, err = fromAnn.Run(ctx, db, paths.GraphOptions{}); err != nil { // goes on where it was
		fmt.Println(err)
		return
	}
	found, err := near.Within(2).All(ctx, db)
	for _, v := range found {
		fmt.Printf("%s is %d away, by %q\n", v.ID, v.Step, v.Via)
	}
	unreached, err2 := near.Unreached().All(ctx, db)
	fmt.Println("unreached:", unreached, err, err2)

	if _, err := groups.Components().Run(ctx, db, paths.GraphOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	of, err := groups.State("fay").One(ctx, db)
	fmt.Println("fay is in the component of", of.Component, err)

	if _, err := ranks.PageRank().Run(ctx, db, paths.GraphOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	top, err := ranks.Top(3).All(ctx, db)
	for _, v := range top {
		fmt.Printf("%s %.3f\n", v.ID, v.Rank)
	}
	fmt.Println(err)
	// Output:
	// reached 2 in superstep 1 <nil>
	// 2 commands, as many documents written as match - rerunnable
	// db.near.aggregate([{$match: {step: Long('1')}}, {$lookup: {from: 'accounts', localField: '_id', foreignField: '_id', as: 'vertex'}}, {$unwind: '$vertex'}, {$project: {to: {$cond: [{$isArray: '$vertex.follows'}, '$vertex.follows', []]}}}, {$unwind: '$to'}, {$group: {_id: '$to', via: {$min: '$_id'}}}, {$lookup: {from: 'near', localField: '_id', foreignField: '_id', pipeline: [{$project: {_id: 1}}], as: 'seen'}}, {$match: {seen: {$size: 0}}}, {$lookup: {from: 'accounts', localField: '_id', foreignField: '_id', pipeline: [{$project: {_id: 1}}], as: 'exists'}}, {$unwind: '$exists'}, {$project: {_id: '$exists._id', step: {$literal: Long('2')}, via: 1}}, {$merge: {into: 'near', whenMatched: 'keepExisting', whenNotMatched: 'insert'}}])
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
