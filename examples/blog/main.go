// Blog stores posts with their newest comments, all comments, discussions, authors,
// unique addresses and approximate view counts. It runs on an embedded engine, or on the
// server of MONGODB_URI, which must have transactions.
package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func main() { connect.Main("blog", tour) }

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// id replaces bson.NewObjectID(), so that the output is the same each time.
func id(n int) bson.ObjectID { return bson.ObjectID{0: 0x65, 10: byte(n >> 8), 11: byte(n)} }

// post returns the first post.
func post() Post {
	return Post{ID: id(1), Slug: "hello", Title: "Hello", Text: "We begin.", At: noon, Authors: []string{"ann", "bob"}}
}

// nth returns the n-th comment. Each comment is a minute later than the one before.
func nth(n int) Comment {
	return Comment{ID: id(100 + n), Post: id(1), At: noon.Add(time.Duration(n) * time.Minute), By: "anon", Text: fmt.Sprint("comment ", n)}
}

func fill(ctx context.Context, b Blog) error {
	if err := b.Prepare(ctx); err != nil {
		return err
	}
	all := []Author{{ID: "ann", Name: "Ann"}, {ID: "bob", Name: "Bob"}, {ID: "cat", Name: "Cat"}}
	_, _, err := authorStore.InsertMany(all...).Run(ctx, b.db)
	return err
}

func tour(ctx context.Context, w io.Writer, db *mongo.Database) error {
	b, err := New(ctx, db)
	if err != nil {
		return err
	}
	if err := fill(ctx, b); err != nil {
		return err
	}
	fmt.Fprint(w, everything.Indexes())
	if err := connect.Show(model.WithToken(ctx, id(1)), w, b.db, "publish a post", publish(post())); err != nil {
		return err
	}
	if err := connect.Show(ctx, w, b.db, "comment on it", comment(nth(1))); err != nil {
		return err
	}
	answer := reply(id(101), Reply{ID: id(7), By: "bob", Text: "Thanks"})
	fmt.Fprintf(w, "\nreply to that:\n%s\n%s - atomic\n", answer, answer.Cost())
	if _, err := answer.Run(ctx, b.db); err != nil {
		return err
	}
	for n := 2; n <= 8; n++ {
		if err := b.Comment(ctx, nth(n)); err != nil {
			return err
		}
	}
	seven := id(7)
	if err := b.Reply(ctx, id(101), Reply{ID: id(8), Parent: &seven, By: "anon", Text: "You're welcome"}); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nThe post:")
	p, err := b.Show(ctx, "hello")
	if err != nil {
		return err
	}
	for _, c := range p.Recent {
		fmt.Fprintln(w, "-", c.Text)
	}
	more, err := b.Comments(ctx, p, nil)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "and", len(more), "more, the first of them with the replies:")
	for v, err := range Discussion(more[len(more)-1]) {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s %s: %s\n", strings.Repeat("-", v.Depth+1), v.Doc.By, v.Doc.Text)
	}
	other := Post{ID: id(2), Slug: "hello", Authors: []string{"cat"}}
	fmt.Fprintln(w, "\nAnother of its name:", b.Publish(ctx, other))
	fmt.Fprintln(w, "Bob leaves:", b.Leave(ctx, "bob"))
	fmt.Fprintln(w, "The post goes:", b.Withdraw(ctx, "hello"))
	left, err := comments.Find(nil).Count(ctx, db)
	fmt.Fprintln(w, left, "comments are left, and Bob leaves:", b.Leave(ctx, "bob"))
	return err
}
