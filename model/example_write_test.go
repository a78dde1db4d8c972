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

// A bike can be rented by one person at a time.
type bike struct {
	ID     string `bson:"_id"`
	Rider  string `bson:"rider"` // "" while it is free
	Broken bool   `bson:"broken"`
}

var (
	bikes     = model.NewCollection[bike, string]("bikes")
	errBroken = errors.New("the bike is broken")
)

// rent builds a Write by hand: the driver's update model, and what it must find.
func rent(id, rider string) model.Write {
	return model.Write{
		Collection: "bikes",
		Index:      model.IDIndex,
		Expect:     model.One, // matching nothing is an error
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{{Key: "_id", Value: id}, {Key: "rider", Value: ""}, {Key: "broken", Value: false}},
			Update: bson.D{{Key: "$set", Value: bson.D{{Key: "rider", Value: rider}}}},
		},
		// These are asked only if the write matched nothing. Done tells whether this very
		// write was applied before. A Reason says why not.
		Done: bson.D{{Key: "_id", Value: id}, {Key: "rider", Value: rider}},
		Reasons: []model.Reason{
			{If: bson.D{{Key: "_id", Value: id}, {Key: "broken", Value: true}}, Err: errBroken},
			{If: bson.D{{Key: "_id", Value: id}, {Key: "rider", Value: bson.D{{Key: "$ne", Value: ""}}}}, Err: model.ErrTaken},
		},
	}
}

func ExampleWrite() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("rental")
	if _, err := bikes.InsertMany([]bike{{ID: "red"}, {ID: "blue", Broken: true}}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println(rent("red", "ann"))
	fmt.Println(rent("red", "ann").Cost())
	for _, try := range []model.Write{
		rent("red", "ann"), rent("red", "ann"), rent("red", "bob"), rent("blue", "bob"), rent("green", "bob"),
	} {
		result, err := try.Run(ctx, db)
		fmt.Println(result.Steps[0].Status, "-", err)
	}
	_, err := rent("blue", "bob").Run(ctx, db)
	fmt.Println(errors.Is(err, errBroken))

	// The driver can run the write too. It doesn't ask Done and Reasons.
	answer, err := db.Collection("bikes").BulkWrite(ctx, []mongo.WriteModel{rent("blue", "bob").Model})
	fmt.Println(answer.MatchedCount, err)
	// Output:
	// db.bikes.updateOne({_id: 'red', rider: '', broken: false}, {$set: {rider: 'ann'}})
	// 1 command, 1 document written, by _id_
	// applied - <nil>
	// already - <nil>
	// not sent - docmodel: step 1: bikes {_id: 'red'}: taken already
	// not sent - docmodel: step 1: bikes {_id: 'blue'}: the bike is broken
	// not sent - docmodel: step 1: bikes {_id: 'green'}: not found: no document has this _id
	// true
	// 0 <nil>
}
