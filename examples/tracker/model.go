package main

import (
	"time"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Person lists its tasks, and a Task names its owner. Each page reads one document.
type Person struct {
	ID    string   `bson:"_id"`
	Name  string   `bson:"name"`
	Tasks []string `bson:"tasks,omitempty"`
}

// A Project has the number of its open tasks.
type Project struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
	Open int64  `bson:"open"`
}

// A Task is a document, because queries ask for tasks (all due tomorrow). Its steps and
// history are embedded, because they are read with the task.
type Task struct {
	ID      string    `bson:"_id"`
	Title   string    `bson:"title"`
	Project string    `bson:"project"`
	Owner   string    `bson:"owner,omitempty"` // a Person
	Due     time.Time `bson:"due"`
	Done    bool      `bson:"done"`
	Steps   []Step    `bson:"steps,omitempty"`
	History []Event   `bson:"history,omitempty"` // the latest
}

// A Step is a line of a checklist, identified by its label.
type Step struct {
	Label string    `bson:"label"`
	Due   time.Time `bson:"due"`
	Done  bool      `bson:"done"`
}

// An Event is an action on a task. Its ID is the action's token: bson.NewObjectID(), the
// same for a retry.
type Event struct {
	ID   bson.ObjectID `bson:"id"`
	At   time.Time     `bson:"at"`
	By   string        `bson:"by"`
	Text string        `bson:"text"`
}

const (
	plate      = 100 // tasks of a person
	checklist  = 50  // steps of a task
	remembered = 20  // events of a task
)

var (
	people   = model.NewCollection[Person, string]("people")
	projects = model.NewCollection[Project, string]("projects")
	tasks    = model.NewCollection[Task, string]("tasks")

	// If two clients give a task to two people, one wins, and both lists are right.
	work    = twosided.NewTwoWay(people, "tasks", tasks, "owner", twosided.TwoWaySpec{Max: plate})
	open    = counter.New(tasks, "project", projects, counter.Spec{Count: "open", Where: bson.D{{Key: "done", Value: false}}})
	steps   = embed.NewEmbedded[Step](tasks, "steps", embed.EmbeddedSpec{Key: "label", Max: checklist, Indexes: []bson.D{{{Key: "due", Value: 1}}}})
	history = bounded.New(tasks, "history", bounded.Spec{Max: remembered, Key: "id", By: bson.D{{Key: "at", Value: 1}, {Key: "id", Value: 1}}})

	everything = model.New("tracker", work, open, steps, history, byDue)
	taskStore  = model.NewStore(everything, tasks)
)

// byDue is the index of our own query.
var byDue = model.Entity(tasks, model.NewIndex(tasks.Name(), bson.D{{Key: "done", Value: 1}, {Key: "due", Value: 1}}))
