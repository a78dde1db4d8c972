package join_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/join"
)

// A portfolio holds stocks whose prices change by the second, so it keeps their ids, and joins what it shows.
type portfolio struct {
	ID       string      `bson:"_id"`
	Holdings []heldStock `bson:"holdings,omitempty"`
}

type heldStock struct {
	Number  int    `bson:"numberHeld"`
	StockID string `bson:"stockId"`
}

// stockPrice is what a portfolio shows of a stock; the documents hold more.
type stockPrice struct {
	ID     string  `bson:"_id"`
	Symbol string  `bson:"symbol"`
	Open   float64 `bson:"open"`
}

type stock struct {
	ID     string  `bson:"_id"`
	Symbol string  `bson:"symbol"`
	Open   float64 `bson:"open"`
	Volume int64   `bson:"vol"`
}

var (
	portfolios  = model.NewCollection[portfolio, string]("portfolios")
	stocks      = model.NewCollection[stock, string]("stocks")
	stockPrices = model.NewCollection[stockPrice, string]("stocks")
	stockJoin   = join.New(portfolios, "holdings.stockId", stockPrices, join.Spec{Fields: true})
)

func ExampleJoin() {
	monitor := mongotest.NewMonitor()
	client, stop := mongotest.Start(monitor)
	defer stop()
	ctx, db := context.Background(), client.Database("bank")

	load := model.Concat(
		stocks.InsertMany([]stock{{"1", "zaza", 1, 11970000}, {"2", "xcxc", 89, 2970200}}),
		portfolios.InsertMany([]portfolio{
			{"thomas", []heldStock{{50, "2"}, {100, "1"}}},
			{"mary", []heldStock{{10, "1"}, {5, "9"}}},
		}),
	)
	if _, err := load.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	all, err := portfolios.Find(nil).All(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}

	// One query for all portfolios: each stock once, and only the fields that are shown.
	for _, q := range stockJoin.Queries(all) {
		fmt.Println(q)
	}
	monitor.Reset()
	joined, err := stockJoin.Load(ctx, db, all)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(monitor.Cost())
	for _, j := range joined {
		fmt.Println(j.Parent.ID, j.Children, "missing", j.Missing)
	}
	// Output:
	// db.stocks.find({_id: {$in: ['2', '1', '9']}}, {_id: 1, symbol: 1, open: 1})
	// 1 command, 2 returned
	// thomas [{2 xcxc 89} {1 zaza 1}] missing []
	// mary [{1 zaza 1}] missing [9]
}
