package rollup_test

import (
	"errors"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A store marks new events for Roll, and refuses what would make the bins wrong.
func TestRollupStore(t *testing.T) {
	testkit.Parallel(t)
	stored := model.NewStore(model.New("hits", rolled), hits)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		testkit.CreateIndexes(ctx, db, rolled)
		for _, h := range five {
			if _, _, err := stored.Insert(h).Run(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		var passed *model.ConflictError
		if _, err := hits.Insert(hitOf("x", "a", 0, 1)).
			Run(ctx, model.New("hits", rolled).On(db)); !errors.As(err, &passed) {
			t.Errorf("an event that no store marks: %v", err)
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
		if _, r, err := stored.Insert(five[0]).Run(ctx, db); err != nil || !r.Already() {
			t.Errorf("a retry of a counted event: %v, %v", r, err)
		}
		if _, _, err := stored.Insert(hitOf(five[0].ID, "a", 0, 11)).Run(ctx, db); !errors.Is(err, model.ErrTaken) {
			t.Errorf("another event of a counted event's _id: %v", err)
		}
		_, _, err = stored.Set(five[0].ID, bson.D{testkit.E("at", night.Add(time.Minute))}).Run(ctx, db)
		if value = nil; !errors.As(err, &value) || value.Field != "at" {
			t.Errorf("another time: %v", err)
		}
		if _, _, err := stored.Delete(five[0].ID).Run(ctx, db); err != nil {
			t.Error(err)
		}
	}, monitor)
}

// An event is inserted by one command, without a transaction. A retry of a transaction that
// insertHits it finds it, also after Roll has removed the mark.
func TestRollupStoreTransactions(t *testing.T) {
	testkit.Parallel(t)
	stored := model.NewStore(model.New("hits", rolled), hits)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		ctx := t.Context()
		testkit.CreateIndexes(ctx, db, rolled)
		tx, err := model.WithTransactions(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		monitor.Reset()
		if _, _, err := stored.Insert(five[0]).Run(ctx, tx); err != nil {
			t.Fatal(err)
		}
		if sent := monitor.Commands(); len(sent) != 1 || sent[0].Name != "insert" {
			t.Errorf("an insert sent %v", sent)
		}
		day := model.NewCollection[bson.D, string]("days").Insert(bson.D{testkit.E("_id", "today")})
		both := stored.Insert(five[1]).Also(day)
		for run := range 2 {
			if _, err := both.Run(ctx, tx); err != nil {
				t.Errorf("run %d: %v", run+1, err)
			}
			if err := rolledUp(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		wantBins(t, db, rolled, dutchTime, five[:2]...)
	}, monitor)
}
