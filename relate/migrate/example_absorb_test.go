package migrate_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/migrate"
)

// A person has a few addresses, which nobody asks for without the person: they move from a collection of their own, as
// it came out of a relational database, into the person.
type resident struct {
	ID        string        `bson:"_id"`
	Name      string        `bson:"name"`
	Home      []int         `bson:"addressIds,omitempty"`
	Addresses []homeAddress `bson:"addresses,omitempty"`
}

type homeAddress struct {
	ID     int    `bson:"_id"`
	Street string `bson:"street"`
	City   string `bson:"city"`
}

var (
	residents     = model.NewCollection[resident, string]("people")
	homeAddresses = model.NewCollection[homeAddress, int]("addresses")
	movedIn       = migrate.NewAbsorb(residents, "addresses", homeAddresses, migrate.AbsorbSpec{Refs: "addressIds"})
)

func ExampleNewAbsorb() {
	monitor := mongotest.NewMonitor()
	client, stop := mongotest.Start(monitor)
	defer stop()
	ctx, db := context.Background(), client.Database("registry")

	seed := model.Concat(
		residents.InsertMany([]resident{
			{ID: "kate", Name: "Kate Monster", Home: []int{2, 1}}, {ID: "lucy", Name: "Lucy", Home: []int{9}},
		}),
		homeAddresses.InsertMany([]homeAddress{
			{1, "123 Avenue Q", "New York"}, {2, "123 Sesame St", "Anytown"}, {3, "Nobody's", "Nowhere"},
		}),
	)
	if _, err := seed.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	if err := model.New("registry", movedIn).Indexes().Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range []model.Job{movedIn.Copy(), movedIn.Drop()} {
		monitor.Reset()
		passed, err := job.Run(ctx, db, model.JobOptions{})
		fmt.Println(passed.Modified, err)
		fmt.Println(monitor.Cost())
	}

	// Kate's addresses moved in, in the order of her list. Lucy's id led nowhere, and stays for somebody to decide; so
	// does an address that nobody refers to.
	for person, err := range residents.Find(nil).Each(ctx, db) {
		fmt.Println(person, err)
	}
	rest, err := homeAddresses.Find(nil).All(ctx, db)
	fmt.Println(rest, err)
	// Output:
	// 2 docmodel: job copy absorb: addresses > people.addresses couldn't process 1 finding: people 'lucy': dangling: [9]
	// 9 commands, 3 documents written, 5 returned
	// 3 docmodel: job drop absorb: addresses > people.addresses couldn't process 1 finding: people 'lucy': dangling: [9]
	// 12 commands, 4 documents written, 8 returned
	// {kate Kate Monster [] [{2 123 Sesame St Anytown} {1 123 Avenue Q New York}]} <nil>
	// {lucy Lucy [9] []} <nil>
	// [{3 Nobody's Nowhere}] <nil>
}
