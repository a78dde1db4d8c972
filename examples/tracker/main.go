// Tracker stores people, projects and tasks: who has a task, from both ends; a project's
// number of open tasks; checklists and histories within tasks; what is due tomorrow. It
// runs on an embedded engine, or on the server of MONGODB_URI, which must have transactions.
// The repository needs none: its tests run on both.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func main() { connect.Main("tracker", tour) }

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// event returns the n-th event, in the n-th minute. Its ID replaces bson.NewObjectID(),
// so that the output is the same each time.
func event(n int, by, text string) Event {
	return Event{bson.ObjectID{0: 0x65, 11: byte(n)}, noon.Add(time.Duration(n) * time.Minute), by, text}
}

// lesson is a task due tomorrow, with one step due tomorrow and one later.
func lesson() Task {
	tomorrow := noon.AddDate(0, 0, 1)
	return Task{ID: "lesson", Title: "Write lesson plan", Project: "school", Due: tomorrow, Steps: []Step{{Label: "read", Due: tomorrow}, {Label: "write", Due: tomorrow.AddDate(0, 0, 1)}}}
}

func fill(ctx context.Context, t Tracker) error {
	_, err := model.Concat(
		people.InsertMany([]Person{{ID: "kate", Name: "Kate Monster"}, {ID: "rod", Name: "Rod"}}), projects.InsertMany([]Project{{ID: "school", Name: "School"}}),
	).Run(ctx, t.db)
	return errors.Join(t.Prepare(ctx), err)
}

func tour(ctx context.Context, w io.Writer, db *mongo.Database) error {
	tx, err := model.WithTransactions(ctx, db)
	if err != nil {
		return err
	}
	t := Tracker{tx}
	if err := fill(ctx, t); err != nil {
		return err
	}
	fmt.Fprint(w, everything.Indexes())
	if err := errors.Join(
		t.Add(ctx, lesson(), event(1, "kate", "added")),
		t.Add(ctx, Task{ID: "books", Title: "Order books", Project: "school", Due: noon}, event(2, "kate", "added")),
	); err != nil {
		return err
	}
	if err := connect.Show(ctx, w, tx, "give a task to somebody", give("lesson", "kate", event(3, "rod", "for Kate"))); err != nil {
		return err
	}
	fmt.Fprintf(w, "\ntick a step off:\n%s\n", tick("lesson", "read", event(4, "kate", "has read")))
	if err := errors.Join(
		t.Give(ctx, "lesson", "rod", event(5, "kate", "for Rod")),
		t.Give(ctx, "lesson", "kate", event(6, "rod", "for Kate")),
		t.Give(ctx, "books", "kate", event(7, "rod", "for Kate")),
		t.Finish(ctx, "books", event(8, "kate", "done")),
	); err != nil {
		return err
	}
	project, errProject := t.Project(ctx, "school")
	onPlate, errPlate := t.Plate(ctx, "kate")
	tomorrow := noon.AddDate(0, 0, 1)
	found, errDue := t.Due(ctx, tomorrow)
	parts, errSteps := t.StepsDue(ctx, tomorrow)
	if err := errors.Join(errProject, errPlate, errDue, errSteps); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s has %d open task\n", project.Name, project.Open)
	for _, task := range onPlate {
		fmt.Fprintf(w, "Kate has: %s; its history:\n", task.Title)
		for _, e := range task.History {
			fmt.Fprintln(w, "-", e.At.Format("15:04"), e.By+":", e.Text)
		}
	}
	fmt.Fprintf(w, "\ntasks that are due tomorrow, by an index:\n%s\n", due(tomorrow))
	for _, task := range found {
		fmt.Fprintln(w, "-", task.Title)
	}
	fmt.Fprintf(w, "\nsteps that are due tomorrow, out of whole tasks:\n%s\n", stepsDue(tomorrow))
	for _, part := range parts {
		fmt.Fprintln(w, "-", part.Element.Label, "of", part.Parent)
	}
	return nil
}
