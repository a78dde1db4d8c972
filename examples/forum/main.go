// Forum shows five techniques on the same documents: a reference, a copy, a counter, a bounded list and a versioned
// document.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type Author struct {
	ID      string `bson:"_id"`
	Name    string `bson:"name"`
	Version int64  `bson:"version"` // grows when the name changes
}

// Thread is a page of the forum, which one read shows.
type Thread struct {
	ID       string          `bson:"_id"`
	Title    string          `bson:"title"`
	Version  int64           `bson:"version"`          // grows when the title changes
	Messages int64           `bson:"messages"`         // how many
	Ops      []bson.ObjectID `bson:"ops,omitempty"`    // the latest operations that changed Messages
	Latest   []string        `bson:"latest,omitempty"` // the latest two texts
}

type Message struct {
	ID      bson.ObjectID          `bson:"_id"`
	Thread  string                 `bson:"thread"`
	Author  AuthorRef              `bson:"author"`
	Text    string                 `bson:"text"`
	Pending *denorm.CounterPending `bson:"pending,omitempty"` // set while the thread is being updated
}

type AuthorRef struct {
	ID      string `bson:"id"`
	Name    string `bson:"name"`
	Version int64  `bson:"version"`
}

var (
	authors  = model.NewCollection[Author, string]("authors")
	threads  = model.NewCollection[Thread, string]("threads")
	messages = model.NewCollection[Message, bson.ObjectID]("messages")

	// 1. A reference: a message belongs to a thread.
	inThread = relate.NewParentRef(messages, "thread", threads, relate.ParentRefSpec{})

	// 2. A copy: a message shows its author's name.
	names = denorm.NewCopy(authors, messages, denorm.CopySpec{
		KeyPath: "author.id", Fields: []denorm.Field{{From: "name", To: "author.name"}},
		Version: "version", VersionTo: "author.version",
	})

	// 3. A counter: a thread knows how many messages it has.
	counts = denorm.NewCounter(messages, "thread", threads, denorm.CounterSpec{
		Count: "messages", Tokens: "ops", Pending: "pending",
	})

	// 4. A bounded list: a thread shows its latest two texts.
	latest = denorm.NewBounded(threads, "latest", denorm.BoundedSpec{Max: 2})

	// 5. A versioned document: two editors can't overwrite each other's title.
	titles = embed.NewVersioned(threads, embed.VersionedSpec{Uncounted: []string{"messages", "ops", "latest"}})

	// The model compares the five. It panics here if two of them conflict.
	forum = model.New("forum", inThread, names, counts, latest, titles)
)

// post stores a message, counts it and shows its text. op makes a retry a no-op.
func post(ctx context.Context, db model.DB, thread string, by *Author, text string, op bson.ObjectID) error {
	m := Message{ID: op, Thread: thread, Author: AuthorRef{by.ID, by.Name, by.Version}, Text: text}
	_, _, err := counts.Insert(m, op).Run(ctx, db)
	if err != nil {
		return err
	}
	_, err = latest.Push(thread, text).Run(ctx, db)
	return err
}

func main() {
	client, stop := modeltest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("forum")
	check(forum.Indexes().Ensure(ctx, db))

	ada := Author{ID: "ada", Name: "Ada", Version: 1}
	_, err := model.NewPlan(authors.Insert(ada), threads.Insert(Thread{ID: "go", Title: "Go", Version: 1})).Run(ctx, db)
	check(err)
	for _, text := range []string{"hello", "a question", "an answer"} {
		check(post(ctx, db, "go", &ada, text, bson.NewObjectID()))
	}

	// The author's new name reaches all messages.
	rename := names.Set(&ada, bson.D{{Key: "name", Value: "Ada L."}})
	fmt.Println(rename)
	fmt.Println(rename.Cost(), "-", rename.Guarantee())
	_, err = rename.Run(ctx, db)
	check(err)

	// The second editor read version 1, which is gone when the first editor has written.
	title := func(s string) bson.D { return bson.D{{Key: "$set", Value: bson.D{{Key: "title", Value: s}}}} }
	_, first := titles.Update("go", 1, title("Go 1.25"), bson.NilObjectID).Run(ctx, db)
	_, second := titles.Update("go", 1, title("Golang"), bson.NilObjectID).Run(ctx, db)
	fmt.Println(first, "|", second)

	thread, err := threads.ByID("go").One(ctx, db)
	check(err)
	fmt.Println(thread.Title, thread.Messages, thread.Latest)
	all, err := inThread.Children("go").All(ctx, db)
	check(err)
	fmt.Println(all[0].Author.Name, all[0].Text)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
