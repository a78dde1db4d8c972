package main

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Host contains its last messages, for its page.
type Host struct {
	ID     string `bson:"_id"`
	Name   string `bson:"name"`
	IP     string `bson:"ip"`
	Latest []Line `bson:"latest,omitempty"`
}

// A Line is the copy of a message in its host.
type Line struct {
	ID   bson.ObjectID `bson:"id"`
	At   time.Time     `bson:"at"`
	Text string        `bson:"text"`
}

// A Message names its host, which has a very large number of messages, and contains the
// host's address. Readers of a log need one collection.
type Message struct {
	ID   bson.ObjectID `bson:"_id"`
	At   time.Time     `bson:"at"`
	Text string        `bson:"text"`
	Host HostRef       `bson:"host"`
}

// A HostRef is the copy of a host in its messages.
type HostRef struct {
	ID string `bson:"id"`
	IP string `bson:"ip"`
}

const shown = 1000 // messages in a host

var (
	hosts    = model.NewCollection[Host, string]("hosts")
	messages = model.NewCollection[Message, bson.ObjectID]("messages")

	ofHost    = parentref.New(messages, "host.id", hosts, parentref.Spec{By: "at"})
	latest    = bounded.New(hosts, "latest", bounded.Spec{Max: shown, Key: "id", By: bson.D{{Key: "at", Value: 1}}})
	addresses = copies.New(hosts, messages, copies.Spec{KeyPath: "host.id", Fields: []copies.Field{{From: "ip", To: "host.ip"}}})
	tiers     = schema.NewExpiry(messages, "at", schema.ExpirySpec{After: 30 * 24 * time.Hour, Archive: "messagesArchive", ArchiveFor: 365 * 24 * time.Hour})

	everything   = model.New("logs", ofHost, latest, addresses, tiers)
	hostStore    = model.NewStore(everything, hosts)
	messageStore = model.NewStore(everything, messages)
)

// Logs is the repository.
type Logs struct{ db model.DB }

// Prepare creates missing indexes.
func (l Logs) Prepare(ctx context.Context) error {
	return everything.Indexes().Ensure(ctx, l.db)
}

// Write stores a message with its host's address, and shows it in its host. A crash between
// these writes leaves a message that the host doesn't show. A retry shows it.
func (l Logs) Write(ctx context.Context, m Message) error {
	if _, _, err := messageStore.Insert(m).Run(ctx, l.db); err != nil {
		return err
	}
	_, err := showMessage(m).Run(ctx, l.db)
	return err
}

func showMessage(m Message) model.Write { return latest.Push(m.Host.ID, Line{m.ID, m.At, m.Text}) }

// Page returns a page of a host's messages, newest first, before last; nil is the first
// page.
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

// Show returns a host with its last n messages, in one command.
func (l Logs) Show(ctx context.Context, host string, n int) (Host, error) {
	return latest.Slice(host, -n).One(ctx, l.db)
}

// Renumber changes the address of a host, also in all its messages.
func (l Logs) Renumber(ctx context.Context, host, ip string) error {
	_, _, err := hostStore.Set(host, bson.D{{Key: "ip", Value: ip}}).Run(ctx, l.db)
	return err
}

// Nightly archives messages older than 30 days, in batches. It can be stopped and run
// again.
func (l Logs) Nightly(ctx context.Context, now time.Time) (model.Progress, error) {
	return tiers.Archive(now).Run(ctx, l.db, model.JobOptions{})
}
