package model_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A league stores games, and how many of them each team won.
type (
	game struct {
		ID     string `bson:"_id"`
		Winner string `bson:"winner"`
	}
	teamWins struct {
		Team string `bson:"_id"`
		Wins int64  `bson:"wins"`
	}
)

var (
	games = model.NewCollection[game, string]("games")
	wins  = model.NewCollection[teamWins, string]("wins")
)

// countWins makes the server compute and store the wins. Once says that a second run
// leaves the same documents.
var countWins = model.MergeInto{
	Collection: "games",
	Idempotent: true,
	Pipeline: mongo.Pipeline{
		{{
			Key:   "$group",
			Value: bson.D{{Key: "_id", Value: "$winner"}, {Key: "wins", Value: bson.D{{Key: "$sum", Value: 1}}}},
		}},
		{{
			Key:   "$merge",
			Value: bson.D{{Key: "into", Value: "wins"}, {Key: "on", Value: "_id"}, {Key: "whenMatched", Value: "replace"}},
		}},
	},
}

// A MergeInto is a step of a plan, as a Write is.
func ExampleMergeInto() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("league")
	if _, err := games.InsertMany([]game{{"g1", "red"}, {"g2", "blue"}, {"g3", "red"}}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// The price doesn't say how many documents the step writes, and the server doesn't
	// report it.
	plan := model.NewPlan(countWins)
	fmt.Println(plan)
	fmt.Println(plan.Cost(), "-", plan.Guarantee())
	result, err := plan.Run(ctx, db)
	fmt.Println(result.Steps[0].Status, err)
	fmt.Println(wins.Find(nil).Sorted(bson.D{{Key: "wins", Value: -1}}).All(ctx, db))
	// Output:
	// db.games.aggregate([{$group: {_id: '$winner', wins: {$sum: 1}}}, {$merge: {into: 'wins', on: '_id', whenMatched: 'replace'}}])
	// 1 command, as many documents written as match - rerunnable
	// applied <nil>
	// [{red 2} {blue 1}] <nil>
}
