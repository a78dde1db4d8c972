package dangling_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/dangling"
)

// A portfolio names stocks by their ids. Nothing in the database keeps such an id from outliving its stock: references
// between documents are weak links.
type account struct {
	ID       string     `bson:"_id"`
	Holdings []position `bson:"holdings,omitempty"`
}

type position struct {
	Number  int    `bson:"numberHeld"`
	StockID string `bson:"stockId"`
}

type stake struct {
	ID     string `bson:"_id"`
	Symbol string `bson:"symbol"`
}

var (
	accounts  = model.NewCollection[account, string]("portfolios")
	stakes    = model.NewCollection[stake, string]("stocks")
	weakLinks = dangling.New(accounts, "holdings.stockId", stakes, dangling.Spec{Repair: dangling.DetachIDs})
)

func ExampleDangling() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("bank")

	plan := model.Concat(
		stakes.InsertMany([]stake{{"1", "zbzb"}}),
		accounts.InsertMany([]account{
			{"mary", []position{{5, "9"}}},
			{"thomas", []position{{100, "1"}, {50, "2"}, {7, "9"}}},
		}),
	)
	if _, err := plan.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// Which references lead nowhere, document by document.
	check := weakLinks.Checks()[0]
	found, err := check.All(ctx, db)
	for _, ref := range found {
		fmt.Println(ref)
	}
	if err != nil {
		fmt.Println(err)
		return
	}

	// Which ids are missing, and how many documents hold each.
	missing, err := weakLinks.Missing(nil).All(ctx, db)
	for _, m := range missing {
		fmt.Println(model.Shell(m.ID), "in", m.N, "of the documents")
	}
	fmt.Println(err)

	// What mending would send, and the job that finds and mends. Beside other writers leave the check its age: the job
	// looks again after that time, so that it mends nothing that was only about to be completed.
	repair := check.Mend(found)
	fmt.Println(repair)
	fmt.Println(repair.Cost(), "-", repair.Guarantee())
	check.Age = 0
	done, err := check.Job().Run(ctx, db, model.JobOptions{})
	fmt.Println(done.Modified, "documents,", err)

	left, err := accounts.Find(nil).All(ctx, db)
	fmt.Println(left, err)
	// Output:
	// portfolios 'mary': holdings.stockId → '9', which doesn't exist
	// portfolios 'thomas': holdings.stockId → '2', which doesn't exist
	// portfolios 'thomas': holdings.stockId → '9', which doesn't exist
	// '9' in 2 of the documents
	// '2' in 1 of the documents
	// <nil>
	// db.portfolios.updateOne({_id: 'mary', 'holdings.stockId': {$in: ['9']}}, {$pull: {holdings: {stockId: {$in: ['9']}}}})
	// db.portfolios.updateOne({_id: 'thomas', 'holdings.stockId': {$in: ['2', '9']}}, {$pull: {holdings: {stockId: {$in: ['2', '9']}}}})
	// 1 command, 2 documents written, by _id_ - rerunnable
	// 2 documents, <nil>
	// [{mary []} {thomas [{100 1}]}] <nil>
}
