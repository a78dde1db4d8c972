package relate_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
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
	weakLinks = relate.NewDangling(accounts, "holdings.stockId", stakes, relate.DanglingSpec{Repair: relate.DetachIDs})
)

func ExampleDangling() {
	client, stop := modeltest.Start()
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
	for ref, err := range weakLinks.Check(nil).Each(ctx, db) {
		fmt.Println(ref, err)
	}

	// Which ids are missing, and how many documents hold each.
	missing, err := weakLinks.Missing(nil).All(ctx, db)
	fmt.Println(missing, err)

	// What a repair would send, and the repair. Beside other writers give Mend an age: it checks again after that time, so
	// that nothing is mended that was only about to be completed.
	repair := weakLinks.Repair(missing...)
	fmt.Println(repair)
	fmt.Println(repair.Cost(), "-", repair.Guarantee())
	mended, result, err := weakLinks.Mend(0).Run(ctx, db)
	fmt.Println(len(mended), "ids,", result.Modified(), "documents,", err)

	left, err := accounts.Find(nil).All(ctx, db)
	fmt.Println(left, err)
	// Output:
	// 'mary' holdings.stockId → '9' <nil>
	// 'thomas' holdings.stockId → '2' <nil>
	// 'thomas' holdings.stockId → '9' <nil>
	// ['9' (2 documents) '2' (1 document)] <nil>
	// db.portfolios.updateMany({'holdings.stockId': {$in: ['9', '2']}}, {$pull: {holdings: {stockId: {$in: ['9', '2']}}}})
	// 1 command, as many documents written as match, by holdings.stockId_1 - rerunnable
	// 2 ids, 2 documents, <nil>
	// [{mary []} {thomas [{100 1}]}] <nil>
}
