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

// A tracker shows a person's tasks, and on a task who is on it; so both documents say it.
type teamMember struct {
	ID    string   `bson:"_id"`
	Name  string   `bson:"name"`
	Tasks []string `bson:"tasks,omitempty"`
}

type workItem struct {
	ID    string `bson:"_id"`
	What  string `bson:"description"`
	Owner string `bson:"owner,omitempty"`
}

var (
	people   = model.NewCollection[teamMember, string]("people")
	tasks    = model.NewCollection[workItem, string]("tasks")
	assigned = twosided.NewTwoWay(people, "tasks", tasks, "owner", twosided.TwoWaySpec{})

	tracker   = model.New("tracker", assigned)
	members   = model.NewStore(tracker, people)
	workItems = model.NewStore(tracker, tasks)
)

func ExampleTwoWay() {
	client, stop := mongotest.Start()
	defer stop()
	ctx := context.Background()
	db, err := model.WithTransactions(ctx, client.Database("tracker"))
	fmt.Println(err)
	for _, id := range []string{"kate", "rod"} {
		if _, _, err := members.Insert(teamMember{ID: id}).Run(ctx, db); err != nil {
			fmt.Println(err)
		}
	}
	if _, _, err := workItems.Insert(workItem{ID: "ADF9", What: "Write lesson plan", Owner: "kate"}).
		Run(ctx, db); err != nil {
		fmt.Println(err)
	}

	// Write either side: the item's owner, or an owner's list.
	_, _, err = workItems.Set("ADF9", bson.D{{Key: "owner", Value: "rod"}}).Run(ctx, db)
	fmt.Println(err)
	rod, err := people.ByID("rod").One(ctx, db)
	fmt.Println(rod.Tasks, err)
	_, _, err = members.Set("rod", bson.D{{Key: "tasks", Value: []string{}}}).Run(ctx, db)
	fmt.Println(err)
	task, err := tasks.ByID("ADF9").One(ctx, db)
	fmt.Printf("%q %v\n", task.Owner, err)
	_, _, err = workItems.Set("ADF9", bson.D{{Key: "owner", Value: "lucy"}}).Run(ctx, db)
	fmt.Println("missing:", errors.Is(err, model.ErrNotFound))

	// A write past the stores leaves a half-link. Checks find it in either direction, and their jobs mend it.
	push := bson.D{{Key: "$push", Value: bson.D{{Key: "tasks", Value: "ADF9"}}}}
	if _, err := people.Update("kate", push).Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	for _, check := range assigned.Checks() {
		found, err := check.All(ctx, db)
		fmt.Println(check.Name, found, err)
	}
	// Output:
	// <nil>
	// <nil>
	// [ADF9] <nil>
	// <nil>
	// "" <nil>
	// missing: true
	// people.tasks: links that tasks.owner lacks [people 'kate': links to 'ADF9', which doesn't link back] <nil>
	// tasks.owner: links that people.tasks lacks [] <nil>
}
