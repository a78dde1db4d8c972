// Logs stores hosts and their messages: each message as a document that names its host,
// the last thousand in the host too, the host's address in each message, and an archive
// for old messages. It runs on an embedded engine, or on the server of MONGODB_URI.
package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func main() { connect.Main("logs", tour) }

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// message returns a host's n-th message. Each message is a minute later than the one
// before.
func message(host string, n int) Message {
	return Message{ID: bson.ObjectID{0: 0x65, 10: byte(n >> 8), 11: byte(n)}, At: noon.Add(time.Duration(n) * time.Minute), Text: fmt.Sprint("message ", n), Host: HostRef{ID: host}}
}

func tour(ctx context.Context, w io.Writer, db *mongo.Database) error {
	l := Logs{db}
	if err := l.Prepare(ctx); err != nil {
		return err
	}
	if _, _, err := hostStore.Insert(Host{ID: "goofy", Name: "goofy.example.com", IP: "10.0.0.1"}).Run(ctx, db); err != nil {
		return err
	}
	fmt.Fprint(w, everything.Indexes())
	first := message("goofy", 0)
	if err := connect.Show(ctx, w, db, "a message", messageStore.Insert(first)); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nthe host shows it:\n%s\n\n", showMessage(first))
	for n := range 120 {
		if err := l.Write(ctx, message("goofy", n)); err != nil {
			return err
		}
	}
	host, err := l.Show(ctx, "goofy", 2)
	if err != nil {
		return err
	}
	for _, line := range host.Latest {
		fmt.Fprintln(w, "-", line.Text)
	}
	var last *Message
	for range 3 {
		messages, err := l.Page(ctx, "goofy", last)
		if err != nil {
			return err
		}
		last = &messages[len(messages)-1]
		fmt.Fprintln(w, len(messages), "messages, down to", last.Text)
	}
	if err := l.Renumber(ctx, "goofy", "10.0.0.2"); err != nil {
		return err
	}
	moved, err := l.Nightly(ctx, noon.Add(30*24*time.Hour+time.Hour))
	fmt.Fprintln(w, moved.Documents, "messages are archived")
	return err
}
