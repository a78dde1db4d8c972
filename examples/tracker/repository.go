package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Errors for errors.Is.
var (
	ErrNoTask   = errors.New("tracker: there is no such task")
	ErrNoStep   = errors.New("tracker: the task has no such step")
	ErrNoPerson = errors.New("tracker: there is no such person")
	ErrBusy     = errors.New("tracker: the person has too many tasks")
	ErrExists   = errors.New("tracker: there is another task of this name")
)

// Tracker is the repository. Its database is plain, or of model.WithTransactions. After a
// crash, run the action again with the same event: it has effect once.
type Tracker struct{ db model.DB }

// Prepare creates missing indexes.
func (t Tracker) Prepare(ctx context.Context) error {
	return everything.Indexes().Ensure(ctx, t.db)
}

// Add stores a project's task, without an owner. The project counts it. On a database of
// model.WithTransactions, a second run gives ErrExists.
func (t Tracker) Add(ctx context.Context, task Task, e Event) error {
	task.History = []Event{e}
	_, _, err := taskStore.Insert(task).Run(model.WithToken(ctx, e.ID), t.db)
	if mongo.IsDuplicateKeyError(err) { // in a transaction
		return fmt.Errorf("%w: %w", ErrExists, err)
	}
	return said(err, model.ErrTaken, ErrExists)
}

// Give gives a task to a person, and takes it from its owner.
func (t Tracker) Give(ctx context.Context, task, person string, e Event) error {
	_, _, err := give(task, person, e).Run(model.WithToken(ctx, e.ID), t.db)
	if errors.Is(err, model.ErrNotFound) {
		if n, errPerson := people.ByID(person).Count(ctx, t.db); errPerson != nil || n == 0 {
			return cmp.Or(errPerson, ErrNoPerson)
		}
	}
	return said(err, model.ErrFull, ErrBusy, model.ErrNotFound, ErrNoTask)
}

func give(task, person string, e Event) model.ChangeOf[model.Stored[Task]] {
	return changeTask(task, e, func(t *Task) { t.Owner = person })
}

// changeTask changes a task and adds an event to its history, in one write. A task that has the
// event stays.
func changeTask(task string, e Event, edit func(t *Task)) model.ChangeOf[model.Stored[Task]] {
	return taskStore.Edit(task, func(t *Task) error {
		if slices.ContainsFunc(t.History, func(h Event) bool { return h.ID == e.ID }) {
			return nil
		}
		edit(t)
		t.History = append(t.History, e)
		slices.SortStableFunc(t.History, func(a, b Event) int { return a.At.Compare(b.At) })
		t.History = t.History[max(0, len(t.History)-remembered):]
		return nil
	})
}

// Tick marks a step as done and adds to the history: two techniques, one write.
func (t Tracker) Tick(ctx context.Context, task, step string, e Event) error {
	_, err := tick(task, step, e).Run(ctx, t.db)
	return said(err, embed.ErrNoElement, ErrNoStep, model.ErrNotFound, ErrNoTask)
}

func tick(task, step string, e Event) model.Write {
	done, said := steps.Update(task, step, bson.D{{Key: "$set", Value: bson.D{{Key: "done", Value: true}}}}), history.Push(task, e)
	w := model.Merge(done, said)
	w.Done, w.Reasons = said.Done, done.Reasons // the event says that it was done before, the step's reasons why it can't be done
	return w
}

// Finish closes a task. Its project no longer counts it.
func (t Tracker) Finish(ctx context.Context, task string, e Event) error {
	_, _, err := changeTask(task, e, func(t *Task) { t.Done = true }).Run(model.WithToken(ctx, e.ID), t.db)
	return said(err, model.ErrNotFound, ErrNoTask)
}

// Drop deletes a task, and removes it from its owner's list and its project's count. A
// missing task is not an error.
func (t Tracker) Drop(ctx context.Context, task string, op bson.ObjectID) error {
	_, _, err := taskStore.Delete(task).Run(model.WithToken(ctx, op), t.db)
	if errors.Is(err, model.ErrNotFound) {
		return nil
	}
	return err
}

// Project returns a project with its number of open tasks: one document.
func (t Tracker) Project(ctx context.Context, id string) (Project, error) {
	return projects.ByID(id).One(ctx, t.db)
}

// Plate returns a person's open tasks.
func (t Tracker) Plate(ctx context.Context, person string) ([]Task, error) {
	return onPlate(person).All(ctx, t.db)
}

func onPlate(person string) *model.Find[Task] {
	return work.Left.Others(person).Where(bson.D{{Key: "done", Value: false}})
}

// Due returns the open tasks of all people due on a day, earliest first. It reads a range
// of an index.
func (t Tracker) Due(ctx context.Context, day time.Time) ([]Task, error) {
	return due(day).All(ctx, t.db)
}

func due(day time.Time) *model.Find[Task] {
	return tasks.Find(append(bson.D{{Key: "done", Value: false}}, on(day)...)).Sorted(bson.D{{Key: "due", Value: 1}})
}

// StepsDue returns the open steps due on a day, and shows the cost of embedding. The
// server reads each matching task with its history, unwinds the steps and sorts them in
// memory. If this query were frequent, steps should be documents.
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

// Mend finishes actions that crashed, and repairs what other programs wrote. action is the
// longest time that an action takes. It returns the number of writes.
func (t Tracker) Mend(ctx context.Context, action time.Duration) (int, error) {
	audit := everything.Audit()
	for i := range audit.Checks {
		audit.Checks[i].Age = action
	}
	done, err := audit.Job().Run(ctx, t.db, model.JobOptions{})
	return int(done.Writes), err
}

// said wraps a technique's error in the tracker's error. pairs alternate the technique's
// and the tracker's errors.
func said(err error, pairs ...error) error {
	for i := 0; i < len(pairs); i += 2 {
		if errors.Is(err, pairs[i]) {
			return fmt.Errorf("%w: %w", pairs[i+1], err)
		}
	}
	return err
}
