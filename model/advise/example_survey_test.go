package advise_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/mongotest"
)

// A publisher lists the ids of its books.
type publisher struct {
	ID    string          `bson:"_id"`
	Name  string          `bson:"name"`
	Books []bson.ObjectID `bson:"books,omitempty"`
}

type publishedBook struct {
	ID   bson.ObjectID `bson:"_id"`
	Name string        `bson:"name"`
}

var (
	publishers     = model.NewCollection[publisher, string]("publishers")
	publishedBooks = model.NewCollection[publishedBook, bson.ObjectID]("books")
	booksSurvey    = advise.NewSurvey(publishers, publishedBooks, advise.SurveySpec{List: "books"})
)

// published are two small publishers, and one that has brought out a book a day for half a year.
func published() (ps []publisher, bs []publishedBook) {
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, n := range []int{3, 8, 180} {
		p := publisher{ID: fmt.Sprint("p", i+1), Name: "A publisher"}
		for j := range n {
			id := bson.NewObjectIDFromTimestamp(start.AddDate(0, 0, j*180/n))
			copy(id[4:], []byte{0, 0, 0, 0, 0, byte(i), byte(j >> 8), byte(j)})
			bs = append(bs, publishedBook{id, strings.Repeat("Azure Cosmos DB 101, ", 2+j%3)})
			p.Books = append(p.Books, id)
		}
		ps = append(ps, p)
	}
	ps[1].Books = append(ps[1].Books, bson.NewObjectIDFromTimestamp(start)) // a book that was deleted
	return ps, bs
}

// Is the list of books still the right choice? The survey asks the data, and the advice says until when.
func ExampleSurvey() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("library")
	ps, bs := published()
	if _, err := model.Concat(publishers.InsertMany(ps), publishedBooks.InsertMany(bs)).Run(ctx, db); err != nil {
		log.Fatal(err)
	}

	found, err := booksSurvey.Run(ctx, db)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(found)

	relation := found.Relation
	relation.Child.Alone = 0.5 // what no collection tells: books are looked up by name, too
	fmt.Print("\n", advise.Choose(relation))
	// Output:
	// publishers: all 3 read; books: all 191 read
	//   children of a parent: 9 at p50, 180 at p99, at most 180; all 3 read
	//   parents of a child: 1 at p50, 1 at p99, at most 1; all 191 read
	//   bytes of a parent: 186 at p50, 3,001 at p99, at most 3,001; all 3 read
	//   bytes of a child: 96 at p50, 117 at p99, at most 117; all 191 read
	//   children added a day: 1.07 in all, 1 a day (0.775 to 1.29) for the parent that gains most, from 90 days of 3 parents
	//   references that lead nowhere: 1 of 22
	//   Parent.Has.Typical 9: p50 of all 3 read
	//   Parent.Has.Max 180: the most of all 3 read
	//   Child.Has.Typical 1: p50 of all 191 read
	//   Child.Has.Max 1: the most of all 191 read
	//   Parent.Bytes 3,001: p99 of all 3 read
	//   Child.Bytes 117: p99 of all 191 read
	//   Child.IDBytes 12: the longest that was read
	//   Parent.Has.PerDay 1: 0.775 to 1.29, by what came to 3 parents in the last 90 days
	//   Parent.Has.Days 179: as long again as children have been added
	//
	// publishers → books: parent reference
	//   parentref.ParentRef: parentref.New(books, "publisher", publishers, parentref.Spec{})
	//     field books.publisher: the _id of one of the publishers
	//     index books {publisher: 1, _id: -1}
	//     commands: parent with its children 2, child with its parent 2, add a child 1, change a child 1, remove a child 1
	//   from today's child references: migrate.NewInvert(publishers, "books", books, "publisher", migrate.InvertSpec{})
	//   because too many books to embed: 180 today and 1.003 a day for 179 days: 360 > 300 [004 rule 3]
	//   because some books are looked up on their own: 50 % of reads ≥ 10 % [004 rule 2]
	//   because a join by id and index costs little more than one on the server would: 1 command more [004 rule 4]
	//   because each of the books belongs to one of the publishers, and holds its id: 1 write to add, 1 index [manual one-to-many with references]
	//   runner-up: child references (childrefs.ChildRefs), if
	//     Child.Has.Unbounded false → true
	//     Child.Ordered false → true
	//     Parent.Has.PerDay 1 → none and Parent.Has.Days 179 → not given and Parent.Has.Fixed false → true
	//   runner-up: two-way references with books as the parents (twosided.ManyToMany), if
	//     Child.Has.Max 1 → 2
	//     Child.Has.PerDay not given → above 0
	//   assumed: Parent.IDBytes 12, ReadsPerAdd 10, Parent.Alone 1, Parent.Shows 1, Parent.ReadsPerChange 100, Child.Shows none, Child.ReadsPerChange 100
}
