package model_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A printer takes the most urgent document that waits. Several printers share one queue.
type printJob struct {
	ID      string `bson:"_id"`
	Urgency int32  `bson:"urgency"`
	Printer string `bson:"printer"` // "" while it waits
}

var printJobs = model.NewCollection[printJob, string]("printJobs")

// takeJob finds a job, marks it and returns it, in one atomic command. Two printers never
// get the same job.
func takeJob(printer string) *model.Modify[printJob] {
	take := printJobs.Modify(bson.D{{Key: "printer", Value: ""}}, bson.D{{
		Key: "$set", Value: bson.D{{Key: "printer", Value: printer}},
	}})
	take.Sort = bson.D{{Key: "urgency", Value: -1}}
	take.After = true // return the document as it is after the update
	return take
}

func ExampleModify() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("office")
	if _, err := printJobs.InsertMany([]printJob{{"letter", 1, ""}, {"invoice", 9, ""}}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println(takeJob("p1"))
	fmt.Println(takeJob("p1").Cost())
	for _, printer := range []string{"p1", "p2", "p1"} {
		job, err := takeJob(printer).Run(ctx, db)
		if errors.Is(err, model.ErrNotFound) {
			fmt.Println(printer, "waits: the queue is empty")
			continue
		}
		fmt.Println(printer, "prints", job, err)
	}
	// Output:
	// db.printJobs.findAndModify({query: {printer: ''}, sort: {urgency: -1}, update: {$set: {printer: 'p1'}}, new: true})
	// 1 command, 1 document written, 1 returned
	// p1 prints {invoice 9 p1} <nil>
	// p2 prints {letter 1 p2} <nil>
	// p1 waits: the queue is empty
}
