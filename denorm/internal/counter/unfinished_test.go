package counter_test

import (
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An operation that was cut is found by a check, by the index on what is under way. The check's job finishes it when it is old, and
// leaves one that another writer may be at.
func TestCounterUnfinished(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		if err := exec(ctx, db, houses.InsertMany([]house{{ID: "a"}, {ID: "b"}})); err != nil {
			t.Fatal(err)
		}
		mustCount(t, db, fully.Insert(volumeOf("1", "a", 10), token(1)), fully.Insert(volumeOf("2", "a", 20), token(2)))
		old := bson.NewObjectIDFromTimestamp(time.Now().Add(-time.Hour))
		if err := counterCut(ctx, db, fully.Move("1", "b", old), 1); err != nil {
			t.Fatal(err)
		}
		if err := counterCut(ctx, db, fully.Delete("2", bson.NewObjectID()), 2); err != nil {
			t.Fatal(err)
		}
		check := fully.Checks()[2]
		found, err := check.All(ctx, db)
		if err != nil || len(found) != 2 || found[0].ID.StringValue() != "1" || !found[0].Since.Equal(old.Timestamp()) {
			t.Fatalf("%v, %v", found, err)
		}
		if p, err := check.Job().Run(ctx, db, model.JobOptions{}); err != nil || p.Modified == 0 {
			t.Errorf("%+v, %v", p, err)
		}
		if found, err := check.All(ctx, db); err != nil || len(found) != 1 || found[0].ID.StringValue() != "2" {
			t.Errorf("left %v, %v", found, err)
		}
		check.Age = 0
		if p, err := check.Job().Run(ctx, db, model.JobOptions{}); err != nil || p.Modified == 0 {
			t.Errorf("%+v, %v", p, err)
		}
		if found, err := check.All(ctx, db); err != nil || len(found) > 0 {
			t.Errorf("left %v, %v", found, err)
		}
		wantAgreed(t, db, fully)
	})
}

// A counter without tokens marks nothing, and has no such check.
func TestCounterUnfinishedWithout(t *testing.T) {
	if n := len(denorm.NewCounter(volumes, "house", houses, denorm.CounterSpec{Count: "volumes"}).Checks()); n != 2 {
		t.Errorf("%d checks", n)
	}
}
