package bounded_test

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A host's page shows its last messages, so the host keeps them; the log itself is a collection of its own.
type loggingHost struct {
	ID      string     `bson:"_id"`
	Name    string     `bson:"name"`
	LogMsgs []keptLine `bson:"logmsgs,omitempty"`
}

type keptLine struct {
	Time    time.Time `bson:"time"`
	Message string    `bson:"message"`
}

var (
	loggingHosts = model.NewCollection[loggingHost, string]("hosts")
	lastLines    = bounded.New(loggingHosts, "logmsgs", bounded.Spec{
		Max: 3, By: bson.D{{Key: "time", Value: 1}}, // the last three by time, in whatever order they arrive
	})
)

func ExampleBounded() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("logs")

	if _, err := loggingHosts.Insert(loggingHost{ID: "AAAB", Name: "goofy.example.com"}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	noon := time.Date(2014, 3, 28, 12, 0, 0, 0, time.UTC)
	for _, minute := range []int{5, 1, 4, 2, 3} {
		w := lastLines.Push("AAAB", keptLine{
			Time: noon.Add(time.Duration(minute) * time.Minute), Message: fmt.Sprint("minute ", minute),
		})
		if minute == 5 {
			fmt.Println(w)
			fmt.Println(w.Cost())
		}
		if _, err := w.Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}
	host, err := loggingHosts.ByID("AAAB").One(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range host.LogMsgs {
		fmt.Println("-", m.Message)
	}

	// What the bound does for documents that were written before it was declared.
	old := loggingHost{ID: "AAAA", LogMsgs: []keptLine{{Message: "a"}, {Message: "b"}, {Message: "c"}, {Message: "d"}}}
	if _, err := loggingHosts.Insert(old).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	check := lastLines.Checks()[0]
	found, _ := check.All(ctx, db)
	progress, err := check.Job().Run(ctx, db, model.JobOptions{})
	fmt.Println(check.Rule, found, progress.Modified, err)
	// Output:
	// db.hosts.updateOne({_id: 'AAAB'}, {$push: {logmsgs: {$each: [{time: ISODate('2014-03-28T12:05:00.000Z'), message: 'minute 5'}], $sort: {time: 1}, $slice: -3}}})
	// 1 command, 1 document written, by _id_
	// - minute 3
	// - minute 4
	// - minute 5
	// an array holds at most 3 elements [hosts 'AAAA': holds 4 elements] 1 <nil>
}
