package relate_test

import (
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// A mend decides from the primary: to a secondary that lags, a whole link may still be half.
func TestMendDecidesAtThePrimary(t *testing.T) {
	faults := modeltest.NewFaults()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		modeltest.NeedTransactions(t, db) // a standalone has no secondaries
		for _, trust := range []relate.Side{relate.TrustRefs, relate.TrustLists} {
			faults.Reset()
			for _, name := range []string{"owners", "items"} {
				if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
					t.Fatal(err)
				}
			}
			insert := func(collection string, doc any) {
				t.Helper()
				if _, err := db.Collection(collection).InsertOne(t.Context(), doc); err != nil {
					t.Fatal(err)
				}
			}
			insert("items", bareItem{ID: "x", Owner: "a"})
			insert("items", bareItem{ID: "y"})
			insert("owners", lister("a", "y"))
			faults.Lag(t, db)
			whole := bson.D{{Key: "$set", Value: bson.D{{Key: "items", Value: []string{"x", "y"}}}}}
			if _, err := db.Collection("owners").UpdateByID(t.Context(), "a", whole); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Collection("items").UpdateByID(t.Context(), "y", bson.D{{Key: "$set", Value: bson.D{{Key: "owner", Value: "a"}}}}); err != nil {
				t.Fatal(err)
			}
			if planned, err := mendAll(t.Context(), db, trusting(trust).Checks()); err != nil || planned > 0 {
				t.Errorf("trusting %v: a mend of whole links wrote %d, %v", trust, planned, err)
			}
		}
	}, modeltest.WithFaults(faults), modeltest.WithClientOptions(options.Client().SetReadPreference(readpref.SecondaryPreferred())))
}

var _ model.Technique = bareWay
