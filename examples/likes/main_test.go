package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func Example() {
	main()
	// Output:
	// 4:42AM i2 ipad
	// 3:42AM i1 mac pro
	//
	// 5:42AM u2 gunsluo
	// 3:42AM u1 Jerry Lou
}

// A page is one command, by _id, with any number of likes. A like first reads both rows,
// its user and its item, and at last the user and the item again.
func TestCosts(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := fill(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		l, ctx := Likes{db}, t.Context()
		if _, err := items.InsertMany(manyItems(60)).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		for n := range 60 {
			if err := l.Like(ctx, "u1", fmt.Sprint("item", n), start.Add(time.Duration(n)*time.Minute), bson.NewObjectID()); err != nil {
				t.Fatal(err)
			}
		}
		for _, action := range []struct {
			name              string
			commands, written int
			run               func() error
		}{
			{"like", 8, 2, func() error { return l.Like(ctx, "u2", "i1", start, bson.ObjectID{1}) }},
			{"a page", 1, 0, func() error {
				page, err := l.Of(ctx, "u1", "", 20)
				if err == nil && (len(page) != 20 || page[0].Text != "item 59" || page[19].Text != "item 40") {
					err = fmt.Errorf("the page is %v", page)
				}
				return err
			}},
			{"rename", 4, 62, func() error { return l.Rename(ctx, "u1", "Jerry") }},
			{"unlike", 4, 2, func() error { return l.Unlike(ctx, "u2", "i1") }},
		} {
			cost, err := modeltest.Measure(monitor, action.run)
			if err != nil || cost.Commands != action.commands || cost.Written != action.written {
				t.Errorf("%s: %v, %v; want %d commands, %d documents written", action.name, cost, err, action.commands, action.written)
			}
		}
		if n, err := l.Mend(ctx); n != 0 || err != nil {
			t.Errorf("%d half likes, %v", n, err)
		}
		modeltest.WantIndexed(t, db, likes.Left.Newest("u1", "", 20), model.IDIndex)
	}, monitor)
}

func manyItems(n int) []Item {
	var all []Item
	for i := range n {
		all = append(all, Item{ID: fmt.Sprint("item", i), Title: fmt.Sprint("item ", i)})
	}
	return all
}

// After a crash between the halves of a like, or before its answer, the retry stores it
// once at both ends.
func TestLikeCut(t *testing.T) {
	op := bson.NewObjectID()
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error { return fill(ctx, db) },
		Run:  func(ctx context.Context, db *mongo.Database) error { return Likes{db}.Like(ctx, "u1", "i1", start, op) },
		Check: func(t testing.TB, db *mongo.Database) {
			l := Likes{db}
			of, errOf := l.Of(t.Context(), "u1", "", 10)
			by, errBy := l.By(t.Context(), "i1", "", 10)
			if errOf != nil || errBy != nil || len(of) != 1 || len(by) != 1 || of[0].Text != "mac pro" || by[0].Text != "jerrylou" {
				t.Errorf("%v, %v, %v, %v", of, by, errOf, errBy)
			}
		},
	})
}
