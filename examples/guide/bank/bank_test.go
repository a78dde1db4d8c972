package bank

import (
	"context"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func Example_plans() {
	set := func(id string, operator string, cents int64) model.Write {
		return accounts.Update(id, bson.D{{Key: operator, Value: bson.D{{Key: "cents", Value: cents}}}})
	}
	for _, plan := range []model.Plan{
		model.NewPlan(set("ann", "$inc", 30)),
		model.NewPlan(set("ann", "$set", 0), set("bob", "$set", 0)),
		model.NewPlan(set("ann", "$inc", -30), set("bob", "$inc", 30)),
	} {
		fmt.Println(plan)
		fmt.Println(" ", plan.Cost(), "-", plan.Guarantee())
	}
	// Output:
	// db.accounts.updateOne({_id: 'ann'}, {$inc: {cents: Long('30')}})
	//   1 command, 1 document written, by _id_ - atomic
	// db.accounts.updateOne({_id: 'ann'}, {$set: {cents: Long('0')}})
	// db.accounts.updateOne({_id: 'bob'}, {$set: {cents: Long('0')}})
	//   2 commands, 2 documents written, by _id_ - rerunnable
	// db.accounts.updateOne({_id: 'ann'}, {$inc: {cents: Long('-30')}})
	// db.accounts.updateOne({_id: 'bob'}, {$inc: {cents: Long('30')}})
	//   2 commands, 2 documents written, by _id_ - transactional
}

// fill opens the accounts of Ann and Bob.
func fill(ctx context.Context, db model.DB) error {
	_, _, err := accountStore.InsertMany(Account{"ann", 100}, Account{"bob", 0}).Run(ctx, db)
	return err
}

func Example_move() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("bank")
	fmt.Println(fill(ctx, db))

	t := Transfer{ID: "4f1c", From: "ann", To: "bob", Cents: 30}
	for range 2 { // the client sends the request twice
		result, err := Move(t).Run(ctx, db)
		fmt.Println(result.Modified(), err)
	}
	t.Cents = 40 // another request with the same key
	_, err := Move(t).Run(ctx, db)
	fmt.Println(mongo.IsDuplicateKeyError(err))

	_, err = Move(Transfer{ID: "5a02", From: "ann", To: "bob", Cents: 90}).Run(ctx, db)
	fmt.Println(err)
	fmt.Println(accounts.Find(nil).All(ctx, db))
	// Output:
	// <nil>
	// 3 <nil>
	// 0 <nil>
	// true
	// bank: there is less in the account
	// [{ann 70} {bob 30}] <nil>
}

// A transfer is cut at each of its commands, and runs beside another one.
func TestVerify(t *testing.T) {
	connect.NeedTransactions(t)
	move := func(t Transfer) modeltest.VerifyOperation {
		return modeltest.VerifyOperation{
			Name: t.ID, Refused: []error{ErrPoor},
			Run: func(ctx context.Context, db model.DB) error {
				_, err := Move(t).Run(ctx, db)
				return err
			},
		}
	}
	modeltest.Verify(t, bank, modeltest.VerifyCase{
		Seed: fill, Max: 12,
		Operations: []modeltest.VerifyOperation{
			move(Transfer{ID: "30", From: "ann", To: "bob", Cents: 30}),
			move(Transfer{ID: "80", From: "ann", To: "bob", Cents: 80}),
			move(Transfer{ID: "back", From: "bob", To: "ann", Cents: 20}),
		},
	})
}
