package counter_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A page of publishers shows how many books each has, and the price of the cheapest. Counting the books of each on
// every read is what shall not be done: the publisher holds the numbers, and the few writes keep them.
type (
	counterBook struct {
		ID        string  `bson:"_id"`
		Name      string  `bson:"name"`
		Publisher string  `bson:"publisher_id"`
		Price     float64 `bson:"price"`
	}
	counterPublisher struct {
		ID           string  `bson:"_id"`
		CountOfBooks int     `bson:"countOfBooks"`
		Cheapest     float64 `bson:"cheapest,omitempty"`
	}
)

var (
	counterBooks      = model.NewCollection[counterBook, string]("books")
	counterPublishers = model.NewCollection[counterPublisher, string]("publishers")

	booksOf = counter.New(counterBooks, "publisher_id", counterPublishers, counter.Spec{
		Count: "countOfBooks", Mins: []counter.Field{{From: "price", To: "cheapest"}},
	})
	counterBookStore = model.NewStore(model.New("books", booksOf), counterBooks)
)

func ExampleCounter() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")

	if _, err := counterPublishers.InsertMany([]counterPublisher{{ID: "mspress"}, {ID: "oreilly"}}).
		Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	show := func(what string) {
		found, err := counterPublishers.Find(nil).All(ctx, db)
		fmt.Print(what, ":")
		for _, p := range found {
			fmt.Printf(" %s %d from %g;", p.ID, p.CountOfBooks, p.Cheapest)
		}
		fmt.Println(err)
	}
	insert := counterBookStore.InsertMany(
		counterBook{ID: "b1", Name: "Azure Cosmos DB 101", Publisher: "mspress", Price: 30},
		counterBook{ID: "b2", Name: "Azure Cosmos DB for RDBMS Users", Publisher: "mspress", Price: 20},
		counterBook{ID: "b3", Name: "Taking over the world one JSON doc at a time", Publisher: "mspress", Price: 40},
	)
	if _, _, err := insert.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	show("three books")

	// The cheapest book changes hands: both publishers change, and the next cheapest is looked up.
	_, _, err := counterBookStore.Set("b2", bson.D{{Key: "publisher_id", Value: "oreilly"}}).Run(ctx, db)
	show(fmt.Sprint("moved ", err, ", now"))

	// Somebody deletes a book past the store: the check finds the difference, a recount mends it.
	if _, err := counterBooks.Delete("b1").Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	found, err := booksOf.Checks()[0].All(ctx, db)
	fmt.Println(found, err)
	_, _, err = booksOf.Recount("mspress").Run(ctx, db)
	show(fmt.Sprint("counted anew ", err, ", now"))
	// Output:
	// three books: mspress 3 from 20; oreilly 0 from 0;<nil>
	// moved <nil>, now: mspress 2 from 30; oreilly 1 from 20;<nil>
	// [publishers 'mspress': stores {countOfBooks: Long('2'), cheapest: Double(30)}, but its children make {countOfBooks: 1, cheapest: Double(40)}] <nil>
	// counted anew <nil>, now: mspress 1 from 40; oreilly 1 from 20;<nil>
}
