package model_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Stables know how many horses they have, and a horse shows its stable's name. An import past both left numbers and
// names that are wrong. One call finds them all, and one job mends them.
type (
	stable struct {
		ID     string `bson:"_id"`
		Name   string `bson:"name"`
		Horses int64  `bson:"horses"`
	}
	horse struct {
		ID     string `bson:"_id"`
		Stable string `bson:"stable"`
		Door   string `bson:"door"`
	}
)

var (
	stables = model.NewCollection[stable, string]("stables")
	horses  = model.NewCollection[horse, string]("horses")
	ranch   = model.New("ranch",
		counter.New(horses, "stable", stables, counter.Spec{Count: "horses"}),
		copies.New(stables, horses, copies.Spec{
			KeyPath: "stable",
			Fields:  []copies.Field{{From: "name", To: "door"}},
		}),
	)
)

func ExampleModel_Audit() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("ranch")
	if _, err := model.Concat(
		stables.InsertMany([]stable{{"n", "North", 2}, {"s", "South", 5}}),
		horses.InsertMany([]horse{{"bay", "n", "North"}, {"dun", "n", "Nord"}, {"roan", "s", "South"}}),
	).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	audit := ranch.Audit()
	for f, err := range audit.Each(ctx, db) {
		fmt.Println(f.Technique, f, err)
	}

	// A finding may be an action that is under way: a check says how long it must have stood. Here nobody writes.
	for i := range audit.Checks {
		audit.Checks[i].Age = 0
	}
	mended, err := audit.Job().Run(ctx, db, model.JobOptions{Checkpoint: "jobs"})
	fmt.Println(mended.Modified, mended.Done, err)
	n, err := stables.Find(bson.D{{Key: "horses", Value: 1}}).Count(ctx, db)
	fmt.Println(n, err)

	// Output:
	// counter.Counter stables 's': stores {horses: Long('5')}, but its children make {horses: 1} <nil>
	// copies.Copy horses 'dun': copies {door: 'Nord'} from 'n', which has {door: 'North'} <nil>
	// 2 true <nil>
	// 1 <nil>
}
