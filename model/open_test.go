package model_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
)

// rolledBack matches the reads that could see what will be rolled back: all but those that wait for a majority.
func rolledBack(c mongotest.Command) bool {
	level, _ := c.Body.Lookup("readConcern", "level").StringValueOK()
	return c.Name == "find" && level != "majority" && level != "linearizable"
}

// A change that finds its token asks again for what can't be rolled back, and so does a write that finds itself done:
// neither calls applied what a primary without a majority has, and will lose.
func TestAppliedIsWhatAMajorityHas(t *testing.T) {
	type doc struct {
		ID      int32           `bson:"_id"`
		Version int64           `bson:"version"`
		Qty     int64           `bson:"qty"`
		Ops     []bson.ObjectID `bson:"ops,omitempty"`
	}
	parts := model.NewCollection[doc, int32]("parts")
	docs := embed.NewVersioned(parts, embed.VersionedSpec{Tokens: "ops"})
	store := model.NewStore(model.New("parts", docs), parts)
	op := bson.NewObjectID()
	faults := mongotest.NewFaults()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		faults.Reset()
		change, ctx := store.Edit(1, func(d *doc) error { d.Qty++; return nil }), model.WithToken(t.Context(), op)
		update := docs.Update(1, 1, d("$inc", d("qty", int64(1))), op)
		mustRun(t, db, model.NewPlan(parts.Insert(doc{ID: 1})))
		if first, _, err := change.Run(ctx, db); err != nil || first.Doc.Qty != 1 {
			t.Fatal(first.Doc, err)
		}
		faults.Lag(t, db, rolledBack) // a primary without a majority: reads find the token
		if _, err := db.Collection("parts").
			UpdateByID(t.Context(), 1,
				d("$set", d("version", int64(1), "qty", int64(0)), "$unset", d("ops", "", "_m", ""))); err != nil {
			t.Fatal(err)
		}
		_, result, err := change.Run(ctx, db)
		if err != nil || result.Modified() != 1 {
			t.Errorf("a change that was rolled back: %v, %v", result, err)
		}
		if _, result, err = change.Run(ctx, db); err != nil || result.Modified() != 0 {
			t.Errorf("a change that is there: %v, %v", result, err)
		}
		if _, err := db.Collection("parts").
			UpdateByID(t.Context(), 1, d("$set", d("version", int64(5)), "$unset", d("ops", ""))); err != nil {
			t.Fatal(err)
		}
		if result, err := update.Run(t.Context(), db); !errors.Is(err, model.ErrStale) {
			t.Errorf("a write that was rolled back: %v, %v", result, err)
		}
	}, faults)
}

// A change reads at the primary; a query of the user reads where the user says.
func TestChangesReadAtThePrimary(t *testing.T) {
	faults := mongotest.NewFaults()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions) // a standalone has no secondaries
		faults.Reset()
		mustRun(t, db, model.NewPlan(parts.Insert(part{1, "a", 1})))
		faults.Lag(t, db, nil)
		mustRun(t, db, model.NewPlan(parts.Update(1, d("$set", d("qty", 5)))))
		if got, err := parts.ByID(1).One(t.Context(), db); err != nil || got.Qty != 1 {
			t.Errorf("a query read %v, %v", got, err)
		}
		if got, _, err := addOne(1).Run(t.Context(), db); err != nil || got.Qty != 5 {
			t.Errorf("a change read %v, %v", got, err)
		}
		seen := int32(0)
		_, err := model.Job{
			Name: "look",
			Stages: []model.Stage{{Collection: "parts", Plan: func(docs []bson.Raw) (model.Plan, error) {
				seen = docs[0].Lookup("qty").Int32()
				return model.Plan{}, nil
			}}},
		}.Run(t.Context(), db, model.JobOptions{})
		if err != nil || seen != 6 {
			t.Errorf("a job read %d, %v", seen, err)
		}
	}, faults,
		mongotest.Settings{Client: options.Client().SetReadPreference(readpref.SecondaryPreferred())})
}
