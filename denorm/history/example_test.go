package history_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A contract, and every version that it had.
type contract struct {
	ID      string           `bson:"_id"`
	Client  string           `bson:"client"`
	Phone   string           `bson:"phone,omitempty"`
	Price   int64            `bson:"price"`
	Version int64            `bson:"version"`
	Revised *history.Revised `bson:"revised,omitempty"`
}

var (
	contracts = model.NewCollection[contract, string]("contracts")
	revisions = model.NewCollection[history.Revision[contract, string], history.RevisionID[string]]("contracts_revisions")
	versions  = history.New(contracts, revisions, history.Spec{
		Subject: "client", Personal: []string{"phone"},
	})
)

// Lawyers change contracts, and must be able to say what a contract said on a day, and who
// changed it.
func ExampleHistory() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("law")
	day := func(n int) time.Time { return time.Date(2014, 3, n, 12, 0, 0, 0, time.UTC) }
	change := func(c model.Change) {
		if _, err := c.Run(ctx, db); err != nil {
			fmt.Println(err)
		}
	}
	change(versions.Insert(contract{ID: "c1", Client: "ann", Phone: "555-1234", Price: 100},
		history.Revised{At: day(1), By: "bob"}, bson.NewObjectID()))
	change(versions.Set("c1", bson.D{{Key: "price", Value: int64(120)}},
		history.Revised{At: day(10), By: "eve", Reason: "inflation"}, bson.NewObjectID()))
	change(versions.Set("c1", bson.D{{Key: "price", Value: int64(90)}},
		history.Revised{At: day(9), By: "bob"}, bson.NewObjectID()))

	old, err := versions.AsOf("c1", day(5)).One(ctx, db)
	fmt.Println("on the fifth:", old.Doc.Price, err)
	all, _ := versions.Revisions("c1", 0, 0).All(ctx, db)
	for _, r := range all {
		fmt.Println("version", r.ID.Version, "by", r.Doc.Revised.By, r.Doc.Revised.Reason, r.Doc.Price)
	}
	diff, _ := versions.Diff(all[1].Doc, all[0].Doc)
	fmt.Println(diff[0].Path, diff[0].From, "to", diff[0].To)

	change(versions.Restore("c1", 1, history.Revised{At: day(11), By: "bob", Reason: "a mistake"}, bson.NewObjectID()))
	change(versions.Delete("c1", history.Revised{At: day(12), By: "bob"}, bson.NewObjectID()))
	_, err = versions.AsOf("c1", day(13)).One(ctx, db)
	fmt.Println("gone:", errors.Is(err, model.ErrNotFound))

	// Ann wants to be forgotten.
	_, err = versions.Erase("ann", history.Revised{At: day(20), By: "privacy"}, bson.NewObjectID()).
		Run(ctx, db, model.JobOptions{})
	for _, check := range versions.Traces("ann") {
		found, err := check.All(ctx, db)
		fmt.Println(check.Name, found, err)
	}
	old, _ = versions.AsOf("c1", day(5)).One(ctx, db)
	fmt.Printf("on the fifth: %d, phone %q, %v\n", old.Doc.Price, old.Doc.Phone, err)
	// Output:
	// docmodel: the time is before the time of the last change: check the clock: docmodel: contracts: revised.at: is before the last change's time, 2014-03-10T12:00:00Z: ISODate('2014-03-09T12:00:00.000Z')
	// on the fifth: 100 <nil>
	// version 2 by eve inflation 120
	// version 1 by bob  100
	// price {"$numberLong":"100"} to {"$numberLong":"120"}
	// gone: true
	// contracts: personal fields of a subject [] <nil>
	// contracts_revisions: personal fields of a subject [] <nil>
	// on the fifth: 100, phone "", <nil>
}
