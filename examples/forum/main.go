// Forum shows five techniques on the same documents: a reference, a rule for deletions, a copy, a counter and a versioned
// document. Stores write them together.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type Author struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
}

// Thread is a page of the forum.
type Thread struct {
	ID       string `bson:"_id"`
	Title    string `bson:"title"`
	Messages int64  `bson:"messages"` // how many
	Version  int64  `bson:"version"`  // an editor sends it back
}

type Message struct {
	ID     bson.ObjectID `bson:"_id"`
	Thread string        `bson:"thread"`
	Author AuthorRef     `bson:"author"`
	Text   string        `bson:"text"`
}

type AuthorRef struct {
	ID   string `bson:"id"`
	Name string `bson:"name"`
}

var (
	authors  = model.NewCollection[Author, string]("authors")
	threads  = model.NewCollection[Thread, string]("threads")
	messages = model.NewCollection[Message, bson.ObjectID]("messages")

	// 1. A reference: a message belongs to a thread, which must exist.
	inThread = parentref.New(messages, "thread", threads, parentref.Spec{MustExist: true})

	// 2. A rule for deletions: a thread's messages are deleted with it.
	deletion = ondelete.New(threads, ondelete.Spec{Cascade: []relate.Referrer{inThread}})

	// 3. A copy: a message shows its author's name.
	names = copies.New(authors, messages, copies.Spec{
		KeyPath: "author.id", Fields: []copies.Field{{From: "name", To: "author.name"}},
	})

	// 4. A counter: a thread knows how many messages it has.
	counts = counter.New(messages, "thread", threads, counter.Spec{Count: "messages"})

	// 5. A versioned document: two editors can't overwrite each other's title.
	titles = embed.NewVersioned(threads, embed.VersionedSpec{Uncounted: []string{"messages"}})

	// The model compares the five. It panics here if two of them conflict. Its stores write.
	forum        = model.New("forum", inThread, deletion, names, counts, titles)
	authorStore  = model.NewStore(forum, authors)
	threadStore  = model.NewStore(forum, threads)
	messageStore = model.NewStore(forum, messages)
)

func main() {
	client, stop := mongotest.Start()
	defer stop()
	ctx := context.Background()
	db, err := model.WithTransactions(ctx, forum.On(client.Database("forum")))
	check(err)
	check(forum.Indexes().Ensure(ctx, db))

	_, _, err = authorStore.Insert(Author{ID: "ada", Name: "Ada"}).Run(ctx, db)
	check(err)
	first, _, err := threadStore.Insert(Thread{ID: "go", Title: "Go"}).Run(ctx, db)
	check(err)
	for _, text := range []string{"hello", "a question", "an answer"} {
		m := Message{ID: bson.NewObjectID(), Thread: "go", Author: AuthorRef{ID: "ada"}, Text: text}
		_, _, err := messageStore.Insert(m).Run(ctx, db)
		check(err)
	}
	_, _, err = messageStore.Insert(Message{ID: bson.NewObjectID(), Thread: "rust", Author: AuthorRef{ID: "ada"}}).Run(ctx, db)
	fmt.Println("no thread:", errors.Is(err, model.ErrNotFound))

	// The author's new name reaches all messages.
	_, _, err = authorStore.Set("ada", bson.D{{Key: "name", Value: "Ada L."}}).Run(ctx, db)
	check(err)

	// Both editors read the first version, which is gone when one of them has written.
	for _, title := range []string{"Go 1.25", "Golang"} {
		_, _, err = threadStore.Set("go", bson.D{{Key: "title", Value: title}, {Key: "version", Value: first.Doc.Version}}).Run(ctx, db)
		fmt.Println(title, "is stale:", errors.Is(err, embed.ErrVersion))
	}

	thread, err := threads.ByID("go").One(ctx, db)
	check(err)
	fmt.Println(thread.Title, thread.Messages)
	all, err := inThread.Children("go").All(ctx, db)
	check(err)
	fmt.Println(all[0].Author.Name, all[0].Text)

	_, _, err = threadStore.Delete("go").Run(ctx, db)
	check(err)
	all, err = inThread.Children("go").All(ctx, db)
	fmt.Println(len(all), err)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
