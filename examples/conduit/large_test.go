package main

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An article can be deleted even if more people like it than a store deletes favorites at
// once.
func TestDeleteLovedArticle(t *testing.T) {
	for _, way := range []string{"stores", "stores in transactions", "by hand"} {
		t.Run(way, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				ctx, repo := t.Context(), ways(t, db)[way]()
				if err := errors.Join(fill(ctx, repo), love(ctx, db, 1001)); err != nil {
					t.Fatal(err)
				}
				if err := repo.DeleteArticle(ctx, ann, "intro"); err != nil {
					t.Fatal(err)
				}
				left := documents(t, db)
				if len(left["favorites"]) > 0 || len(left["comments"]) > 0 || len(left["articles"]) != 1 {
					t.Errorf("%d favorites, %d comments and %d articles are left",
						len(left["favorites"]), len(left["comments"]), len(left["articles"]))
				}
			})
		})
	}
}

// love stores n favorites of an article.
func love(ctx context.Context, db *mongo.Database, n int) error {
	var all []Favorite
	for range n {
		user := bson.NewObjectID()
		all = append(all, Favorite{ID: pairOf(user, intro), User: user, Article: intro})
	}
	if _, err := db.Collection("favorites").InsertMany(ctx, all); err != nil {
		return err
	}
	counted := bson.D{{Key: "$inc", Value: bson.D{{Key: "favorites", Value: int64(n)}}}}
	_, err := db.Collection("articles").UpdateByID(ctx, intro, counted)
	return err
}
