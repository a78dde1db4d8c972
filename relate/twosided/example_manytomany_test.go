package twosided_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An author lists books and a book lists authors.
type bookAuthor struct {
	ID    string   `bson:"_id"`
	Name  string   `bson:"name"`
	Books []string `bson:"books,omitempty"`
}

type authoredBook struct {
	ID      string   `bson:"_id"`
	Title   string   `bson:"name"`
	Authors []string `bson:"authors,omitempty"`
}

var (
	bookAuthors   = model.NewCollection[bookAuthor, string]("authors")
	authoredBooks = model.NewCollection[authoredBook, string]("books")
	wrote         = twosided.NewManyToMany(bookAuthors, "books", authoredBooks, "authors",
		twosided.ManyToManySpec{MaxRight: 1})

	bookshelf   = model.New("library", wrote)
	shelfAuthor = model.NewStore(bookshelf, bookAuthors)
	shelfBook   = model.NewStore(bookshelf, authoredBooks)
)

func ExampleManyToMany() {
	client, stop := mongotest.Start()
	defer stop()
	ctx := context.Background()
	db, err := model.WithTransactions(ctx, client.Database("library"))
	fmt.Println(err)
	load := []bookAuthor{{ID: "a1", Name: "Thomas Andersen"}, {ID: "a2", Name: "William Wakefield"}}
	_, _, err = shelfAuthor.InsertMany(load...).Run(ctx, db)
	fmt.Println(err)

	// Write either list: the store writes the other one.
	_, _, err = shelfBook.Insert(authoredBook{
		ID: "b1", Title: "Azure Cosmos DB 101", Authors: []string{"a1"},
	}).Run(ctx, db)
	fmt.Println(err)
	books, err := wrote.Left.Others("a1").All(ctx, db)
	fmt.Println(books, err)
	thomas, err := bookAuthors.ByID("a1").One(ctx, db)
	fmt.Println(thomas, err)
	_, _, err = shelfAuthor.Set("a2", bson.D{{Key: "books", Value: []string{"b1"}}}).Run(ctx, db)
	fmt.Println("full:", errors.Is(err, model.ErrFull))
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// [{b1 Azure Cosmos DB 101 [a1]}] <nil>
	// {a1 Thomas Andersen [b1]} <nil>
	// full: true
}
