package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Two concurrent actions in transactions leave right counts, right copies, and no document
// that refers to a deleted one. The code by hand gives the same guarantees.
func TestRaces(t *testing.T) {
	rename := func(ctx context.Context, r Repository) error {
		_, err := r.UpdateUser(ctx, ann, bson.D{{Key: "username", Value: "anna"}})
		return err
	}
	post := func(ctx context.Context, r Repository) error {
		_, err := r.Post(ctx, draft(id(13), ann, "news"))
		return err
	}
	comment := func(ctx context.Context, r Repository) error {
		_, err := r.AddComment(ctx, "intro", remark(3, ann, noon.Add(time.Hour)))
		return err
	}
	remove := func(ctx context.Context, r Repository) error { return r.DeleteArticle(ctx, ann, "intro") }
	favorite := func(user bson.ObjectID, on bool) write {
		return func(ctx context.Context, r Repository) error {
			_, err := r.Favorite(ctx, user, "intro", on)
			return err
		}
	}
	for name, pair := range map[string][2]write{
		"rename and post":           {rename, post},
		"rename and comment":        {rename, comment},
		"comment and delete":        {comment, remove},
		"favorite and delete":       {favorite(cid, true), remove},
		"favorite and favorite":     {favorite(cid, true), favorite(cid, true)},
		"favorite and unfavorite":   {favorite(ann, true), favorite(ann, false)},
		"unfavorite and unfavorite": {favorite(ann, false), favorite(ann, false)},
		"favorites of two":          {favorite(cid, true), favorite(id(4), true)},
		"unfavorite and delete":     {favorite(ann, false), remove},
		"delete and delete":         {remove, remove},
	} {
		for way, open := range map[string]opening{"stores": openStores, "by hand": openByHand} {
			t.Run(name+", "+way, func(t *testing.T) { interleave(t, open, pair) })
		}
	}
}

// A write is an action without its result.
type write func(ctx context.Context, r Repository) error

func interleave(t *testing.T, open opening, pair [2]write) {
	run := func(action write) func(ctx context.Context, db *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			repo, err := open(ctx, db)
			if err == nil {
				err = action(ctx, repo)
			}
			return err
		}
	}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Transactions: true, Nested: true,
		Seed: run(fill), A: run(pair[0]), B: run(pair[1]),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			var taken *TakenError
			for _, err := range []error{errA, errB} {
				if err != nil && !errors.Is(err, ErrNoArticle) && !errors.As(err, &taken) {
					t.Error(err)
				}
			}
			wantSound(t, db)
		},
	})
}
