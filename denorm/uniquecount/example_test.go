package uniquecount_test

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/uniquecount"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// A log says who came to which site. How many different people came to each, in a day, and in a week?
type click = uniquecount.Doc[string, string]

var (
	clicks   = model.NewCollection[click, string]("clicks")
	visitors = uniquecount.New(clicks, uniquecount.Spec{Period: denorm.Daily, For: 90 * 24 * time.Hour})
)

func ExampleUniqueCount() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("log")

	friday := time.Date(2014, 3, 28, 9, 0, 0, 0, time.UTC)
	saturday := friday.AddDate(0, 0, 1)
	visit := visitors.Visit("CA:San", "ann", friday)
	fmt.Println(visit)
	plan := model.NewPlan(visit, visitors.Visit("CA:San", "bob", friday), visitors.Visit("CA:San", "ann", saturday),
		visitors.Visit("CA:San Francisco", "cy", friday), visitors.Visit("CA:San Francisco", "ann", saturday))
	fmt.Println(plan.Cost())
	if _, err := plan.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// A count is that of a range of keys. Over two days Ann counts once.
	count := visitors.Count("CA:San", friday, saturday.AddDate(0, 0, 1))
	fmt.Println(count)
	total, err := count.One(ctx, db)
	fmt.Println(total, err)
	days, err := visitors.PerPeriod("CA:San", friday, saturday.AddDate(0, 0, 1)).All(ctx, db)
	fmt.Println(days, err)
	sites, err := visitors.Counts(friday, friday.Add(time.Hour)).All(ctx, db)
	fmt.Println(sites, err)
	// Output:
	// db.clicks.updateOne({_id: 'CA:San#2014-03-28#ann'}, {$setOnInsert: {group: 'CA:San', member: 'ann', period: '2014-03-28', from: ISODate('2014-03-28T00:00:00.000Z')}}, {upsert: true})
	// 1 command, 5 documents written, by _id_
	// db.clicks.aggregate([{$match: {_id: {$gte: 'CA:San#2014-03-28#', $lt: 'CA:San#2014-03-30$'}}}, {$group: {_id: '$member'}}, {$group: {_id: null, n: {$sum: 1}}}, {$facet: {found: [{$limit: 1}]}}, {$project: {n: {$ifNull: [{$arrayElemAt: ['$found.n', 0]}, 0]}}}])
	// {2} <nil>
	// [{2014-03-28 2} {2014-03-29 1}] <nil>
	// [{CA:San 2} {CA:San Francisco 1}] <nil>
}
