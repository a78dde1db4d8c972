package copies_test

import (
	"testing"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A copied field that a scope sets has the value before the write, as model.Scope says, until a refresh.
func TestCopyStamped(t *testing.T) {
	type maker struct {
		ID   string `bson:"_id"`
		Name string `bson:"name"`
		At   int    `bson:"at"`
	}
	type toy struct {
		ID    string `bson:"_id"`
		Maker maker  `bson:"maker"`
	}
	makers, toys := model.NewCollection[maker, string]("makers"), model.NewCollection[toy, string]("toys")
	of := copies.New(makers, toys, copies.Spec{
		KeyPath: "maker._id",
		Fields:  []copies.Field{{From: "name", To: "maker.name"}, {From: "at", To: "maker.at"}},
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		m := maker{ID: "m", Name: "Mo", At: 1}
		if _, err := model.NewPlan(makers.Insert(m), toys.Insert(toy{ID: "t", Maker: m})).
			Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		copied := func() int {
			t.Helper()
			got, err := toys.ByID("t").One(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			return got.Maker.At
		}
		later := model.Scope{Set: bson.D{{Key: "at", Value: 2}}}.On(db)
		if _, _, err := model.NewStore(model.New("toys", of), makers).Set("m", bson.D{{Key: "name", Value: "Ma"}}).
			Run(t.Context(), later); err != nil {
			t.Fatal(err)
		}
		if at := copied(); at != 1 {
			t.Errorf("after Set: %d", at)
		}
		if found, err := of.Checks()[0].All(t.Context(), db); err != nil || len(found) != 1 {
			t.Errorf("the check finds %v, %v", found, err)
		}
		if _, _, err := of.Refresh("m").Run(t.Context(), db); err != nil || copied() != 2 {
			t.Errorf("after Refresh: %d, %v", copied(), err)
		}
	})
}
