package main

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/denorm/widerow"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type User struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
}

type Item struct {
	ID    string `bson:"_id"`
	Title string `bson:"title"`
}

var (
	users = model.NewCollection[User, string]("users")
	items = model.NewCollection[Item, string]("items")

	// Both directions are read often, newest first, with titles and names: a row of
	// columns for each user and item.
	likes = widerow.New(users, items, widerow.Spec{
		LeftRows: "itemsByUser", RightRows: "usersByItem", LeftCopies: []string{"name"}, RightCopies: []string{"title"},
	})

	everything = model.New("likes", likes)
	userStore  = model.NewStore(everything, users)
)

// Likes is the repository.
type Likes struct{ db *mongo.Database }

// A Liked is an entry of a page.
type Liked struct {
	ID, Text string // an item and its title, or a user and the name
	At       time.Time
	Key      string // begins the next page
}

// Prepare creates missing indexes.
func (l Likes) Prepare(ctx context.Context) error { return everything.Indexes().Ensure(ctx, l.db) }

// Like stores that a user likes an item since a time. op is bson.NewObjectID(), the same
// for a retry, which then has no second effect.
func (l Likes) Like(ctx context.Context, user, item string, at time.Time, op bson.ObjectID) error {
	_, err := likes.Link(user, item, at, op).Run(ctx, l.db)
	return err
}

// Unlike removes a like. A missing like is not an error.
func (l Likes) Unlike(ctx context.Context, user, item string) error {
	_, err := likes.Unlink(user, item).Run(ctx, l.db)
	return err
}

// Of returns n items that a user likes, newest first. after is the last entry's Key, or
// "" for the first page.
func (l Likes) Of(ctx context.Context, user, after string, n int64) ([]Liked, error) {
	return entries(ctx, l.db, likes.Left.Newest(user, after, n), "title")
}

// By returns n users who like an item, paged like Of.
func (l Likes) By(ctx context.Context, item, after string, n int64) ([]Liked, error) {
	return entries(ctx, l.db, likes.Right.Newest(item, after, n), "name")
}

func entries(ctx context.Context, db *mongo.Database, page *model.Aggregate[widerow.Column[string]], text string) ([]Liked, error) {
	columns, err := page.All(ctx, db)
	out := make([]Liked, 0, len(columns))
	for _, c := range columns {
		s, _ := c.Doc.Lookup(text).StringValueOK()
		out = append(out, Liked{ID: c.ID, Text: s, At: c.At, Key: c.Key})
	}
	return out, err
}

// Rename renames a user, also beside the items that the user likes.
func (l Likes) Rename(ctx context.Context, user, name string) error {
	_, _, err := userStore.Set(user, bson.D{{Key: "name", Value: name}}).Run(ctx, l.db)
	return err
}

// Mend completes half-written likes older than a minute. It returns the number of writes.
func (l Likes) Mend(ctx context.Context) (int, error) {
	done, err := likes.Checks()[0].Job().Run(ctx, l.db, model.JobOptions{})
	return int(done.Writes), err
}
