package ondelete_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/childrefs"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
)

// A publisher's books go with it, and their reviews with them; readers' shelves let go of a book; a book that a shop
// still lists in its catalog can't go at all.
type press struct {
	ID string `bson:"_id"`
}

type title struct {
	ID    string `bson:"_id"`
	PubID string `bson:"pub-id"`
}

type critique struct {
	ID     string `bson:"_id"`
	BookID string `bson:"bookId"`
}

type shelf struct {
	ID    string   `bson:"_id"`
	Books []string `bson:"books,omitempty"`
}

var (
	presses   = model.NewCollection[press, string]("publishers")
	titles    = model.NewCollection[title, string]("books")
	critiques = model.NewCollection[critique, string]("reviews")
	shelves   = model.NewCollection[shelf, string]("shelves")
	catalogs  = model.NewCollection[shelf, string]("catalogs")

	whenGone = ondelete.New(presses, ondelete.Spec{
		Cascade: []relate.Referrer{
			parentref.New(titles, "pub-id", presses, parentref.Spec{}),
			parentref.New(critiques, "bookId", titles, parentref.Spec{}),
		},
		Nullify:  []relate.Referrer{childrefs.New(shelves, "books", titles)},
		Restrict: []relate.Referrer{childrefs.New(catalogs, "books", titles)},
	})
	publishing = model.NewStore(model.New("press", whenGone), presses)
)

func ExampleOnDelete() {
	client, stop := mongotest.Start()
	defer stop()
	ctx := context.Background()
	db, err := model.WithTransactions(ctx, client.Database("press"))
	if err != nil {
		fmt.Println(err)
		return
	}

	seed := model.Concat(
		presses.InsertMany([]press{{"mspress"}, {"other"}}),
		titles.InsertMany([]title{{"b1", "mspress"}, {"b2", "mspress"}, {"b3", "other"}}),
		critiques.InsertMany([]critique{{"r1", "b1"}, {"r2", "b1"}, {"r3", "b3"}}),
		shelves.InsertMany([]shelf{{"mary", []string{"b1", "b3"}}}),
		catalogs.InsertMany([]shelf{{"shop", []string{"b2"}}}),
	)
	if _, err := seed.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// The shop's catalog forbids it; nothing is written.
	_, _, err = publishing.Delete("mspress").Run(ctx, db)
	var forbidden *ondelete.RestrictError
	fmt.Println(errors.As(err, &forbidden), err)
	if _, err := catalogs.Delete("shop").Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	_, _, err = publishing.Delete("mspress").Run(ctx, db)
	fmt.Println(err)
	left, err := shelves.Find(nil).All(ctx, db)
	fmt.Println(left, err)

	// Many documents, in many actions. A second run would find nothing more to do.
	progress, err := publishing.DeleteJob("other").Run(ctx, db, model.JobOptions{})
	fmt.Println(progress.Documents, "documents deleted,", err)
	// Output:
	// true docmodel: the deletion is forbidden by catalogs 'shop': books → 'b2'
	// <nil>
	// [{mary [b3]}] <nil>
	// 3 documents deleted, <nil>
}
