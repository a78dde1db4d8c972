package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What a caller may ask for by errors.Is.
var (
	ErrNoTask   = errors.New("tracker: there is no such task")
	ErrNoStep   = errors.New("tracker: the task has no such step")
	ErrNoPerson = errors.New("tracker: there is no such person")
	ErrBusy     = errors.New("tracker: the person has too many tasks")
	ErrExists   = errors.New("tracker: there is another task of this name")
)

// Tracker is what the rest of a program sees. None of its actions needs a transaction: each can be run again after a crash,
// with the same event, and then is done once.
type Tracker struct{ db *mongo.Database }

// Prepare makes the indexes that are missing.
func (t Tracker) Prepare(ctx context.Context) error {
	return everything.Indexes().Ensure(ctx, t.db)
}

// Add stores a task of a project, which counts it. Nobody owns it yet.
func (t Tracker) Add(ctx context.Context, task Task, e Event) error {
	task.History = []Event{e}
	_, _, err := open.Insert(task, e.ID).Run(ctx, t.db)
	return said(err, model.ErrTaken, ErrExists)
}

// Give gives a task to a person, and takes it from the one who has it. Where many others do so at the same time, it can be
// model.ErrStale: then nothing was done.
func (t Tracker) Give(ctx context.Context, task, person string, e Event) error {
	_, _, err := give(task, person, e).Run(ctx, t.db)
	return said(err, model.ErrFull, ErrBusy, model.ErrNotFound, ErrNoTask)
}

// give reads the task anew when somebody else gave it away in between.
func give(task, person string, e Event) model.Change[Task] {
	return model.Change[Task]{
		Read: func(ctx context.Context, db model.DB) (Task, error) {
			if n, err := people.ByID(person).Count(ctx, db); err != nil || n == 0 {
				return Task{}, cmp.Or(err, ErrNoPerson)
			}
			return tasks.ByID(task).One(ctx, db)
		},
		Decide: func(t Task) (model.Plan, error) {
			return model.Concat(work.Assign(&t, person, e.ID), model.NewPlan(history.Push(task, e))), nil
		},
	}
}

// Tick marks a step as done, and says so in the history: two techniques, one write.
func (t Tracker) Tick(ctx context.Context, task, step string, e Event) error {
	_, err := tick(task, step, e).Run(ctx, t.db)
	return said(err, embed.ErrNoElement, ErrNoStep, model.ErrNotFound, ErrNoTask)
}

func tick(task, step string, e Event) model.Write {
	done, said := steps.Update(task, step, bson.D{{Key: "$set", Value: bson.D{{Key: "done", Value: true}}}}), history.Push(task, e)
	w := model.Merge(done, said)
	w.Done, w.Reasons = said.Done, done.Reasons // the event tells that it was done before, and the step's reasons why it can't be
	return w
}

// Finish closes a task, which its project then counts no longer.
func (t Tracker) Finish(ctx context.Context, task string, e Event) error {
	if _, _, err := open.Set(task, bson.D{{Key: "done", Value: true}}, e.ID).Run(ctx, t.db); err != nil {
		return said(err, model.ErrNotFound, ErrNoTask)
	}
	_, err := history.Push(task, e).Run(ctx, t.db)
	return said(err, model.ErrNotFound, ErrNoTask)
}

// Drop deletes a task: its owner lists it no longer, and its project doesn't count it. What is gone already is no error.
func (t Tracker) Drop(ctx context.Context, task string, op bson.ObjectID) error {
	_, _, err := model.Change[Task]{
		Read:   func(ctx context.Context, db model.DB) (Task, error) { return tasks.ByID(task).One(ctx, db) },
		Decide: func(t Task) (model.Plan, error) { return work.Unassign(&t, op), nil },
	}.Run(ctx, t.db)
	if errors.Is(err, model.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	_, _, err = open.Delete(task, op).Run(ctx, t.db)
	return err
}

// Project returns a project, with how many of its tasks are open: one document.
func (t Tracker) Project(ctx context.Context, id string) (Project, error) {
	return projects.ByID(id).One(ctx, t.db)
}

// Plate returns a person's open tasks.
func (t Tracker) Plate(ctx context.Context, person string) ([]Task, error) {
	return onPlate(person).All(ctx, t.db)
}

func onPlate(person string) *model.Find[Task] {
	return work.Left().Others(person).Where(bson.D{{Key: "done", Value: false}})
}

// Due returns the open tasks that are due on a day, whoever has them, the first first: a range of an index.
func (t Tracker) Due(ctx context.Context, day time.Time) ([]Task, error) {
	return due(day).All(ctx, t.db)
}

func due(day time.Time) *model.Find[Task] {
	return tasks.Find(append(bson.D{{Key: "done", Value: false}}, on(day)...)).Sorted(bson.D{{Key: "due", Value: 1}})
}

// StepsDue is the same question of what is embedded, and shows its price: the server reads each task that has such a step
// whole, with its history, takes its steps apart, and sorts them in memory. Were it asked often, steps would be documents,
// as tasks are.
func (t Tracker) StepsDue(ctx context.Context, day time.Time) ([]embed.ElementOf[string, Step], error) {
	return stepsDue(day).All(ctx, t.db)
}

func stepsDue(day time.Time) *model.Aggregate[embed.ElementOf[string, Step]] {
	return steps.Elements(append(bson.D{{Key: "done", Value: false}}, on(day)...), bson.D{{Key: "due", Value: 1}})
}

func on(day time.Time) bson.D {
	from := day.Truncate(24 * time.Hour)
	return bson.D{{Key: "due", Value: bson.D{{Key: "$gte", Value: from}, {Key: "$lt", Value: from.Add(24 * time.Hour)}}}}
}

// Mend finishes what processes that died began before a time, action being the longest that an action takes. It returns how
// much it was.
func (t Tracker) Mend(ctx context.Context, before time.Time, action time.Duration) (int, error) {
	n := 0
	for _, check := range work.Checks() {
		check.Age = action
		done, err := check.Job().Run(ctx, t.db, model.JobOptions{})
		if err != nil {
			return n, err
		}
		n += int(done.Writes)
	}
	cut, err := open.Pending(before).All(ctx, t.db)
	if err != nil {
		return 0, err
	}
	for _, task := range cut {
		if _, _, err := open.Settle(task.ID).Run(ctx, t.db); err != nil {
			return 0, err
		}
	}
	check := open.Checks()[0]
	wrong, err := check.All(ctx, t.db)
	if err != nil {
		return 0, err
	}
	_, err = check.Mend(wrong).Run(ctx, t.db)
	return n + len(cut) + len(wrong), err
}

// said is an error in the words of the tracker, around what a technique said: pairs are of the technique's and the tracker's.
func said(err error, pairs ...error) error {
	for i := 0; i < len(pairs); i += 2 {
		if errors.Is(err, pairs[i]) {
			return fmt.Errorf("%w: %w", pairs[i+1], err)
		}
	}
	return err
}
