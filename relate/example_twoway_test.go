package relate_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
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
	assigned = relate.NewTwoWay(people, "tasks", tasks, "owner", relate.TwoWaySpec{})
)

func ExampleTwoWay() {
	client, stop := modeltest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("tracker")

	load := model.Concat(
		people.InsertMany([]teamMember{{ID: "kate", Name: "Kate Monster"}, {ID: "rod", Name: "Rod"}, {ID: "lucy", Name: "Lucy"}}),
		model.NewPlan(tasks.Insert(workItem{ID: "ADF9", What: "Write lesson plan"})),
	)
	if _, err := load.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// Assign, then reassign from what was read in between: the lists are written first, and the item decides.
	task := workItem{ID: "ADF9"}
	if _, err := assigned.Assign(&task, "kate", bson.NilObjectID).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	task, err := tasks.ByID("ADF9").One(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	move := assigned.Assign(&task, "rod", bson.NilObjectID)
	fmt.Println(move)
	fmt.Println(move.Cost(), "-", move.Guarantee())
	if _, err := move.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// Who read the task before that, and gives it to somebody else, is told; nothing of it is left.
	_, err = assigned.Assign(&task, "lucy", bson.NilObjectID).Run(ctx, db)
	fmt.Println("stale:", errors.Is(err, model.ErrStale))

	// A crash between the writes leaves a half-link. Checks find it in either direction, and their jobs mend it.
	if _, err := people.Update("kate", bson.D{{Key: "$push", Value: bson.D{{Key: "tasks", Value: "ADF9"}}}}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	for _, check := range assigned.Checks() {
		found, err := check.All(ctx, db)
		fmt.Println(check.Name, found, err)
		if len(found) > 0 {
			fmt.Println(check.Mend(found))
		}
	}
	// Output:
	// db.people.updateOne({_id: 'rod'}, {$addToSet: {tasks: 'ADF9'}})
	// db.people.updateOne({_id: 'kate'}, {$pull: {tasks: 'ADF9'}})
	// db.tasks.updateOne({_id: 'ADF9', owner: 'kate'}, {$set: {owner: 'rod'}})
	// // if stale: db.people.updateOne({_id: 'rod'}, {$pull: {tasks: 'ADF9'}})
	// 3 commands, 3 documents written, by _id_ - rerunnable
	// stale: true
	// people.tasks: links that tasks.owner lacks [people 'kate': links to 'ADF9', which refers to 'rod'] <nil>
	// db.people.updateOne({_id: 'kate'}, {$pull: {tasks: 'ADF9'}})
	// tasks.owner: links that people.tasks lacks [] <nil>
}
