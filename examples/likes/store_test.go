package main

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The likes follow a new name, and a user with likes can't be deleted.
func TestUsersOfLikes(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		l := Likes{db}
		if err := errors.Join(fill(ctx, db), l.Like(ctx, "u1", "i1", start, bson.NewObjectID()), l.Rename(ctx, "u1", "Jerry")); err != nil {
			t.Fatal(err)
		}
		by, err := l.By(ctx, "i1", "", 1)
		if err != nil || len(by) != 1 || by[0].Text != "Jerry" {
			t.Errorf("%v, %v", by, err)
		}
		var refused *model.ValueError
		if _, _, err := userStore.Delete("u1").Run(ctx, db); !errors.As(err, &refused) {
			t.Errorf("a user with likes is deleted: %v", err)
		}
		if _, _, err := model.NewStore(everything, items).Delete("i1").Run(ctx, db); !errors.As(err, &refused) {
			t.Errorf("an item with likes is deleted: %v", err)
		}
		if err := l.Unlike(ctx, "u1", "i1"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := userStore.Delete("u1").Run(ctx, db); err != nil {
			t.Error(err)
		}
		for f, err := range everything.Audit().Each(ctx, db) {
			t.Error(f, err)
		}
	})
}
