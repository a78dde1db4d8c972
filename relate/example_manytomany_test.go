package relate_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An author lists books and a book lists authors, with links that no race can leave half done. The author decides, and
// counts the changes of its list.
type bookAuthor struct {
	ID      string                `bson:"_id"`
	Name    string                `bson:"name"`
	Books   []relate.Link[string] `bson:"books,omitempty"`
	Changes int64                 `bson:"changes"`
}

type authoredBook struct {
	ID      string                `bson:"_id"`
	Title   string                `bson:"name"`
	Authors []relate.Link[string] `bson:"authors,omitempty"`
}

var (
	bookAuthors   = model.NewCollection[bookAuthor, string]("authors")
	authoredBooks = model.NewCollection[authoredBook, string]("books")
	wrote         = relate.NewManyToMany(bookAuthors, "books", authoredBooks, "authors",
		relate.ManyToManySpec{Version: "changes", MaxRight: 20})
)

func ExampleManyToMany() {
	client, stop := modeltest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("library")

	load := model.Concat(
		bookAuthors.InsertMany([]bookAuthor{{ID: "a1", Name: "Thomas Andersen"}, {ID: "a2", Name: "William Wakefield"}}),
		authoredBooks.InsertMany([]authoredBook{{ID: "b1", Title: "Azure Cosmos DB 101"}}),
	)
	if _, err := load.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// Each operation has a token, the same when it is run again.
	op, err := bson.ObjectIDFromHex("653fb1c00000000000000001")
	if err != nil {
		fmt.Println(err)
		return
	}
	thomas := bookAuthor{ID: "a1"}
	link := wrote.Link(&thomas, "b1", op)
	fmt.Println(link)
	fmt.Println(link.Cost(), "-", link.Guarantee())
	for range 2 {
		res, err := link.Run(ctx, db)
		fmt.Println("changed", res.Modified(), "already", res.Already(), err)
	}

	books, err := wrote.Left().Others("a1").All(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range books {
		fmt.Println("-", b.Title, "by", len(b.Authors))
	}
	// Output:
	// db.books.updateOne({_id: 'b1', authors: {$not: {$elemMatch: {id: 'a1', v: Long('1'), op: ObjectId('653fb1c00000000000000001')}}}, 'authors.19': {$exists: false}}, {$push: {authors: {id: 'a1', v: Long('1'), op: ObjectId('653fb1c00000000000000001')}}})
	// db.authors.updateOne({_id: 'a1', changes: {$in: [null, Long('0')]}}, {$push: {books: {id: 'b1', v: Long('1'), op: ObjectId('653fb1c00000000000000001')}}, $set: {changes: Long('1')}})
	// // if stale: db.books.updateOne({_id: 'b1'}, {$pull: {authors: {id: 'a1', v: Long('1'), op: ObjectId('653fb1c00000000000000001')}}})
	// 2 commands, 2 documents written, by _id_ - rerunnable
	// changed 2 already false <nil>
	// changed 0 already true <nil>
	// - Azure Cosmos DB 101 by 1
}
