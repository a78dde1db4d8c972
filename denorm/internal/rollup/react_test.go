package rollup_test

import (
	"errors"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A store marks new events for Roll, and refuses what would make the bins wrong.
func TestRollupStore(t *testing.T) {
	parallel(t)
	stored := model.NewStore(model.New("hits", rolled), hits)
	monitor := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		createIndexes(ctx, db, rolled)
		for _, h := range five {
			if _, _, err := stored.Insert(h).Run(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := stored.Insert(hit{ID: "x", Site: "a"}).Run(ctx, db)
		var value *model.ValueError
		if !errors.As(err, &value) || value.Field != "at" {
			t.Errorf("an event without a time: %v", err)
		}
		monitor.Reset()
		if _, _, err := stored.Delete(five[0].ID).Run(ctx, db); !errors.Is(err, model.ErrStale) {
			t.Errorf("a waiting event: %v", err)
		}
		if sent := len(monitor.Commands()); sent > 2 { // no attempt is repeated: the event waits until Roll runs
			t.Errorf("a refused deletion sent %d commands", sent)
		}
		if _, err := rolled.Roll().Run(ctx, db, model.JobOptions{}); err != nil {
			t.Fatal(err)
		}
		for f, err := range model.New("hits", rolled).Audit().Each(ctx, db) {
			t.Errorf("the audit finds %s (%v)", f, err)
		}
		_, _, err = stored.Set(five[0].ID, bson.D{e("at", night.Add(time.Minute))}).Run(ctx, db)
		if value = nil; !errors.As(err, &value) || value.Field != "at" {
			t.Errorf("another time: %v", err)
		}
		if _, _, err := stored.Delete(five[0].ID).Run(ctx, db); err != nil {
			t.Error(err)
		}
	}, modeltest.WithMonitor(monitor))
}
