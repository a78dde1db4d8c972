package keys_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Users are listed and counted by state, and by city of a state. Their _id is State:City:UserID, so that no index but
// the one on _id is needed.
type citizen struct {
	ID    string `bson:"_id"`
	State string `bson:"state"`
	City  string `bson:"city"`
	User  int    `bson:"user"`
	Name  string `bson:"name"`
}

var (
	citizens     = model.NewCollection[citizen, string]("users")
	whereabout   = keys.NewComposite(citizens, keys.Text("state"), keys.Text("city"), keys.Int("user"))
	citizenStore = model.NewStore(model.New("site", whereabout), citizens)
)

func ExampleComposite() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("site")

	insert := citizenStore.InsertMany(
		citizen{State: "CA", City: "San Francisco", User: 42, Name: "Ann"},
		citizen{State: "CA", City: "San Francisco", User: 7, Name: "Bob"},
		citizen{State: "CA", City: "San", User: 100, Name: "Cy"},
		citizen{State: "CA", City: "Oakland", User: 9, Name: "Di"}, citizen{State: "CAX", City: "San", User: 1, Name: "Ed"},
	)
	if _, _, err := insert.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// All users of a city, in the order of numbers; San is not San Francisco.
	inCity := whereabout.Prefix("CA", "San Francisco")
	fmt.Println(inCity)
	fmt.Println(inCity.Cost())
	users, err := inCity.All(ctx, db)
	for _, u := range users {
		fmt.Println("-", u.ID, u.Name)
	}
	page := whereabout.StartingWith([]any{"CA"}, "San").Sorted(bson.D{{Key: "_id", Value: -1}}).Limited(2)
	users, _ = page.All(ctx, db)
	fmt.Println(users[0].Name, users[1].Name, err)
	users, err = page.After(users[1].ID).All(ctx, db)
	fmt.Println(users[0].Name, err)

	// How many there are in each city of a state, from the index alone.
	counts, err := whereabout.Counts("CA").All(ctx, db)
	for _, c := range counts {
		var state, city string
		if err := whereabout.Scan(c.Key, &state, &city); err != nil {
			fmt.Println(err)
		}
		fmt.Println("-", city, c.N)
	}
	bad := whereabout.Scan("CA:Oakland:9", new(string), new(string), new(int))
	fmt.Println(err, bad)
	// Output:
	// db.users.find({_id: {$gte: 'CA :San Francisco :', $lt: 'CA :San Francisco ;'}}).sort({_id: 1})
	// 1 command and one per further batch, by _id_
	// - CA :San Francisco :a7 Bob
	// - CA :San Francisco :b42 Ann
	// Ann Bob <nil>
	// Cy <nil>
	// - Oakland 1
	// - San 1
	// - San Francisco 2
	// <nil> docmodel: users: _id: isn't a key: at byte 12, its state doesn't end with " :": 'CA:Oakland:9'
}
