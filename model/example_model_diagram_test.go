package model_test

import (
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Publishers have books; a book shows its publisher's name, and a publisher counts its books.
type imprint struct {
	ID    string `bson:"_id"`
	Name  string `bson:"name"`
	Books int64  `bson:"books"`
}

type title struct {
	ID        bson.ObjectID `bson:"_id"`
	Title     string        `bson:"title"`
	ISBN      string        `bson:"isbn"`
	Published time.Time     `bson:"published"`
	Publisher struct {
		ID   string `bson:"id"`
		Name string `bson:"name"`
	} `bson:"publisher"`
	Tags []string `bson:"tags,omitempty"`
}

var (
	imprints    = model.NewCollection[imprint, string]("publishers")
	titles      = model.NewCollection[title, bson.ObjectID]("books")
	publishedBy = parentref.New(titles, "publisher.id", imprints, parentref.Spec{})
	theirNames  = copies.New(imprints, titles, copies.Spec{
		KeyPath: "publisher.id", Fields: []copies.Field{{From: "name", To: "publisher.name"}}})
	countBooks = counter.New(titles, "publisher.id", imprints, counter.Spec{Count: "books"})
	byISBN     = indextable.New(titles, "isbn", "bookByISBN", indextable.Spec{Unique: true})
)

// It is made of the declarations alone: no command is sent.
func ExampleModel_Diagram() {
	fmt.Print(model.New("shop", model.Entity(imprints), model.Entity(titles), publishedBy, theirNames,
		countBooks, byISBN).Diagram())
	// Output:
	// erDiagram
	//     "publishers" {
	//         string _id PK
	//         string name
	//         long books
	//     }
	//     "books" {
	//         objectId _id PK
	//         string title
	//         string isbn
	//         date published
	//         document publisher
	//         string[] tags
	//         string publisher_id FK "publisher.id"
	//     }
	//     "bookByISBN" {
	//         any _id PK
	//         any id FK
	//     }
	//     "books" }o--o| "publishers" : "publisher.id: parent reference, copy, counted"
	//     "bookByISBN" |o--|| "books" : "id: index table"
}
