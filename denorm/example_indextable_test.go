package denorm_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Accounts are found by their id, by which the collection is sharded. A page lists those of a city, by name.
type account struct {
	ID   int    `bson:"_id"`
	Name string `bson:"name"`
	City string `bson:"city,omitempty"`
}

var (
	accounts = model.NewCollection[account, int]("users")
	inCity   = denorm.NewIndexTable(accounts, "city", "usersByCity", denorm.IndexTableSpec{Copies: []string{"name"}})
)

func ExampleIndexTable() {
	client, stop := modeltest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("site")
	op := func(n byte) bson.ObjectID { return bson.ObjectID{0x65, 11: n} } // bson.NewObjectID() gives a fresh one

	ann := account{ID: 1, Name: "Ann", City: "Rome"}
	plan := inCity.Insert(ann, op(1))
	fmt.Println(plan)
	fmt.Println(plan.Cost(), "-", plan.Guarantee())
	move := inCity.Set(&ann, bson.D{{Key: "city", Value: "Oslo"}}, op(4))
	for _, p := range []model.Plan{
		plan, inCity.Insert(account{2, "Bob", "Oslo"}, op(2)), inCity.Insert(account{3, "Cy", "Oslo"}, op(3)), move,
	} {
		if _, err := p.Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}

	// The page reads the entries alone.
	fmt.Println(inCity.Lookup("Oslo"))
	entries, err := inCity.Lookup("Oslo").All(ctx, db)
	for _, e := range entries {
		fmt.Println("-", e.ID, e.Doc.Lookup("name").StringValue())
	}

	// Somebody deletes a user past the table: the check finds what it left.
	if _, err := accounts.Delete(2).Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	found, err := inCity.Checks()[0].All(ctx, db)
	fmt.Println(found, err)
	// Output:
	// db.usersByCity.updateOne({_id: {v: 'Rome', id: 1}}, {$setOnInsert: {doc: {name: 'Ann'}, sure: false}, $addToSet: {ops: ObjectId('650000000000000000000001')}}, {upsert: true})
	// db.users.insertOne({_id: 1, name: 'Ann', city: 'Rome'})
	// db.usersByCity.updateOne({_id: {v: 'Rome', id: 1}, sure: false, ops: ObjectId('650000000000000000000001')}, {$set: {doc: {name: 'Ann'}, sure: true}})
	// // if stale: db.usersByCity.updateOne({_id: {v: 'Rome', id: 1}}, {$pull: {ops: ObjectId('650000000000000000000001')}})
	// // if stale: db.usersByCity.deleteOne({_id: {v: 'Rome', id: 1}, sure: false, ops: {$eq: []}})
	// // in a transaction: db.users.insertOne({_id: 1, name: 'Ann', city: 'Rome'})
	// // in a transaction: db.usersByCity.updateOne({_id: {v: 'Rome', id: 1}}, {$set: {doc: {name: 'Ann'}, sure: true}, $addToSet: {ops: ObjectId('650000000000000000000001')}}, {upsert: true})
	// 3 commands, 3 documents written, by _id_ - rerunnable
	// db.usersByCity.find({_id: {$gte: {v: 'Oslo', id: MinKey()}, $lte: {v: 'Oslo', id: MaxKey()}}}).sort({_id: 1})
	// - 1 Ann
	// - 2 Bob
	// - 3 Cy
	// [usersByCity {v: 'Oslo', id: 2}: the document 2 doesn't hold 'Oslo'] <nil>
}
