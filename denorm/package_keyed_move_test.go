// These tests are of several packages of denorm: moves of older documents of all techniques whose _ids are made of keys.

package denorm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// keyedHide marks a document as deleted.
var keyedHide = bson.D{{Key: "$set", Value: bson.D{{Key: "deletedAt", Value: keyedTime}}}}

// Documents that the tenant's scope marked as deleted are moved, and keep the mark.
func TestKeyedMoveDeleted(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	hiding := func(db model.DB) model.DB {
		return model.Scope{Delete: bson.D{{Key: "deletedAt", Value: keyedTime}}}.On(keyedTenant(db, "a"))
	}
	for _, life := range keyedLives() {
		t.Run(life.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					ensureKeyed(t, db, life.of)
					life.live(t, keyedTenant(db, "a"), "a")
					_, err := db.Collection(life.in).UpdateOne(ctx, bson.D{}, keyedHide)
					return errors.Join(err, undoKeys(ctx, db))
				},
				Run: func(ctx context.Context, db *mongo.Database) error {
					_, err := model.MoveKeys(life.of, keyedMonths).Run(ctx, hiding(db), model.JobOptions{})
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) {
					for what, want := range map[string]struct {
						filter bson.D
						n      int64
					}{
						"with an old _id":  {bson.D{{Key: "_id.of", Value: bson.D{{Key: "$exists", Value: false}}}}, 0},
						"marked":           {bson.D{{Key: "deletedAt", Value: keyedTime}}, 1},
						"at all":           {bson.D{}, life.n},
						"not moved to end": {bson.D{{Key: "docmodelMoved", Value: true}}, 0},
					} {
						if n, err := db.Collection(life.in).
							CountDocuments(t.Context(), want.filter); err != nil || n != want.n {
							t.Errorf("%d documents %s, %v, want %d", n, what, err, want.n)
						}
					}
					show := bson.D{{Key: "$unset", Value: bson.D{{Key: "deletedAt", Value: ""}}}}
					if _, err := db.Collection(life.in).UpdateMany(t.Context(), bson.D{}, show); err != nil {
						t.Error(err)
					}
					wantSound(t, hiding(db), life.of)
				},
			})
		})
	}
}

// A deleted document isn't joined to one in use: both stay, and the job reports the older.
func TestKeyedDeletedNotJoined(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	for deleted, isNew := range map[string]bool{"old": false, "new": true} {
		t.Run(deleted, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				own := keyedTenant(db, "a")
				visit := model.NewPlan(keyedDays.Visit("site", "me", keyedTime))
				keyedRun(t, own, visit)
				if err := undoKeys(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				keyedRun(t, own, visit)
				which := bson.D{{Key: "_id.of", Value: bson.D{{Key: "$exists", Value: isNew}}}}
				if _, err := db.Collection("days").UpdateOne(t.Context(), which, keyedHide); err != nil {
					t.Fatal(err)
				}
				hiding := model.Scope{Delete: bson.D{{Key: "deletedAt", Value: keyedTime}}}.On(own)
				var left *model.LeftError
				_, err := model.MoveKeys(keyedDays).Run(t.Context(), hiding, model.JobOptions{})
				if !errors.As(err, &left) || len(left.Findings) != 1 ||
					model.Shell(left.Findings[0].ID) != "'site#2026-11-29#me'" {
					t.Errorf("the job: %v", err)
				}
				if n, err := db.Collection("days").CountDocuments(t.Context(), bson.D{}); err != nil || n != 2 {
					t.Errorf("%d documents, %v", n, err)
				}
			})
		})
	}
}

// A scope's Filter would hide documents from the job.
func TestKeyedMoveRefusesFilter(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	own := keyedTenant(mongotest.NewClient(t).Database("test"), "a")
	db := model.Scope{Filter: bson.D{{Key: "region", Value: "eu"}}}.On(own)
	var refused *model.ValueError
	_, err := model.MoveKeys(keyedMail).Run(t.Context(), db, model.JobOptions{})
	if !errors.As(err, &refused) || refused.Field != "db" {
		t.Errorf("under a Filter: %v", err)
	}
}
