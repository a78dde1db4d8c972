package outlier_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/outlier"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A book knows the customers who bought it. Nearly every book has few; a bestseller has more than its document can
// hold. Here a book keeps two, and an overflow document three.
type (
	book struct {
		ID     string  `bson:"_id"`
		Title  string  `bson:"title,omitempty"`
		Extras bool    `bson:"extras,omitempty"`
		Buyers []buyer `bson:"buyers,omitempty"`
	}
	buyer struct {
		ID   string `bson:"id"`
		Paid int    `bson:"paid,omitempty"`
	}
	buyerPage = bucket.Doc[string, buyer]
)

var (
	books      = model.NewCollection[book, string]("books")
	moreBuyers = model.NewCollection[buyerPage, string]("buyers")
	buyerPages = bucket.New(moreBuyers, bucket.Spec{Max: 3, ElementKey: "id", Totals: []string{"paid"}})
	buyersOf   = outlier.New(books, "buyers", buyerPages, outlier.Spec{Max: 2, Flag: "extras"})
)

func ExampleOutlier() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	show := func(p model.Plan) {
		if _, err := p.Run(ctx, db); err != nil {
			fmt.Println(err)
		}
	}

	show(model.NewPlan(books.Insert(book{ID: "b1", Title: "Six rules"}), books.Insert(book{ID: "b2", Title: "Seven"})))
	for i, id := range []string{"ann", "bob", "cy", "cy", "dee"} {
		add := buyersOf.Append("b1", buyer{ID: id, Paid: 10 + i})
		if i == 2 { // it sends the flag first, so that no reader takes two for all
			third, err := add.Plan(ctx, db)
			fmt.Println(third, err)
			fmt.Println(third.Cost())
		}
		if _, err := add.Run(ctx, db); err != nil {
			fmt.Println(err)
		}
	}
	b1, err := books.ByID("b1").One(ctx, db)
	fmt.Println(b1.Buyers, b1.Extras, err)
	all, err := buyersOf.Elements("b1").All(ctx, db)
	fmt.Println(all, err)
	fmt.Println(buyersOf.Elements("b1").Cost())
	n, err := buyersOf.Count("b1").One(ctx, db)
	fmt.Println(n.Kept, "and", n.Overflow, err)
	fmt.Println(books.Find(bson.D{{Key: "extras", Value: true}}))

	// A book that outgrew its document before overflow was declared.
	show(model.NewPlan(books.Update("b2", bson.D{{
		Key:   "$set",
		Value: bson.D{{Key: "buyers", Value: []buyer{{ID: "ann"}, {ID: "bob"}, {ID: "cy"}}}},
	}})))
	for _, check := range buyersOf.Checks() {
		found, err := check.All(ctx, db)
		fmt.Println(check.Name, found, err)
	}
	p, err := buyersOf.Split().Run(ctx, db, model.JobOptions{})
	fmt.Println(p.Modified, "written", err)
	b2, err := books.ByID("b2").One(ctx, db)
	fmt.Println(b2.Buyers, b2.Extras, err)
	// Output:
	// db.books.updateOne({_id: 'b1', extras: {$ne: true}, 'buyers.2': {$exists: false}, 'buyers.1': {$exists: true}, 'buyers.id': {$ne: 'cy'}}, {$set: {extras: true}})
	// db.buyers.updateOne({_id: 'b1#0000000000', n: {$lt: 3}, closed: {$ne: true}, 'items.id': {$ne: 'cy'}}, {$push: {items: {id: 'cy', paid: 12}}, $inc: {n: 1, bytes: Long('26'), 'totals.paid.sum': Long('12')}, $min: {'totals.paid.min': Long('12')}, $max: {'totals.paid.max': Long('12')}, $setOnInsert: {key: 'b1', seq: Long('0')}}, {upsert: true}) <nil>
	// 2 commands, 2 documents written, by _id_
	// [{ann 10} {bob 11}] true <nil>
	// [{ann 10} {bob 11} {cy 12} {dee 14}] <nil>
	// 1 command and one per further batch, by _id_
	// 2 and 2 <nil>
	// db.books.find({extras: true})
	// books.buyers: overflow without the flag [] <nil>
	// books.buyers: arrays over Max [books 'b2': unsplit: its array holds 3 elements] <nil>
	// buyers: overflow without an owner [] <nil>
	// 2 written <nil>
	// [{ann 0} {bob 0}] true <nil>
}
