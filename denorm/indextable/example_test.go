package indextable_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
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
	inCity   = indextable.New(accounts, "city", "usersByCity", indextable.Spec{Copies: []string{"name"}})

	accountStore = model.NewStore(model.New("site", inCity), accounts)
)

func ExampleIndexTable() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("site")

	for _, change := range []model.ChangeOf[model.Stored[account]]{
		accountStore.Insert(account{1, "Ann", "Rome"}), accountStore.Insert(account{2, "Bob", "Oslo"}),
		accountStore.Insert(account{3, "Cy", "Oslo"}), accountStore.Set(1, bson.D{{Key: "city", Value: "Oslo"}}),
	} {
		if _, _, err := change.Run(ctx, db); err != nil {
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
	// db.usersByCity.find({_id: {$gte: {v: 'Oslo', id: MinKey()}, $lte: {v: 'Oslo', id: MaxKey()}}}).sort({_id: 1})
	// - 1 Ann
	// - 2 Bob
	// - 3 Cy
	// [usersByCity {v: 'Oslo', id: 2}: the document 2 doesn't hold 'Oslo'] <nil>
}
