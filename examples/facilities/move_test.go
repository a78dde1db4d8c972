package main

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// The writes that move a task, without the reads.
func Example_move() {
	client, stop := mongotest.Start()
	defer stop()
	ctx := context.Background()
	f, err := New(ctx, client.Database("facilities"))
	if err != nil {
		fmt.Println(err)
	}
	if err := fill(ctx, f); err != nil {
		fmt.Println(err)
	}
	if err := f.OpenTask(ctx, Task{ID: "lamp", Site: SiteRef{ID: "lab"}}); err != nil {
		fmt.Println(err)
	}
	move := moveTask("lamp", "library")
	decide := move.Decide
	move.Decide = func(s model.Stored[Task]) (model.Plan, error) {
		plan, err := decide(s)
		fmt.Println(plan)
		return plan, err
	}
	if _, _, err := move.Run(ctx, f.db); err != nil {
		fmt.Println(err)
	}
	// Output:
	// db.sites.updateOne({_id: 'lab'}, {$set: {tasks: []}, $inc: {open: Long('-1')}}) // twosided.TwoWay, counter.Counter
	// db.sites.updateOne({_id: 'library'}, {$set: {tasks: ['door', 'lamp']}, $inc: {open: Long('1')}}) // twosided.TwoWay, counter.Counter
	// db.tasks.updateOne({_id: 'lamp'}, {$set: {'site.id': 'library', 'site.name': 'Library'}})
}
