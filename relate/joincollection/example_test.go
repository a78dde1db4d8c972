package joincollection_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/joincollection"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An author writes books, a book has authors, and what each did for it belongs to neither: it is a document of its own.
type writer struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
}

type writtenBook struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
}

type authorship struct {
	ID       string    `bson:"_id"`
	AuthorID string    `bson:"authorId"`
	BookID   string    `bson:"bookId"`
	Role     string    `bson:"role"`
	Since    time.Time `bson:"since"`
}

var (
	writers      = model.NewCollection[writer, string]("authors")
	writtenBooks = model.NewCollection[writtenBook, string]("books")
	authorships  = model.NewCollection[authorship, string]("authorships")
	authored     = joincollection.New(authorships, "authorId", writers, "bookId", writtenBooks,
		joincollection.Spec{By: "since"})
	authoring   = model.New("press", authored)
	authorStore = model.NewStore(authoring, authorships)
)

// authorOf is the filter of a pair.
func authorOf(author, book string) bson.D {
	return bson.D{{Key: "authorId", Value: author}, {Key: "bookId", Value: book}}
}

func seedAuthorships(ctx context.Context, db *mongo.Database) error {
	day := func(n int) time.Time { return time.Date(2024, 1, n, 0, 0, 0, 0, time.UTC) }
	plan := model.Concat(
		writers.InsertMany([]writer{{"a1", "Thomas Andersen"}, {"a2", "William Wakefield"}}),
		writtenBooks.InsertMany([]writtenBook{{"b1", "Azure Cosmos DB 101"}, {"b2", "Azure Cosmos DB for RDBMS Users"}}),
	)
	_, err := plan.Run(ctx, db)
	if err = errors.Join(err, authoring.Indexes().Ensure(ctx, db)); err != nil {
		return err
	}
	_, _, err = authorStore.InsertMany(
		authorship{"1", "a1", "b1", "author", day(1)},
		authorship{"2", "a2", "b1", "editor", day(2)},
		authorship{"3", "a1", "b2", "author", day(3)},
	).Run(ctx, db)
	if err != nil {
		return err
	}
	// Another program stores a link to a book that is missing.
	_, err = authorships.Insert(authorship{"4", "a1", "b3", "author", day(4)}).Run(ctx, db)
	return err
}

func ExampleJoinCollection() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("press")

	if err := seedAuthorships(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(authoring.Indexes())

	// The books of an author with his part in each, newest first, in one command. A book that is missing is seen as such.
	books := authored.Left.Others("a1", nil, 2)
	fmt.Println(books)
	fmt.Println(books.Cost())
	for book, err := range books.Each(ctx, db) {
		switch {
		case err != nil:
			fmt.Println(err)
		case book.To == nil:
			fmt.Println("-", book.Doc.BookID, "is missing")
		default:
			fmt.Println("-", book.To.Name, "as", book.Doc.Role)
		}
	}

	// The other direction.
	people, err := authored.Right.Others("b1", nil, 0).All(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range people {
		fmt.Println("-", p.To.Name, "as", p.Doc.Role)
	}

	// A pair is linked once: the index sees to it, whoever else writes.
	illustrator := authorship{"5", "a1", "b1", "illustrator", time.Now()}
	_, _, err = authorStore.Insert(illustrator).Run(ctx, db)
	fmt.Println(errors.Is(err, model.ErrTaken), err)
	ensured, _, err := authorStore.EnsureOne(authorOf("a1", "b1"), illustrator).Run(ctx, db)
	fmt.Println("linked as", ensured.Doc.Role, err)

	// The documents of a link must exist.
	_, _, err = authorStore.Insert(authorship{"6", "a2", "b3", "editor", time.Now()}).Run(ctx, db)
	fmt.Println(errors.Is(err, model.ErrNotFound), err)

	changed, _, err := authorStore.SetOne(authorOf("a1", "b1"), bson.D{{Key: "role", Value: "illustrator"}}).Run(ctx, db)
	fmt.Println("linked as", changed.Doc.Role, err)
	deleted, _, err := authorStore.DeleteOne(authorOf("a2", "b1")).Run(ctx, db)
	fmt.Println("unlinked", deleted.Doc.ID, err)
	// Output:
	// db.authorships.createIndex({authorId: 1, bookId: 1}, {name: 'authorId_1_bookId_1', unique: true})
	// db.authorships.createIndex({authorId: 1, since: -1, _id: -1})
	// db.authorships.createIndex({bookId: 1, since: -1, _id: -1})
	// db.authorships.aggregate([{$match: {authorId: 'a1'}}, {$sort: {since: -1, _id: -1}}, {$limit: Long('2')}, {$project: {_id: 0, doc: '$$ROOT'}}, {$lookup: {from: 'books', localField: 'doc.bookId', foreignField: '_id', as: 'to'}}, {$set: {to: {$arrayElemAt: ['$to', 0]}}}])
	// 1 command and one per further batch, by authorId_1_since_-1__id_-1
	// - b3 is missing
	// - Azure Cosmos DB for RDBMS Users as author
	// - William Wakefield as editor
	// - Thomas Andersen as author
	// true docmodel: step 1: authorships: taken already (authorships {authorId: 'a1', bookId: 'b1'} is stored already)
	// linked as author <nil>
	// true docmodel: not found: mongo: no documents in result (authorships.bookId names 'b3', which isn't in books)
	// linked as illustrator <nil>
	// unlinked 2 <nil>
}
