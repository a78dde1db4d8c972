package widerow_test

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/widerow"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A user likes many items, and an item is liked by many users. Two pages are read all the time: what a user likes and
// who likes an item, each the newest first, with titles and names. Both are rows of columns keyed by time and id.
type (
	likingUser struct {
		ID   string `bson:"_id"`
		Name string `bson:"name"`
	}
	likedItem struct {
		ID    string `bson:"_id"`
		Title string `bson:"title"`
	}
)

var (
	likingUsers = model.NewCollection[likingUser, string]("users")
	likedItems  = model.NewCollection[likedItem, string]("items")

	userLikes = widerow.New(likingUsers, likedItems, widerow.Spec{
		LeftRows: "itemByUser", RightRows: "userByItem", LeftCopies: []string{"name"}, RightCopies: []string{"title"},
	})
)

func ExampleWideRow() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	op := func(n byte) bson.ObjectID { return bson.ObjectID{0x65, 11: n} } // bson.NewObjectID() gives a fresh one

	_, err := model.Concat(
		likingUsers.InsertMany([]likingUser{{"u1", "jerrylou"}, {"u2", "gunsluo"}}),
		likedItems.InsertMany([]likedItem{{"i1", "mac pro"}, {"i2", "ipad"}}),
	).Run(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	first := userLikes.Link("u1", "i1", time.Unix(1512099720, 0), op(1))
	plan, err := first.Plan(ctx, db) // what it writes where there are no rows yet
	fmt.Println(plan)
	fmt.Println(plan.Cost(), "-", plan.Guarantee(), err)
	for _, link := range []model.Change{
		userLikes.Link("u2", "i1", time.Unix(1512119720, 0), op(3)),
		userLikes.Link("u1", "i2", time.Unix(1512109720, 0), op(2)),
		first, // which comes last, and goes where its time belongs
	} {
		if _, err := link.Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}

	// The page of a user, and the page of an item: one command each, which reads one document.
	show := func(page *model.Aggregate[widerow.Column[string]]) {
		columns, err := page.All(ctx, db)
		for _, c := range columns {
			fmt.Println("-", c.Key, c.Doc)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	show(userLikes.Left.Newest("u1", "", 10))
	show(userLikes.Right.Newest("i1", "", 10))

	// One more page, before the last column that was shown.
	show(userLikes.Left.Newest("u1", "2017-12-01T06:28:40.000Z|i2", 10))

	// A half of a link is lost: the check finds it, and mending follows the left row.
	if _, err := db.Collection("userByItem").DeleteOne(ctx, bson.D{{Key: "row", Value: "i2"}}); err != nil {
		fmt.Println(err)
	}
	check := userLikes.Checks()[0]
	found, err := check.All(ctx, db)
	fmt.Println(found, err)
	_, err = check.Job().Run(ctx, db, model.JobOptions{})
	left, _ := check.All(ctx, db)
	fmt.Println(left, err)
	// Output:
	// db.itemByUser.updateOne({_id: 'u1#', hi: {$gt: '2017-12-01T03:42:00.000Z|i1'}, n: {$lt: 500}, 'cols.k': {$ne: '2017-12-01T03:42:00.000Z|i1'}, 'split.at': {$not: {$lte: '2017-12-01T03:42:00.000Z|i1'}}}, {$push: {cols: {$each: [{k: '2017-12-01T03:42:00.000Z|i1', at: ISODate('2017-12-01T03:42:00.000Z'), id: 'i1', op: ObjectId('650000000000000000000001'), doc: {title: 'mac pro'}}], $sort: {k: 1}}}, $inc: {n: 1, rev: Long('1')}, $setOnInsert: {row: 'u1', low: '', hi: '~'}}, {upsert: true})
	// db.userByItem.updateOne({_id: 'i1#', hi: {$gt: '2017-12-01T03:42:00.000Z|u1'}, n: {$lt: 500}, 'cols.k': {$ne: '2017-12-01T03:42:00.000Z|u1'}, 'split.at': {$not: {$lte: '2017-12-01T03:42:00.000Z|u1'}}}, {$push: {cols: {$each: [{k: '2017-12-01T03:42:00.000Z|u1', at: ISODate('2017-12-01T03:42:00.000Z'), id: 'u1', op: ObjectId('650000000000000000000001'), doc: {name: 'jerrylou'}}], $sort: {k: 1}}}, $inc: {n: 1, rev: Long('1')}, $setOnInsert: {row: 'i1', low: '', hi: '~'}}, {upsert: true})
	// 2 commands, 2 documents written, by _id_ - rerunnable <nil>
	// - 2017-12-01T06:28:40.000Z|i2 {"title": "ipad"}
	// - 2017-12-01T03:42:00.000Z|i1 {"title": "mac pro"}
	// - 2017-12-01T09:15:20.000Z|u2 {"name": "gunsluo"}
	// - 2017-12-01T03:42:00.000Z|u1 {"name": "jerrylou"}
	// - 2017-12-01T03:42:00.000Z|i1 {"title": "mac pro"}
	// [users 'u1': its link to 'i2' has 1 left and 0 right columns] <nil>
	// [] <nil>
}
