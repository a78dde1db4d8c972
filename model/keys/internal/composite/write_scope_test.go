package composite_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// town has a field that a scope sets in each write.
type town struct {
	ID    string `bson:"_id"`
	State string `bson:"state"`
	City  string `bson:"city"`
	Name  string `bson:"name"`
	At    int64  `bson:"at"`
}

var (
	towns  = keys.NewComposite(model.NewCollection[town, string]("towns"), keys.Text("state"), keys.Text("city"))
	townAt atomic.Int64
)

// stamping is a database whose scope sets the time of each request.
func stamping(db *mongo.Database) model.DB {
	return model.Scope{Set: bson.D{{Key: "at", Value: townAt.Add(1)}}}.On(db)
}

// Under a scope that sets a field in each write, a document that changed meanwhile is left alone, and the copy under
// the new key is taken back, although the scope changed it.
func TestCompositeStampedCopy(t *testing.T) {
	san := town{State: "CA", City: "San", Name: "San", At: 1}
	san.ID, _ = towns.Key(&san)
	old := san
	old.ID = "old"
	away := towns.Move(&san, town{State: "NV", City: "Reno", Name: "San", At: 1})
	away.Options.AllowPartial = true
	set := bson.D{{Key: "name", Value: "Ojai"}}
	t.Run("rekey", func(t *testing.T) {
		movedBeside(t, "towns", old.ID, old, set, nil, func(ctx context.Context, db *mongo.Database) error {
			_, err := towns.Rekey().Run(ctx, stamping(db), model.JobOptions{})
			return err
		})
	})
	t.Run("move", func(t *testing.T) {
		movedBeside(t, "towns", san.ID, san, set, model.ErrStale, func(ctx context.Context, db *mongo.Database) error {
			_, err := away.Run(ctx, stamping(db))
			return err
		})
	})
}

// A move within a key that was applied is recognized at a later time.
func TestCompositeStampedRetry(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		san := town{State: "CA", City: "San", Name: "San", At: 1}
		san.ID, _ = towns.Key(&san)
		compositeStore(t, db, "towns", []any{san})
		now := san
		now.Name = "Santa"
		plan := towns.Move(&san, now)
		for range 2 {
			if _, err := plan.Run(t.Context(), stamping(db)); err != nil {
				t.Error(err)
			}
		}
		got, err := towns.Prefix("CA").All(t.Context(), db)
		if err != nil || len(got) != 1 || got[0].Name != "Santa" || got[0].At <= 1 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
