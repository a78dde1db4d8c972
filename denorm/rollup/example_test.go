package rollup_test

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// A pageView is a view of a page.
type pageView struct {
	ID   string       `bson:"_id"`
	Page string       `bson:"page"`
	At   time.Time    `bson:"at"`
	Took int64        `bson:"took"` // milliseconds
	Mark *rollup.Mark `bson:"mark,omitempty"`
}

// The views are counted by page, and by hours, days and months of Amsterdam.
var (
	pageViewDocs = model.NewCollection[pageView, string]("views")
	pageTotals   = rollup.New(
		pageViewDocs, model.NewCollection[rollup.Doc[string, int64], string]("viewTotals"),
		rollup.Spec{
			Time: "at", By: []string{"page"}, Sums: []string{"took"}, Maxs: []string{"took"},
			Bins: []denorm.Period{denorm.Hourly, denorm.Daily, denorm.Monthly}, Zone: amsterdam, Mark: "mark",
		},
	)
	viewStore = model.NewStore(model.New("site", pageTotals), pageViewDocs)
)

var amsterdam, _ = time.LoadLocation("Europe/Amsterdam")

// A chart needs the page views of each hour, the report those of the month. Counting the events each time reads all of
// them.
func ExampleRollup() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("site")

	// summer time ends: it is 2:30, and an hour later again
	night := time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)
	for i, after := range []time.Duration{0, time.Hour, 12 * time.Hour, 10 * time.Minute} { // the last one comes late
		view := pageView{ID: fmt.Sprint("v", i), Page: "/home", At: night.Add(after), Took: int64(10 * (i + 1))}
		if _, _, err := viewStore.Insert(view).Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}
	progress, err := pageTotals.Roll().Run(ctx, db, model.JobOptions{}) // by a timer, say each minute
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(progress.Documents, "events rolled up")

	hours := pageTotals.Bins("/home", denorm.Hourly, time.Date(2026, 10, 25, 0, 0, 0, 0, amsterdam),
		time.Date(2026, 10, 26, 0, 0, 0, 0, amsterdam))
	fmt.Println(hours)
	list, err := hours.All(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, bin := range list {
		took := bin.Values["took"]
		fmt.Println(bin.Start.In(amsterdam).Format("15:04 MST"), bin.N, "views,", took.Sum/took.N,
			"ms, at most", took.Max)
	}

	// From the last hour of September to the first day of November: an hour, a month and a day.
	total := pageTotals.Total("/home", time.Date(2026, 9, 30, 23, 0, 0, 0, amsterdam),
		time.Date(2026, 11, 2, 0, 0, 0, 0, amsterdam))
	fmt.Println(total)
	all, err := total.One(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(all.N, "views took", all.Values["took"].Sum, "ms")
	// Output:
	// 4 events rolled up
	// db.viewTotals.find({_id: {$gte: '/home#hour#2026-10-24T22:00:00Z', $lt: '/home#hour#2026-10-25T23:00:00Z'}}).sort({_id: 1})
	// 02:00 CEST 2 views, 25 ms, at most 40
	// 02:00 CET 1 views, 20 ms, at most 20
	// 13:00 CET 1 views, 30 ms, at most 30
	// db.viewTotals.aggregate([{$match: {$or: [{_id: {$gte: '/home#hour#2026-09-30T21:00:00Z', $lt: '/home#hour#2026-09-30T22:00:00Z'}}, {_id: {$gte: '/home#month#2026-09-30T22:00:00Z', $lt: '/home#month#2026-10-31T23:00:00Z'}}, {_id: {$gte: '/home#day#2026-10-31T23:00:00Z', $lt: '/home#day#2026-11-01T23:00:00Z'}}]}}, {$group: {_id: null, n: {$sum: '$n'}, n0: {$sum: '$values.took.n'}, sum0: {$sum: '$values.took.sum'}, max0: {$max: '$values.took.max'}}}, {$project: {_id: 0, n: 1, values: {took: {n: '$n0', sum: '$sum0', max: '$max0'}}}}])
	// 4 views took 100 ms
}
