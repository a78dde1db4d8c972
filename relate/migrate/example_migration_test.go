package migrate_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/childrefs"
	"github.com/docmodel/docmodel/relate/migrate"
	"github.com/docmodel/docmodel/relate/parentref"
)

// A publisher listed its books, as long as they were few. Now there may be any number: each book shall hold its
// publisher instead, and the place that it had in the list. Both forms are declared, for both are there while the data
// moves.
type imprint struct {
	ID    string `bson:"_id"`
	Name  string `bson:"name"`
	Books []int  `bson:"books,omitempty"`
}

type volume struct {
	ID    int    `bson:"_id"`
	Name  string `bson:"name"`
	Pub   string `bson:"pub-id,omitempty"`
	Place *int   `bson:"place,omitempty"`
}

var (
	imprints  = model.NewCollection[imprint, string]("publishers")
	volumes   = model.NewCollection[volume, int]("books")
	published = migrate.NewInvert(imprints, "books", volumes, "pub-id", migrate.InvertSpec{Order: "place"})
)

func ExampleMigration() {
	monitor := mongotest.NewMonitor()
	client, stop := mongotest.Start(monitor)
	defer stop()
	ctx, db := context.Background(), client.Database("library")

	seed := model.Concat(
		imprints.InsertMany([]imprint{{"mspress", "Microsoft Press", []int{3, 1, 2}}, {"indie", "Indie", []int{4, 2}}}),
		volumes.InsertMany([]volume{
			{ID: 1, Name: "Azure Cosmos DB 101"}, {ID: 2, Name: "Azure Cosmos DB for RDBMS Users"},
			{ID: 3, Name: "Taking over the world one JSON doc at a time"}, {ID: 4, Name: "Deep Dive into Azure Cosmos DB"},
		}),
	)
	if _, err := seed.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	if err := model.New("library", published).Indexes().Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// What would be written, and what stands in the way: a book can't hold two publishers.
	dry, err := published.Copy().Run(ctx, db, model.JobOptions{DryRun: true})
	fmt.Println(dry.Writes, "books to write;", err)

	// Indie gives the book up: a writer of the old form, which knows nothing of the migration.
	if _, err := childrefs.New(imprints, "books", volumes).Remove("indie", 2).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range []model.Job{published.Copy(), published.Copy()} {
		monitor.Reset()
		passed, err := job.Run(ctx, db, model.JobOptions{})
		fmt.Println("copied", passed.Modified, err)
		fmt.Println(monitor.Cost())
	}
	disagree, err := published.Verify().All(ctx, db)
	fmt.Println("disagree", disagree, err)
	dropped, err := published.Drop().Run(ctx, db, model.JobOptions{})
	fmt.Println("dropped", dropped.Modified, err)

	// The books of a publisher, in the order of its list, which is gone.
	books := parentref.New(volumes, "pub-id", imprints, parentref.Spec{By: "place"}).Children("mspress")
	for book, err := range books.Each(ctx, db) {
		fmt.Println(*book.Place, book.Name, err)
	}
	old, err := imprints.ByID("mspress").One(ctx, db)
	fmt.Println(old, err)
	// Output:
	// 3 books to write; docmodel: job copy to refs: publishers.books > books.pub-id couldn't process 1 finding: books 2: shared: ['indie', 'mspress']
	// copied 4 <nil>
	// 9 commands, 5 documents written, 7 returned
	// copied 0 <nil>
	// 6 commands, 8 returned
	// disagree [] <nil>
	// dropped 2 <nil>
	// 2 Azure Cosmos DB for RDBMS Users <nil>
	// 1 Azure Cosmos DB 101 <nil>
	// 0 Taking over the world one JSON doc at a time <nil>
	// {mspress Microsoft Press []} <nil>
}
