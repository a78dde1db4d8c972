package schema_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A shop's books changed their form twice: first a book had one author, then several, and then prices got a currency.
type (
	bookV1 struct {
		ID     string `bson:"_id"`
		Author string `bson:"author"`
		Price  int32  `bson:"price"`
	}
	bookV2 struct {
		ID      string   `bson:"_id"`
		Authors []string `bson:"authors"`
		Price   int32    `bson:"price"`
	}
	book struct {
		ID      string   `bson:"_id"`
		Authors []string `bson:"authors"`
		Price   money    `bson:"price"`
	}
	money struct {
		Cents    int32  `bson:"cents"`
		Currency string `bson:"currency"`
	}
)

var (
	books        = model.NewCollection[book, string]("books")
	bookVersions = schema.NewVersions(books, schema.VersionsSpec{}, // a document without schemaVersion is of version 1
		schema.Upcast(func(b bookV1) (bookV2, error) {
			return bookV2{b.ID, strings.Split(b.Author, ", "), b.Price}, nil
		}),
		schema.Upcast(func(b bookV2) (book, error) {
			return book{b.ID, b.Authors, money{b.Price * 100, "EUR"}}, nil
		}),
	)
)

func ExampleVersions() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")

	// What programs of three ages stored. One of them noted a shelf, of which the types know nothing.
	c := db.Collection("books")
	for _, stored := range []bson.D{
		{
			{Key: "_id", Value: "nosql"}, {Key: "author", Value: "Sadalage, Fowler"}, {Key: "price", Value: 30},
			{Key: "shelf", Value: "B7"},
		},
		{
			{Key: "_id", Value: "ddia"}, {Key: "schemaVersion", Value: 2}, {Key: "authors", Value: bson.A{"Kleppmann"}},
			{Key: "price", Value: 40},
		},
	} {
		if _, err := c.InsertOne(ctx, stored); err != nil {
			fmt.Println(err)
			return
		}
	}
	if _, err := books.Insert(book{"taocp", []string{"Knuth"}, money{6000, "USD"}}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// All are read as the newest version; nothing is written for that.
	for b, err := range books.Find(nil).Each(ctx, db) {
		fmt.Println(b, err)
	}

	// Saving one brings it up. The filter holds what was read; the shelf stays.
	old, err := bookVersions.Raw(bson.D{{Key: "_id", Value: "nosql"}}).One(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	write := bookVersions.Upgrade(old)
	fmt.Println(write)
	fmt.Println(write.Cost())
	change := model.NewStore(model.New("books", bookVersions), books).
		Edit("nosql", func(b *book) error { b.Price.Cents -= 500; return nil })
	if _, _, err := change.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.FindOne(ctx, bson.D{{Key: "_id", Value: "nosql"}}).Raw())

	// A job brings up the others, beside all other use of the collection.
	progress, err := bookVersions.Migrate(schema.MigrateOptions{}).Run(ctx, db, model.JobOptions{})
	fmt.Println(progress.Documents, progress.Modified, err)
	counts, err := bookVersions.Counts().All(ctx, db)
	for _, n := range counts {
		fmt.Println("version", model.Shell(n.Version), n.Documents, err)
	}

	// A program of today doesn't touch what newer code wrote.
	_, err = bookVersions.Decode(rawBook("sicp", 4))
	fmt.Println(err)
	// Output:
	// {nosql [Sadalage Fowler] {3000 EUR}} <nil>
	// {ddia [Kleppmann] {4000 EUR}} <nil>
	// {taocp [Knuth] {6000 USD}} <nil>
	// db.books.updateOne({_id: 'nosql', $expr: {$and: [{$eq: ['$author', {$literal: 'Sadalage, Fowler'}]}, {$eq: ['$price', {$literal: 30}]}, {$eq: [{$type: '$schemaVersion'}, 'missing']}]}}, {$set: {authors: ['Sadalage', 'Fowler'], price: {cents: 3000, currency: 'EUR'}, schemaVersion: 3}, $unset: {author: ''}})
	// 1 command, 1 document written, by _id_
	// {"_id": "nosql","price": {"cents": {"$numberInt":"2500"},"currency": "EUR"},"shelf": "B7","authors": ["Sadalage","Fowler"],"schemaVersion": {"$numberInt":"3"}} <nil>
	// 1 1 <nil>
	// version 3 3 <nil>
	// docmodel: books: _id 'sicp', version 4: the version is newer than this program supports: the newest version is 3
}

func rawBook(id string, version int32) bson.Raw {
	raw, err := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "schemaVersion", Value: version}})
	if err != nil {
		panic(err)
	}
	return raw
}
