package inverted_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/inverted"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// A log says which kinds of user came from which city to which sites. How many of each kind fulfil a condition?
type surfer struct {
	ID         string   `bson:"_id"`
	Categories []string `bson:"categories,omitempty"`
	City       string   `bson:"city,omitempty"`
	Sites      []string `bson:"sites,omitempty"`
}

var (
	surfers   = model.NewCollection[surfer, string]("surfers")
	surfersBy = inverted.New(surfers, "surfersBy", "city", "sites")

	surferStore = model.NewStore(model.New("log", surfersBy), surfers)
)

func ExampleInverted() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("log")

	for _, s := range []surfer{
		{"ann", []string{"women", "bloggers"}, "Oslo", []string{"a.com", "b.com"}},
		{"bob", []string{"men"}, "Oslo", []string{"a.com"}},
		{"cy", []string{"men", "bloggers"}, "Rome", []string{"a.com", "c.com"}},
		{"dee", []string{"women"}, "Oslo", []string{"a.com"}},
	} {
		if _, _, err := surferStore.Insert(s).Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}

	// Who came to a.com, from Oslo or to c.com, but never to b.com?
	query := surfersBy.Is("sites", "a.com").And(surfersBy.Is("city", "Oslo").Or(surfersBy.Is("sites", "c.com"))).
		Minus(surfersBy.Is("sites", "b.com"))
	fmt.Println(surfersBy.IDs(query))
	ids, err := surfersBy.IDs(query).All(ctx, db)
	fmt.Println(ids, err)
	report, err := surfersBy.Report(query, "categories").All(ctx, db)
	for _, c := range report {
		fmt.Println(c.Value, c.N)
	}
	fmt.Println(err)
	// Output:
	// db.getCollection('surfersBy.sites').aggregate([{$match: {_id: {$gte: {v: 'a.com', id: MinKey()}, $lte: {v: 'a.com', id: MaxKey()}}}}, {$project: {_id: 0, id: '$_id.id', is: {$literal: 0}}}, {$unionWith: {coll: 'surfersBy.city', pipeline: [{$match: {_id: {$gte: {v: 'Oslo', id: MinKey()}, $lte: {v: 'Oslo', id: MaxKey()}}}}, {$project: {_id: 0, id: '$_id.id', is: {$literal: 1}}}]}}, {$unionWith: {coll: 'surfersBy.sites', pipeline: [{$match: {_id: {$gte: {v: 'c.com', id: MinKey()}, $lte: {v: 'c.com', id: MaxKey()}}}}, {$project: {_id: 0, id: '$_id.id', is: {$literal: 2}}}]}}, {$unionWith: {coll: 'surfersBy.sites', pipeline: [{$match: {_id: {$gte: {v: 'b.com', id: MinKey()}, $lte: {v: 'b.com', id: MaxKey()}}}}, {$project: {_id: 0, id: '$_id.id', is: {$literal: 3}}}]}}, {$group: {_id: '$id', is: {$addToSet: '$is'}}}, {$match: {$and: [{$and: [{is: 0}, {$or: [{is: 1}, {is: 2}]}]}, {$nor: [{is: 3}]}]}}, {$sort: {_id: 1}}, {$project: {_id: 1}}])
	// [{bob} {cy} {dee}] <nil>
	// "bloggers" 1
	// "men" 2
	// "women" 1
	// <nil>
}
