package main

import (
	"context"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Each action alone, interrupted and run again with its token, and beside each other one.
func TestVerify(t *testing.T) {
	op := func(n byte, name string, run func(ctx context.Context, r Repository) error) modeltest.VerifyOperation {
		return modeltest.VerifyOperation{
			Name: name, Refused: []error{ErrNoArticle, ErrNoUser, ErrNoComment},
			Run: func(ctx context.Context, db model.DB) error {
				return run(model.WithToken(ctx, id(n)), repository{db})
			},
		}
	}
	const book = "the store's tokens, in the order of the actions"
	modeltest.Verify(t, conduit, modeltest.VerifyCase{
		Max:  4, // TestRaces has more orders of some of these
		Seed: func(ctx context.Context, db model.DB) error { return fill(ctx, repository{db}) },
		Ignore: map[string]string{
			"users._m": book, "articles._m": book, "comments._m": book, "favorites._m": book, "follows._m": book,
		},
		Operations: []modeltest.VerifyOperation{
			op(101, "register", func(ctx context.Context, r Repository) error {
				return r.Register(ctx, person(cid, "cid"))
			}),
			op(102, "rename", func(ctx context.Context, r Repository) error {
				_, err := r.UpdateUser(ctx, ann, bson.D{{Key: "username", Value: "anna"}})
				return err
			}),
			op(103, "post", func(ctx context.Context, r Repository) error {
				_, err := r.Post(ctx, draft(id(13), ann, "news"))
				return err
			}),
			op(105, "favorite", func(ctx context.Context, r Repository) error {
				_, err := r.Favorite(ctx, cid, "intro", true)
				return err
			}),
			op(106, "unfavorite", func(ctx context.Context, r Repository) error {
				_, err := r.Favorite(ctx, bob, "intro", false)
				return err
			}),
			op(108, "comment", func(ctx context.Context, r Repository) error {
				_, err := r.AddComment(ctx, "intro", remark(3, bob, noon.Add(time.Hour)))
				return err
			}),
			op(109, "delete comment", func(ctx context.Context, r Repository) error {
				return r.DeleteComment(ctx, ann, "intro", 1)
			}),
			op(110, "delete", func(ctx context.Context, r Repository) error {
				return r.DeleteArticle(ctx, ann, "intro")
			}),
		},
	})
}
