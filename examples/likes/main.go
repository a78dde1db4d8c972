// Likes stores which user likes which item, for reading from both ends in time order,
// with names and titles, one command per page. It runs on an embedded engine, or on the
// server of MONGODB_URI.
package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func main() { connect.Main("likes", tour) }

var start = time.Date(2017, 12, 1, 3, 42, 0, 0, time.UTC)

func fill(ctx context.Context, db *mongo.Database) error {
	if err := (Likes{db}).Prepare(ctx); err != nil {
		return err
	}
	_, err := model.Concat(
		users.InsertMany([]User{{"u1", "jerrylou"}, {"u2", "gunsluo"}}), items.InsertMany([]Item{{"i1", "mac pro"}, {"i2", "ipad"}}),
	).Run(ctx, db)
	return err
}

func tour(ctx context.Context, w io.Writer, db *mongo.Database) error {
	if err := fill(ctx, db); err != nil {
		return err
	}
	l := Likes{db}
	for n, like := range [][2]string{{"u1", "i1"}, {"u1", "i2"}, {"u2", "i1"}} {
		if err := l.Like(ctx, like[0], like[1], start.Add(time.Duration(n)*time.Hour), bson.NewObjectID()); err != nil {
			return err
		}
	}
	if err := l.Rename(ctx, "u1", "Jerry Lou"); err != nil {
		return err
	}
	of, errOf := l.Of(ctx, "u1", "", 10)
	by, errBy := l.By(ctx, "i1", "", 10)
	for _, list := range [][]Liked{of, by} {
		for _, entry := range list {
			fmt.Fprintln(w, entry.At.Format(time.Kitchen), entry.ID, entry.Text)
		}
		fmt.Fprintln(w)
	}
	if errOf != nil {
		return errOf
	}
	return errBy
}
