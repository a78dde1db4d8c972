package keys_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
)

// Each shop numbers its bills.
type bill struct {
	ID    string `bson:"_id"`
	Cents int64  `bson:"cents"`
}

var (
	bills        = model.NewCollection[bill, string]("bills")
	billCounters = model.NewCollection[keys.SequenceCounter[string], string]("counters")
	billNumbers  = keys.NewSequence(bills, billCounters, keys.SequenceSpec{Digits: 6})
	billStore    = model.NewStore(model.New("bills", billNumbers), bills)
)

// An allocator takes a block of numbers by one command, and gives them out one by one.
func ExampleAllocator() {
	monitor := mongotest.NewMonitor()
	client, stop := mongotest.Start(monitor)
	defer stop()
	ctx, db := context.Background(), client.Database("shops")

	numbers := billNumbers.Allocator(db, 100)
	var last string
	for i := range 3 {
		for _, shop := range []string{"north", "south"} {
			n, err := numbers.Next(ctx, shop)
			if err != nil {
				fmt.Println(err)
				return
			}
			if last, err = billNumbers.Key(shop, n); err != nil {
				fmt.Println(err)
				return
			}
		}
		fmt.Println("after", 2*i+2, "numbers:", monitor.Cost().Commands, "commands")
	}

	stored, _, err := billStore.Insert(bill{ID: last, Cents: 500}).Run(ctx, db)
	fmt.Println(stored.Doc.ID, err)

	// What is left of a block is lost when the process ends. The next allocator begins
	// behind it.
	next := billNumbers.Allocator(db, 100)
	fmt.Println(next.Next(ctx, "north"))
	fmt.Println(billNumbers.Take("north", 100)) // what it sent
	// Output:
	// after 2 numbers: 8 commands
	// after 4 numbers: 8 commands
	// after 6 numbers: 8 commands
	// south_000003 <nil>
	// 101 <nil>
	// db.counters.findAndModify({query: {_id: 'north', last: {$type: ['int', 'long'], $gte: Long('0'), $lte: Long('999899')}}, update: {$inc: {last: Long('100')}}, new: true})
}
