package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func Example() {
	if err := connect.Run(context.Background(), "", "tracker", os.Stdout, tour); err != nil { // needs transactions
		fmt.Println(err)
	}
	// Output:
	// db.tasks.createIndex({owner: 1, _id: -1})
	// db.people.createIndex({tasks: 1})
	// db.tasks.createIndex({'steps.label': 1})
	// db.tasks.createIndex({'steps.due': 1})
	// db.tasks.createIndex({done: 1, due: 1})
	//
	// give a task to somebody:
	// db.people.updateOne({_id: 'kate'}, {$set: {tasks: ['lesson']}}) // twosided.TwoWay
	// db.tasks.updateOne({_id: 'lesson'}, {$set: {history: [{id: ObjectId('650000000000000000000001'), at: ISODate('2026-05-01T12:01:00.000Z'), by: 'kate', text: 'added'}, {id: ObjectId('650000000000000000000003'), at: ISODate('2026-05-01T12:03:00.000Z'), by: 'rod', text: 'for Kate'}], owner: 'kate'}})
	// 2 commands, 2 documents written, by _id_ - rerunnable
	//
	// tick a step off:
	// db.tasks.updateOne({_id: 'lesson', 'steps.label': 'read', 'history.id': {$nin: [ObjectId('650000000000000000000004')]}}, {$set: {'steps.$[e].done': true}, $push: {history: {$each: [{id: ObjectId('650000000000000000000004'), at: ISODate('2026-05-01T12:04:00.000Z'), by: 'kate', text: 'has read'}], $sort: {at: 1, id: 1}, $slice: -20}}}, {arrayFilters: [{'e.label': 'read'}]})
	//
	// School has 1 open task
	// Kate has: Write lesson plan; its history:
	// - 12:01 kate: added
	// - 12:03 rod: for Kate
	// - 12:05 kate: for Rod
	// - 12:06 rod: for Kate
	//
	// tasks that are due tomorrow, by an index:
	// db.tasks.find({done: false, due: {$gte: ISODate('2026-05-02T00:00:00.000Z'), $lt: ISODate('2026-05-03T00:00:00.000Z')}}).sort({due: 1})
	// - Write lesson plan
	//
	// steps that are due tomorrow, out of whole tasks:
	// db.tasks.aggregate([{$match: {steps: {$elemMatch: {done: false, due: {$gte: ISODate('2026-05-02T00:00:00.000Z'), $lt: ISODate('2026-05-03T00:00:00.000Z')}}}}}, {$unwind: {path: '$steps', includeArrayIndex: 'at'}}, {$match: {'steps.done': false, 'steps.due': {$gte: ISODate('2026-05-02T00:00:00.000Z'), $lt: ISODate('2026-05-03T00:00:00.000Z')}}}, {$project: {_id: 0, parent: '$_id', at: 1, element: '$steps'}}, {$sort: {'element.due': 1, parent: 1, at: 1}}])
	// - read of lesson
}

// The cost of each action, without and with transactions, the index of each query, and
// nothing left to repair.
func TestActions(t *testing.T) {
	monitor := mongotest.NewMonitor()
	connect.EachWay(t, func(t *testing.T, db model.DB, tx bool) {
		tr, ctx := seed(t, db, 2500), t.Context()
		tomorrow := noon.AddDate(0, 0, 1)
		for _, action := range []struct {
			name      string
			plain, tx model.Cost
			run       func() error
		}{
			{"add", model.Cost{Commands: 4, Written: 3, Returned: 1}, model.Cost{Commands: 2, Written: 2}, func() error { return tr.Add(ctx, lesson(), event(1, "kate", "added")) }},
			{"give", model.Cost{Commands: 5, Written: 3, Returned: 2}, model.Cost{Commands: 4, Written: 2, Returned: 2}, func() error { return tr.Give(ctx, "lesson", "rod", event(2, "kate", "for Rod")) }},
			{"give to another", model.Cost{Commands: 6, Written: 4, Returned: 3}, model.Cost{Commands: 4, Written: 3, Returned: 3}, func() error { return tr.Give(ctx, "lesson", "kate", event(3, "kate", "for Kate")) }},
			{"give again", model.Cost{Commands: 2, Returned: 2}, model.Cost{Commands: 2, Returned: 1}, func() error { return tr.Give(ctx, "lesson", "kate", event(3, "kate", "for Kate")) }},
			{"tick", model.Cost{Commands: 1, Written: 1}, model.Cost{Commands: 1, Written: 1}, func() error { return tr.Tick(ctx, "lesson", "write", event(4, "kate", "wrote")) }},
			{"plate", readCost(1), readCost(1), func() error { _, err := tr.Plate(ctx, "kate"); return err }},
			{"due tomorrow", readCost(26), readCost(26), func() error { _, err := tr.Due(ctx, tomorrow); return err }},
			{"steps due tomorrow", readCost(1), readCost(1), func() error { _, err := tr.StepsDue(ctx, tomorrow); return err }},
			{"finish", model.Cost{Commands: 4, Written: 3, Returned: 1}, model.Cost{Commands: 3, Written: 2, Returned: 1}, func() error { return tr.Finish(ctx, "lesson", event(5, "kate", "done")) }},
			{"project", readCost(1), readCost(1), func() error { _, err := tr.Project(ctx, "school"); return err }},
			{"drop", model.Cost{Commands: 5, Written: 3, Returned: 2}, model.Cost{Commands: 4, Written: 2, Returned: 2}, func() error { return tr.Drop(ctx, "lesson", event(6, "", "").ID) }},
		} {
			want := action.plain
			if tx {
				want = action.tx
			}
			t.Run(action.name, func(t *testing.T) { modeltest.WantCost(t, monitor, want, action.run) })
		}
		if n, err := tr.Mend(ctx, 0); n != 0 || err != nil {
			t.Errorf("%d things to mend, %v", n, err)
		}
		modeltest.WantIndexed(t, db, onPlate("rod"), "owner_1__id_-1")
		modeltest.WantIndexed(t, db, due(tomorrow), "done_1_due_1")
		modeltest.WantIndexed(t, db, stepsDue(tomorrow), "steps.due_1")
	}, monitor)
}

// readCost is the cost of a query that returns n documents.
func readCost(n int) model.Cost { return model.Cost{Commands: 1, Returned: n} }

// seed stores n tasks, due on a hundred days, each with its own project.
func seed(t *testing.T, db model.DB, n int) Tracker {
	tr := Tracker{db}
	var all []Task
	var of []Project
	for i := range n {
		all = append(all, Task{ID: fmt.Sprint("task ", i), Project: fmt.Sprint("project ", i), Due: noon.AddDate(0, 0, i%100)})
		of = append(of, Project{ID: fmt.Sprint("project ", i), Open: 1})
	}
	err := error(nil)
	if n > 0 {
		_, err = model.Concat(tasks.InsertMany(all), projects.InsertMany(of)).Run(t.Context(), db)
	}
	if err := errors.Join(fill(t.Context(), tr), err); err != nil {
		t.Fatal(err)
	}
	return tr
}

// Errors are the tracker's and leave nothing.
func TestErrors(t *testing.T) {
	connect.EachWay(t, func(t *testing.T, db model.DB, _ bool) {
		tr, ctx := seed(t, db, 0), t.Context()
		var links []string
		for n := range plate {
			links = append(links, fmt.Sprint("task ", n))
		}
		_, errFull := people.Update("rod", bson.D{{Key: "$set", Value: bson.D{{Key: "tasks", Value: links}}}}).Run(ctx, db)
		if err := errors.Join(errFull, tr.Add(ctx, lesson(), event(1, "kate", "added"))); err != nil {
			t.Fatal(err)
		}
		e := event(2, "kate", "")
		for _, c := range []struct {
			name      string
			got, want error
		}{
			{"another of its name", tr.Add(ctx, Task{ID: "lesson", Project: "school"}, e), ErrExists},
			{"no task", tr.Give(ctx, "none", "kate", e), ErrNoTask},
			{"nobody", tr.Give(ctx, "lesson", "eve", e), ErrNoPerson},
			{"somebody busy", tr.Give(ctx, "lesson", "rod", e), ErrBusy},
			{"no step", tr.Tick(ctx, "lesson", "sing", e), ErrNoStep},
			{"a step of no task", tr.Tick(ctx, "none", "read", e), ErrNoTask},
			{"no task to finish", tr.Finish(ctx, "none", e), ErrNoTask},
			{"no task to drop", tr.Drop(ctx, "none", e.ID), nil},
		} {
			if !errors.Is(c.got, c.want) {
				t.Errorf("%s: %v; want %v", c.name, c.got, c.want)
			}
		}
		stored, err := tasks.ByID("lesson").One(ctx, db)
		if stored.Owner != "" || len(stored.History) != 1 || err != nil {
			t.Errorf("%+v, %v", stored, err)
		}
	})
}

// Four clients give one task to two people. In the end one person has the task, and
// nobody else lists it.
func TestGiveRace(t *testing.T) {
	connect.EachWay(t, func(t *testing.T, db model.DB, _ bool) {
		tr, ctx := seed(t, db, 0), t.Context()
		if err := tr.Add(ctx, lesson(), event(1, "kate", "added")); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for n := range 4 {
			wait.Go(func() {
				if err := tr.Give(ctx, "lesson", []string{"kate", "rod"}[n%2], event(10+n, "rod", "")); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if n, err := tr.Mend(ctx, 0); n != 0 || err != nil {
			t.Errorf("%d things to mend, %v", n, err)
		}
		if all, err := people.Find(bson.D{{Key: "tasks", Value: "lesson"}}).All(ctx, db); len(all) != 1 || err != nil {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// After a crash at any write, the action runs again: one owner lists the task, its
// project counts it once, and each event is stored once.
func TestCut(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 4,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			tr := Tracker{db}
			return errors.Join(fill(ctx, tr), tr.Add(ctx, lesson(), event(1, "kate", "added")), tr.Give(ctx, "lesson", "rod", event(2, "kate", "for Rod")))
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			tr := Tracker{db}
			if err := tr.Give(ctx, "lesson", "kate", event(3, "rod", "for Kate")); err != nil {
				return err
			}
			if err := tr.Tick(ctx, "lesson", "read", event(4, "kate", "has read")); err != nil {
				return err
			}
			return tr.Finish(ctx, "lesson", event(5, "kate", "done"))
		},
		Check: func(t testing.TB, db *mongo.Database) {
			task, errTask := tasks.ByID("lesson").One(t.Context(), db)
			rod, errRod := people.ByID("rod").One(t.Context(), db)
			kate, errKate := people.ByID("kate").One(t.Context(), db)
			school, errSchool := projects.ByID("school").One(t.Context(), db)
			if err := errors.Join(errTask, errRod, errKate, errSchool); err != nil || task.Owner != "kate" || len(task.History) != 5 || !task.Steps[0].Done ||
				len(rod.Tasks) != 0 || len(kate.Tasks) != 1 || school.Open != 0 {
				t.Errorf("%+v\n%+v\n%+v\n%+v\n%v", task, rod, kate, school, err)
			}
		},
	})
}
