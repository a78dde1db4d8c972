package design_test

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/model/design"
	"github.com/docmodel/docmodel/relate/childrefs"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type author struct {
	ID    string   `bson:"_id"`
	Name  string   `bson:"name"`
	Books []string `bson:"books,omitempty"`
}

type book struct {
	ID    string `bson:"_id"`
	Title string `bson:"title"`
}

var (
	authors = model.NewCollection[author, string]("authors")
	books   = model.NewCollection[book, string]("books")
	wrote   = childrefs.New(authors, "books", books)
	library = model.New("library", wrote, model.Entity(books, model.NewIndex("books", bson.D{{Key: "title", Value: 1}})))
)

// A model is held against what is known to go wrong, beside what is known of its documents and of what is sent.
func ExampleLint() {
	lint := design.Lint{
		Model: library,
		Budgets: []*advise.Budget{
			advise.NewBudget(authors, advise.Bound{Path: "_id", Bytes: 24}, advise.Bound{Path: "name", Bytes: 80}),
		},
		Runs: []design.Run{
			{Name: "an author's books", Of: wrote.ChildrenOf("le guin").Aggregation},
			{Name: "a book's authors", Of: wrote.ParentsOf("the dispossessed").Query},
			{Name: "search", Of: books.Find(bson.D{{Key: "title", Value: bson.Regex{Pattern: "moon", Options: "i"}}}).Query},
		},
	}
	for _, smell := range lint.Smells() {
		fmt.Println(smell)
	}
	// Output:
	// needless index: books.title_1: no run uses it; add the run that uses it, or remove the index
	// no index: search: no index is known to serve {title: RegExp('moon', 'i')}; declare one (model.Entity), and set the Index of the query
	// unanchored pattern: search: /moon/i ignores case; begin the pattern with ^ and match the case, store the text in lower case in another field, or use an index with a collation
	// unbounded array: authors.books: an array without Items, 16 MB are reached at 1277727; bound it (bounded.Bounded, embed.EmbeddedSpec.Max) and tell the Budget, or store the elements in a collection of their own
}
