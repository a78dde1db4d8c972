package main

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
)

// The writes that move a task, without the reads.
func Example_move() {
	client, stop := modeltest.Start()
	defer stop()
	ctx, f := context.Background(), Facilities{client.Database("facilities")}
	lamp := Task{ID: "lamp", Site: SiteRef{"lab", "Laboratory"}}
	if err := fill(ctx, f); err != nil {
		fmt.Println(err)
	}
	if err := f.OpenTask(ctx, lamp); err != nil {
		fmt.Println(err)
	}
	move := moveTask(lamp, Site{ID: "library", Name: "Library"})
	decide := move.Decide
	move.Decide = func(s any) (model.Plan, error) {
		plan, err := decide(s)
		sent := plan
		sent.IfStale = nil // a transaction aborts
		fmt.Println(sent)
		return plan, err
	}
	if _, _, err := move.Run(ctx, f.db); err != nil {
		fmt.Println(err)
	}
	// Output:
	// db.tasks.updateOne({_id: 'lamp', done: false, 'site.id': 'lab'}, {$set: {'site.id': 'library', 'site.name': 'Library'}})
	// db.sites.updateOne({_id: 'lab'}, {$inc: {open: Long('-1')}, $pull: {tasks: 'lamp'}})
	// db.sites.updateOne({_id: 'library'}, {$inc: {open: Long('1')}, $addToSet: {tasks: 'lamp'}})
}
