package model_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A farm counts the eggs of each nest, and all eggs.
type (
	nest struct {
		ID   string `bson:"_id"`
		Eggs int64  `bson:"eggs"`
	}
	farm struct {
		ID   string `bson:"_id"`
		Eggs int64  `bson:"eggs"`
	}
)

var (
	nests = model.NewCollection[nest, string]("nests")
	farms = model.NewCollection[farm, string]("farms")
)

// lay adds to both numbers. If it were cut between the writes, nobody could tell whether
// to run it again.
func lay(nestID, farmID string) model.Plan {
	more := bson.D{{Key: "$inc", Value: bson.D{{Key: "eggs", Value: 1}}}}
	return model.NewPlan(nests.Update(nestID, more), farms.Update(farmID, more))
}

// On this database Run is enough: each action that needs a transaction gets one.
func ExampleWithTransactions() {
	monitor := mongotest.NewMonitor()
	client, stop := mongotest.Start(monitor)
	defer stop()
	ctx, database := context.Background(), client.Database("farm")
	db, err := model.WithTransactions(ctx, database) // it asks the server once, when the program starts
	if err != nil {
		fmt.Println(err)
		return
	}
	begin := model.NewPlan(nests.Insert(nest{ID: "n1"}), farms.Insert(farm{ID: "hill"}))
	if _, err := begin.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	_, err = lay("n1", "hill").Run(ctx, database)
	fmt.Println("without:", err)
	monitor.Reset()
	_, err = lay("n1", "hill").Run(ctx, db)
	fmt.Println("with:", err)
	fmt.Println(lay("n1", "hill").CostTx(), "- and the commit")
	for _, command := range monitor.Commands() {
		fmt.Println(command.Name)
	}

	// The second write finds no farm. The first one is taken back.
	_, err = lay("n1", "valley").Run(ctx, db)
	fmt.Println(err)
	fmt.Println(nests.ByID("n1").One(ctx, db))
	// Output:
	// without: docmodel: the plan needs a transaction: use RunTx or a database of WithTransactions, or allow a partial result (step 1, nests.updateOne, can't be repeated after an interruption: $inc does more the second time)
	// with: <nil>
	// 1 command, 2 documents written, by _id_ - and the commit
	// bulkWrite
	// commitTransaction
	// docmodel: step 2: farms {_id: 'valley'}: not found: no document has this _id
	// {n1 1} <nil>
}
