package model_test

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// An upsert whose guard fails meets a duplicate of its own _id, which its reason explains; a duplicate key of another
// index is none.
func TestDuplicateOfUpsert(t *testing.T) {
	why := errors.New("it is full")
	yes := true
	upsert := func(set bson.D) model.Write {
		return model.Write{Collection: "parts", Expect: model.One, Reasons: []model.Reason{{If: d("_id", 1), Err: why}},
			Model: &mongo.UpdateOneModel{Filter: d("_id", 1, "n", d("$lt", 3)), Update: d("$set", set), Upsert: &yes}}
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		for _, c := range []struct {
			n            int32
			email, index string
		}{{5, "free", model.IDIndex}, {1, "taken", "email_1"}} {
			if err := db.Collection("parts").Drop(ctx); err != nil {
				t.Fatal(err)
			}
			email := mongo.IndexModel{Keys: d("email", 1), Options: options.Index().SetUnique(true)}
			if _, err := db.Collection("parts").Indexes().CreateOne(ctx, email); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Collection("parts").
				InsertMany(ctx, []any{d("_id", 1, "n", c.n), d("_id", 2, "email", "taken")}); err != nil {
				t.Fatal(err)
			}
			_, err := upsert(d("email", c.email)).Run(ctx, db)
			if own := c.index == model.IDIndex; errors.Is(err, why) != own || mongo.IsDuplicateKeyError(err) == own ||
				!own && model.DuplicateIndex(err) != c.index {
				t.Errorf("%+v: %v, index %q", c, err, model.DuplicateIndex(err))
			}
		}
	})
}
