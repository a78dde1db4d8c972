package embed_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
)

// Books and their reviews are in one collection, under the book's id: what belongs together is read together.
type (
	entry     interface{ entry() }
	bookEntry struct {
		ID     string `bson:"_id"`
		BookID string `bson:"bookId"`
		Name   string `bson:"name"`
	}
	reviewEntry struct {
		ID      string `bson:"_id"`
		BookID  string `bson:"bookId"`
		Content string `bson:"content"`
	}
)

func (bookEntry) entry()    {}
func (*reviewEntry) entry() {}

var (
	entryTypes = embed.NewUnion[entry]("type", embed.Case[bookEntry]("book"), embed.Case[*reviewEntry]("review"))
	library    = model.NewCollectionWith[entry, string]("library", entryTypes.Options())
)

func ExampleUnion() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")

	insert := library.InsertMany([]entry{
		bookEntry{"b1", "b1", "Azure Cosmos DB 101"},
		&reviewEntry{"r1", "b1", "This book is awesome"},
	})
	fmt.Println(insert)
	fmt.Println(insert.Cost())
	if _, err := insert.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	// Each comes back as what it is.
	for e, err := range library.Find(bson.D{{Key: "bookId", Value: "b1"}}).
		Sorted(bson.D{{Key: "_id", Value: 1}}).Each(ctx, db) {
		switch e := e.(type) {
		case bookEntry:
			fmt.Println("book:", e.Name, err)
		case *reviewEntry:
			fmt.Println("review:", e.Content, err)
		}
	}
	// By the driver's own cursor too.
	var one entry
	err := library.Of(db).FindOne(ctx, bson.D{{Key: "_id", Value: "r1"}}).Decode(&one)
	fmt.Printf("%T %v\n", one, err)
	_, err = library.Of(db).InsertOne(ctx, bson.D{{Key: "_id", Value: "t1"}, {Key: "type", Value: "tape"}})
	fmt.Println(err)
	_, err = library.ByID("t1").One(ctx, db)
	fmt.Println(err)
	// Output:
	// db.library.insertOne({type: 'book', _id: 'b1', bookId: 'b1', name: 'Azure Cosmos DB 101'})
	// db.library.insertOne({type: 'review', _id: 'r1', bookId: 'b1', content: 'This book is awesome'})
	// 1 command, 2 documents written, by _id_
	// book: Azure Cosmos DB 101 <nil>
	// review: This book is awesome <nil>
	// *embed_test.reviewEntry <nil>
	// <nil>
	// docmodel: type: isn't a declared tag; the tags are embed_test.bookEntry (book), *embed_test.reviewEntry (review): 'tape'
}
