package parentref_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A host writes more messages than a document could ever list, so each message holds the id of its host.
type machine struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
	Addr string `bson:"ipaddr"`
}

type logLine struct {
	ID      int       `bson:"_id"`
	Host    string    `bson:"host"`
	Time    time.Time `bson:"time"`
	Message string    `bson:"message"`
}

var (
	machines  = model.NewCollection[machine, string]("hosts")
	logLines  = model.NewCollection[logLine, int]("logmsg")
	writtenBy = parentref.New(logLines, "host", machines, parentref.Spec{By: "time"})
)

func ExampleParentRef() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("logs")

	start := time.Date(2014, 3, 28, 9, 42, 41, 0, time.UTC)
	lines := make([]logLine, 100)
	for i := range lines {
		lines[i] = logLine{i + 1, "AAAB", start.Add(time.Duration(i) * time.Second), fmt.Sprintf("cpu is at %d °C", 40+i)}
	}
	load := model.Concat(model.NewPlan(machines.Insert(machine{"AAAB", "goofy.example.com", "127.66.66.66"})),
		logLines.InsertMany(lines))
	if _, err := load.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	indexes := model.New("logs", writtenBy).Indexes()
	fmt.Print(indexes)
	if err := indexes.Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// The newest two of a host, and the next page: filter and order come from one index.
	page := writtenBy.Children("AAAB").Limited(2)
	fmt.Println(page)
	fmt.Println(page.Cost())
	var last logLine
	for line, err := range page.Each(ctx, db) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("-", line.Message)
		last = line
	}
	for line, err := range page.After(last.Time, last.ID).Each(ctx, db) {
		fmt.Println("-", line.Message, err)
	}

	// Each host with its newest message: one command, and the limit is each host's own.
	hosts, err := writtenBy.Load(bson.D{}, 1).All(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range hosts {
		fmt.Println(h.Parent.Name, "wrote last:", h.Children[0].Message)
	}

	// A message moves to another host only from the one it was read with.
	store := model.NewStore(model.New("logs", writtenBy), logLines)
	move := store.SetOne(bson.D{{Key: "_id", Value: 100}, {Key: "host", Value: "AAAC"}},
		bson.D{{Key: "host", Value: "AAAD"}})
	_, _, err = move.Run(ctx, db)
	fmt.Println(errors.Is(err, model.ErrNotFound))
	// Output:
	// db.logmsg.createIndex({host: 1, time: -1, _id: -1})
	// db.logmsg.find({host: 'AAAB'}).sort({time: -1, _id: -1}).limit(2)
	// 1 command and one per further batch, by host_1_time_-1__id_-1
	// - cpu is at 139 °C
	// - cpu is at 138 °C
	// - cpu is at 137 °C <nil>
	// - cpu is at 136 °C <nil>
	// goofy.example.com wrote last: cpu is at 139 °C
	// true
}
