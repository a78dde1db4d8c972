package model_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A lot of an auction has the highest bid so far.
type lot struct {
	ID     string `bson:"_id"`
	Price  int64  `bson:"price"`
	Bidder string `bson:"bidder"`
}

var (
	lots   = model.NewCollection[lot, string]("lots")
	errLow = errors.New("the bid is too low")
)

// bid reads a lot, decides, and writes. The write's filter holds the price that was read.
// If another bid came in between, the write matches nothing, and the change reads again.
func bid(id, bidder string, price int64) model.ChangeOf[lot] {
	return model.ChangeOf[lot]{
		Name: "bid",
		Read: func(ctx context.Context, db model.DB) (lot, error) { return lots.ByID(id).One(ctx, db) },
		Decide: func(read lot) (model.Plan, error) {
			if price <= read.Price {
				return model.Plan{}, fmt.Errorf("%w: %s has bid %d", errLow, read.Bidder, read.Price)
			}
			return model.NewPlan(model.Write{
				Collection: "lots", Expect: model.One, Index: model.IDIndex,
				Model: &mongo.UpdateOneModel{
					Filter: bson.D{{Key: "_id", Value: id}, {Key: "price", Value: read.Price}},
					Update: bson.D{{Key: "$set", Value: bson.D{{Key: "price", Value: price}, {Key: "bidder", Value: bidder}}}},
				},
			}), nil
		},
	}
}

func ExampleChange() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("auction")
	if _, err := lots.Insert(lot{"vase", 100, "ann"}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// Decide is pure, so that you can look at a plan without running it.
	fmt.Println(bid("vase", "bob", 120).Decide(lot{"vase", 100, "ann"}))

	// While bob's change is under way, carol bids: after bob's first read, before his
	// write.
	bobs := bid("vase", "bob", 120)
	read, attempts := bobs.Read, 0
	bobs.Read = func(inner context.Context, db model.DB) (lot, error) {
		state, err := read(inner, db)
		if attempts++; attempts == 1 {
			if _, _, err := bid("vase", "carol", 110).Run(ctx, db); err != nil {
				return state, err
			}
		}
		return state, err
	}
	decidedFrom, result, err := bobs.Run(ctx, db)
	fmt.Println(attempts, "attempts; decided from", decidedFrom, "-", result.Modified(), "document modified", err)

	// An error of Decide ends the change, and nothing is written.
	_, _, err = bid("vase", "dan", 115).Run(ctx, db)
	fmt.Println(errors.Is(err, errLow), err)
	// Output:
	// db.lots.updateOne({_id: 'vase', price: Long('100')}, {$set: {price: Long('120'), bidder: 'bob'}}) <nil>
	// 2 attempts; decided from {vase 110 carol} - 1 document modified <nil>
	// true the bid is too low: bob has bid 120
}
