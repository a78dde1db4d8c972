package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func Example() {
	main()
	// Output:
	// db.tasks.createIndex({'owner.id': 1, _id: -1})
	// db.people.createIndex({'tasks.id': 1})
	// db.tasks.createIndex({project: 1})
	// db.tasks.createIndex({'pending.parents': 1}, {name: 'pending.parents_1', partialFilterExpression: {'pending.parents': {$exists: true}}})
	// db.tasks.createIndex({'pending.op': 1}, {name: 'pending.op_1', partialFilterExpression: {'pending.op': {$exists: true}}})
	// db.tasks.createIndex({'steps.label': 1})
	// db.tasks.createIndex({'steps.due': 1})
	// db.tasks.createIndex({done: 1, due: 1})
	//
	// give a task to somebody:
	// db.people.updateOne({_id: 'kate', tasks: {$not: {$elemMatch: {id: 'lesson', v: Long('1'), op: ObjectId('650000000000000000000003')}}}, 'tasks.99': {$exists: false}}, {$push: {tasks: {id: 'lesson', v: Long('1'), op: ObjectId('650000000000000000000003')}}})
	// db.tasks.updateOne({_id: 'lesson', 'owner.v': {$in: [null, Long('0')]}}, {$set: {owner: {id: 'kate', v: Long('1'), op: ObjectId('650000000000000000000003')}}})
	// db.tasks.updateOne({_id: 'lesson', 'history.id': {$nin: [ObjectId('650000000000000000000003')]}}, {$push: {history: {$each: [{id: ObjectId('650000000000000000000003'), at: ISODate('2026-05-01T12:03:00.000Z'), by: 'rod', text: 'for Kate'}], $sort: {at: 1, id: 1}, $slice: -20}}})
	// // if stale: db.people.updateOne({_id: 'kate'}, {$pull: {tasks: {id: 'lesson', v: Long('1'), op: ObjectId('650000000000000000000003')}}})
	// 3 commands, 3 documents written, by _id_ - rerunnable
	//
	// tick a step off:
	// db.tasks.updateOne({_id: 'lesson', 'steps.label': 'read', 'history.id': {$nin: [ObjectId('650000000000000000000004')]}}, {$set: {'steps.$[e].done': true}, $push: {history: {$each: [{id: ObjectId('650000000000000000000004'), at: ISODate('2026-05-01T12:04:00.000Z'), by: 'kate', text: 'has read'}], $sort: {at: 1, id: 1}, $slice: -20}}}, {arrayFilters: [{'e.label': 'read'}]})
	//
	// School has 1 open task
	// Kate has: Write lesson plan; its history:
	// - 12:01 kate: added
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

// The cost of each action, the index of each query, and nothing left to repair.
func TestActions(t *testing.T) {
	monitor := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		tr, ctx := seed(t, db, 2500), t.Context()
		tomorrow := noon.AddDate(0, 0, 1)
		for _, action := range []struct {
			name string
			want model.Cost
			run  func() error
		}{
			{"add", model.Cost{Commands: 4, Written: 3, Returned: 1}, func() error { return tr.Add(ctx, lesson(), event(1, "kate", "added")) }},
			{"give", model.Cost{Commands: 5, Written: 3, Returned: 2}, func() error { return tr.Give(ctx, "lesson", "rod", event(2, "kate", "for Rod")) }},
			{"give to another", model.Cost{Commands: 6, Written: 4, Returned: 2}, func() error { return tr.Give(ctx, "lesson", "kate", event(3, "kate", "for Kate")) }},
			{"tick", model.Cost{Commands: 1, Written: 1}, func() error { return tr.Tick(ctx, "lesson", "write", event(4, "kate", "wrote")) }},
			{"plate", model.Cost{Commands: 1, Returned: 1}, func() error { _, err := tr.Plate(ctx, "kate"); return err }},
			{"due tomorrow", model.Cost{Commands: 1, Returned: 26}, func() error { _, err := tr.Due(ctx, tomorrow); return err }},
			{"steps due tomorrow", model.Cost{Commands: 1, Returned: 1}, func() error { _, err := tr.StepsDue(ctx, tomorrow); return err }},
			{"finish", model.Cost{Commands: 6, Written: 4, Returned: 2}, func() error { return tr.Finish(ctx, "lesson", event(5, "kate", "done")) }},
			{"project", model.Cost{Commands: 1, Returned: 1}, func() error { _, err := tr.Project(ctx, "school"); return err }},
			{"drop", model.Cost{Commands: 8, Written: 5, Returned: 3}, func() error { return tr.Drop(ctx, "lesson", event(6, "", "").ID) }},
		} {
			t.Run(action.name, func(t *testing.T) { modeltest.WantCost(t, monitor, action.want, action.run) })
		}
		if n, err := tr.Mend(ctx, time.Now(), 0); n != 0 || err != nil {
			t.Errorf("%d things to mend, %v", n, err)
		}
		modeltest.WantIndexed(t, db, onPlate("rod"), "owner.id_1__id_-1")
		modeltest.WantIndexed(t, db, due(tomorrow), "done_1_due_1")
		modeltest.WantIndexed(t, db, stepsDue(tomorrow), "steps.due_1")
	}, modeltest.WithMonitor(monitor))
}

// seed stores n tasks, due on a hundred days, each with its own project.
func seed(t *testing.T, db *mongo.Database, n int) Tracker {
	tr := Tracker{db}
	var all []Task
	for i := range n {
		all = append(all, Task{ID: fmt.Sprint("task ", i), Project: fmt.Sprint("project ", i), Due: noon.AddDate(0, 0, i%100)})
	}
	_, err := tasks.InsertMany(all).Run(t.Context(), db)
	if err := errors.Join(fill(t.Context(), tr), err); err != nil {
		t.Fatal(err)
	}
	return tr
}

// Errors are the tracker's and leave nothing.
func TestErrors(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		tr, ctx := seed(t, db, 0), t.Context()
		var links []bson.D
		for n := range plate {
			links = append(links, bson.D{{Key: "id", Value: fmt.Sprint("task ", n)}, {Key: "v", Value: int64(1)}, {Key: "op", Value: bson.ObjectID{1}}})
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
		if stored.Owner.Holds() || len(stored.History) != 1 || err != nil {
			t.Errorf("%+v, %v", stored, err)
		}
	})
}

// Four clients give one task to two people. In the end one person has the task, and
// nobody else lists it.
func TestGiveRace(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
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
		if n, err := tr.Mend(ctx, time.Now(), 0); n != 0 || err != nil {
			t.Errorf("%d things to mend, %v", n, err)
		}
		if all, err := people.Find(bson.D{{Key: "tasks.id", Value: "lesson"}}).All(ctx, db); len(all) != 1 || err != nil {
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
			if err := errors.Join(errTask, errRod, errKate, errSchool); err != nil || task.Owner.ID != "kate" || len(task.History) != 5 || !task.Steps[0].Done || task.Pending != nil ||
				len(rod.Tasks) != 0 || len(kate.Tasks) != 1 || school.Open != 0 {
				t.Errorf("%+v\n%+v\n%+v\n%+v\n%v", task, rod, kate, school, err)
			}
		},
	})
}
