package model_test

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Two shelves hold the cups of a house: what leaves one comes to the other. Without a transaction, a process that dies
// between both writes would lose a cup.
type shelf struct {
	ID   string `bson:"_id"`
	Cups int64  `bson:"cups"`
	Last int64  `bson:"last"` // the number of the change that wrote it last
}

var (
	shelves = model.NewCollection[shelf, string]("shelves")
	house   = &model.Lease{Collection: "locks", ID: "house", For: 300 * time.Millisecond}
)

// What a change of the house is decided from.
type cupboard struct {
	fence   int64
	shelves map[string]shelf
}

// carry takes cups from one shelf to another. Each write asks that no later change has been there, and notes its own.
func carry(from, to string, n int64) model.ChangeOf[cupboard] {
	return model.ChangeOf[cupboard]{
		Lease: house,
		Read: func(ctx context.Context, db model.DB) (cupboard, error) {
			read := cupboard{model.Fence(ctx), map[string]shelf{}}
			for s, err := range shelves.Find(nil).Each(ctx, db) {
				if err != nil {
					return read, err
				}
				read.shelves[s.ID] = s
			}
			return read, nil
		},
		Decide: func(read cupboard) (model.Plan, error) {
			set := func(id string, cups int64) model.Write {
				return model.Write{Collection: "shelves", Idempotent: true, Model: &mongo.UpdateOneModel{
					Filter: bson.D{{Key: "_id", Value: id}, {Key: "last", Value: bson.D{{Key: "$lt", Value: read.fence}}}},
					Update: bson.D{{Key: "$set", Value: bson.D{{Key: "cups", Value: cups}, {Key: "last", Value: read.fence}}}},
				}}
			}
			if read.shelves[from].Cups < n {
				return model.Plan{}, fmt.Errorf("%s has %d cups", from, read.shelves[from].Cups)
			}
			return model.NewPlan(set(from, read.shelves[from].Cups-n), set(to, read.shelves[to].Cups+n)), nil
		},
	}
}

func ExampleLease() {
	faults := mongotest.NewFaults()
	monitor := mongotest.NewMonitor()
	client, stop := mongotest.Start(faults, monitor,
		mongotest.Settings{Client: options.Client().SetRetryWrites(false)})
	defer stop()
	ctx, db := context.Background(), client.Database("home")
	show := func() {
		all, err := shelves.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).All(ctx, db)
		if err != nil || len(all) != 2 {
			fmt.Println(len(all), "shelves", err)
			return
		}
		fmt.Println(all[0].ID, all[0].Cups, all[1].ID, all[1].Cups)
	}

	if _, err := shelves.InsertMany([]shelf{{ID: "kitchen", Cups: 8}, {ID: "parlour", Cups: 2}}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	// The first change makes the lock document too: the lease costs five commands, the read and the plan one each.
	monitor.Reset()
	_, result, err := carry("kitchen", "parlour", 3).Run(ctx, db)
	fmt.Println(result.Modified(), "documents", err)
	fmt.Println(monitor.Cost())
	show()

	// A process dies when it has stored what it is about to do: the lease, the plan, and no more.
	faults.From(mongotest.Writes, 3, mongotest.Fail(96))
	_, _, err = carry("parlour", "kitchen", 5).Run(ctx, db)
	faults.Reset()
	fmt.Println("it died:", err != nil)
	show()

	// The next one, when the lease has run out, first finishes that.
	_, _, err = carry("kitchen", "parlour", 1).Run(ctx, db)
	fmt.Println("the next:", err)
	show()

	// Output:
	// 2 documents <nil>
	// 7 commands, 6 documents written, 3 returned
	// kitchen 5 parlour 5
	// it died: true
	// kitchen 5 parlour 5
	// the next: <nil>
	// kitchen 9 parlour 1
}
