package main

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Host holds its last messages, for the page that shows it.
type Host struct {
	ID     string `bson:"_id"`
	Name   string `bson:"name"`
	IP     string `bson:"ip"`
	Latest []Line `bson:"latest,omitempty"`
}

// A Line is a message as its host shows it.
type Line struct {
	ID   bson.ObjectID `bson:"id"`
	At   time.Time     `bson:"at"`
	Text string        `bson:"text"`
}

// A Message names its host, of which there are squillions of messages, and shows its address: who reads a log reads one collection.
type Message struct {
	ID   bson.ObjectID `bson:"_id"`
	At   time.Time     `bson:"at"`
	Text string        `bson:"text"`
	Host HostRef       `bson:"host"`
}

// A HostRef is a host as its messages show it.
type HostRef struct {
	ID string `bson:"id"`
	IP string `bson:"ip"`
}

const shown = 1000 // messages that a host holds

var (
	hosts    = model.NewCollection[Host, string]("hosts")
	messages = model.NewCollection[Message, bson.ObjectID]("messages")

	ofHost    = relate.NewParentRef(messages, "host.id", hosts, relate.ParentRefSpec{By: "at"})
	latest    = denorm.NewBounded(hosts, "latest", denorm.BoundedSpec{Max: shown, Key: "id", By: bson.D{{Key: "at", Value: 1}}})
	addresses = denorm.NewCopy(hosts, messages, denorm.CopySpec{KeyPath: "host.id", Fields: []denorm.Field{{From: "ip", To: "host.ip"}}})
	tiers     = schema.NewExpiry(messages, "at", schema.ExpirySpec{After: 30 * 24 * time.Hour, Archive: "messagesArchive", ArchiveFor: 365 * 24 * time.Hour})

	everything = model.New("logs", ofHost, latest, addresses, tiers)
)

// Logs is what the rest of a program sees.
type Logs struct{ db *mongo.Database }

// Prepare makes the indexes that are missing.
func (l Logs) Prepare(ctx context.Context) error {
	return everything.Indexes().Ensure(ctx, l.db)
}

// Write stores a message and shows it with its host. The message comes first: cut there, it is in the log, and the host doesn't show it.
func (l Logs) Write(ctx context.Context, m Message) error {
	_, err := write(m).Run(ctx, l.db)
	return err
}

func write(m Message) model.Plan {
	plan := model.NewPlan(messages.Insert(m), latest.Push(m.Host.ID, Line{m.ID, m.At, m.Text}))
	plan.Leaves = "a message that its host doesn't show"
	return plan
}

// Page returns a page of a host's messages, the newest first: before the last one that was shown, or nil for the first page.
func (l Logs) Page(ctx context.Context, host string, last *Message) ([]Message, error) {
	return page(host, last).All(ctx, l.db)
}

func page(host string, last *Message) *model.Find[Message] {
	f := ofHost.Children(host).Limited(50)
	if last != nil {
		f = f.After(last.At, last.ID)
	}
	return f
}

// Show returns a host with its last n messages, in one command, without reading the log.
func (l Logs) Show(ctx context.Context, host string, n int) (Host, error) {
	return latest.Slice(host, -n).One(ctx, l.db)
}

// Renumber gives a host, as it was read, another address, which its messages show too: in two commands, however many there are.
func (l Logs) Renumber(ctx context.Context, h Host, ip string) error {
	_, err := addresses.Set(&h, bson.D{{Key: "ip", Value: ip}}).Run(ctx, l.db)
	return err
}

// Nightly moves what is older than 30 days into the archive, in batches; it may be stopped anywhere, and run again.
func (l Logs) Nightly(ctx context.Context, now time.Time) (model.Progress, error) {
	return tiers.Archive(now).Run(ctx, l.db, model.JobOptions{})
}
