package model_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A pupil joins a choir and pays for the first term. Each is a plan of two writes, and
// both write the pupil.
type (
	pupil struct {
		ID    string `bson:"_id"`
		Choir string `bson:"choir,omitempty"`
		Paid  int64  `bson:"paid"`
	}
	choirGroup struct {
		ID     string `bson:"_id"`
		Pupils int64  `bson:"pupils"`
	}
	till struct {
		ID    string `bson:"_id"`
		Holds int64  `bson:"holds"`
	}
)

var (
	pupils      = model.NewCollection[pupil, string]("pupils")
	choirGroups = model.NewCollection[choirGroup, string]("choirs")
	tills       = model.NewCollection[till, string]("tills")
)

func joinChoir(id, choir string) model.Plan {
	return model.NewPlan(
		pupils.Update(id, bson.D{{Key: "$set", Value: bson.D{{Key: "choir", Value: choir}}}}),
		choirGroups.Update(choir, bson.D{{Key: "$inc", Value: bson.D{{Key: "pupils", Value: 1}}}}),
	)
}

func payFee(id string, amount int64) model.Plan {
	return model.NewPlan(
		pupils.Update(id, bson.D{{Key: "$inc", Value: bson.D{{Key: "paid", Value: amount}}}}),
		tills.Update("school", bson.D{{Key: "$inc", Value: bson.D{{Key: "holds", Value: amount}}}}),
	)
}

// MergePlans makes one plan of both. It writes the pupil once.
func ExampleMergePlans() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("school")
	begin := model.NewPlan(
		pupils.Insert(pupil{ID: "ann"}), choirGroups.Insert(choirGroup{ID: "small"}), tills.Insert(till{ID: "school"}),
	)
	if _, err := begin.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	join := model.MergePlans(joinChoir("ann", "small"), payFee("ann", 40))
	fmt.Println(join)
	fmt.Println(join.Cost(), "-", join.Guarantee())
	_, err := join.RunTx(ctx, db)
	fmt.Println(err)
	fmt.Println(pupils.ByID("ann").One(ctx, db))

	// Two plans that write one path are refused.
	twice := model.MergePlans(payFee("ann", 40), payFee("ann", 50))
	var conflict *model.ConflictError
	fmt.Println(errors.As(twice.Err(), &conflict), twice.Err())
	// Output:
	// db.pupils.updateOne({_id: 'ann'}, {$set: {choir: 'small'}, $inc: {paid: Long('40')}})
	// db.choirs.updateOne({_id: 'small'}, {$inc: {pupils: 1}})
	// db.tills.updateOne({_id: 'school'}, {$inc: {holds: Long('40')}})
	// 3 commands, 3 documents written, by _id_ - transactional
	// <nil>
	// {ann small 40} <nil>
	// true docmodel: step 1: pupils: $inc paid conflicts with $inc paid: one update can't contain both (step 1 of plan 1 and step 1 of plan 2): leave one out, or run them as steps of one plan, with RunTx
}
