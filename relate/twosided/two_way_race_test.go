package twosided_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	bareDoc struct { // an owner, an item, or a peer
		ID    string   `bson:"_id"`
		Owner string   `bson:"owner,omitempty"`
		Items []string `bson:"items,omitempty"`
		Peers []string `bson:"peers,omitempty"`
	}
	bareOwner = bareDoc
	bareItem  = bareDoc
)

var (
	bareOwners = model.NewCollection[bareOwner, string]("owners")
	bareItems  = model.NewCollectionWith[bareItem, string]("items", model.CollectionOptions{StoreField: "kept"})

	bareWay    = twosided.NewTwoWay(bareOwners, "items", bareItems, "owner", twosided.TwoWaySpec{})
	boundedWay = twosided.NewTwoWay(bareOwners, "items", bareItems, "owner", twosided.TwoWaySpec{Max: 2})

	wayOwners, wayItems         = wayStores(bareWay)
	boundedOwners, boundedItems = wayStores(boundedWay)
)

type barePair = twosided.TwoWay[bareOwner, string, bareItem, string]

// wayStores returns the stores of both sides.
func wayStores(way *barePair) (owners, items *model.Store[bareDoc, string]) {
	m := model.New("way", way)
	return model.NewStore(m, bareOwners), model.NewStore(m, bareItems)
}

func wantNoHalfLinks[O, OK, I, IK any](t testing.TB, db *mongo.Database, way *twosided.TwoWay[O, OK, I, IK]) {
	t.Helper()
	testkit.WantNothingFound(t, db, way.Checks())
}

// A repair that is cut at any write and run again ends right.
func TestTwoWayRepairFaults(t *testing.T) {
	testkit.Parallel(t)
	for _, trust := range []bool{false, true} {
		t.Run(fmt.Sprint("trust ", trust), func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return testkit.Store(ctx, db, testkit.Docs{
						"owners": {lister("a", "lost", "free", "both"), lister("b", "both")},
						"items": {
							bareItem{ID: "free"}, bareItem{ID: "both", Owner: "b"}, bareItem{ID: "alone", Owner: "b"},
							bareItem{ID: "orphan", Owner: "z"},
						},
					})
				},
				Run:   testkit.MendedAll(trusting(trust).Checks()),
				Check: func(t testing.TB, db *mongo.Database) { wantNoHalfLinks(t, db, bareWay) },
			})
		})
	}
}

// A job mends what it has found twice, an age apart: what another client completes in between stays as it is.
func TestTwoWayMendWaits(t *testing.T) {
	testkit.Parallel(t)
	half := relation(bareItem{ID: "x", Owner: "b"}, ownerWithoutItems("a"), lister("b"))
	whole := relation(bareItem{ID: "x", Owner: "b"}, ownerWithoutItems("a"), lister("b", "x"))
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, half)
		done := make(chan error, 1)
		go func() {
			time.Sleep(100 * time.Millisecond)
			_, err := bareOwners.Update("b", bson.D{{
				Key: "$addToSet", Value: bson.D{{Key: "items", Value: "x"}},
			}}).Run(t.Context(), db)
			done <- err
		}()
		check := trusting(true).Checks()[1]
		if check.Age != time.Minute {
			t.Errorf("the age is %v", check.Age)
		}
		check.Age = time.Second
		p, err := check.Job().Run(t.Context(), db, model.JobOptions{})
		if err := errors.Join(err, <-done); err != nil || p.Writes != 0 {
			t.Errorf("a plan in flight was undone: %+v, %v", p, err)
		}
		testkit.WantDocsInAnyOrder(t, db, whole)
		testkit.SeedAlone(t, db, half)
		check = bareWay.Checks()[1]
		check.Age = 10 * time.Millisecond
		if p, err := check.Job().Run(t.Context(), db, model.JobOptions{}); err != nil || p.Writes != 1 {
			t.Errorf("want one half-link mended, got %+v, %v", p, err)
		}
		testkit.WantDocsInAnyOrder(t, db, whole)
	})
}

// A mend decides from the primary: to a secondary that lags, a whole link may still be half.
func TestMendDecidesAtThePrimary(t *testing.T) {
	faults := mongotest.NewFaults()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions) // a standalone has no secondaries
		for _, trust := range []bool{false, true} {
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
			faults.Lag(t, db, nil)
			whole := bson.D{{Key: "$set", Value: bson.D{{Key: "items", Value: []string{"x", "y"}}}}}
			if _, err := db.Collection("owners").UpdateByID(t.Context(), "a", whole); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Collection("items").
				UpdateByID(t.Context(), "y", bson.D{{
					Key: "$set", Value: bson.D{{Key: "owner", Value: "a"}},
				}}); err != nil {
				t.Fatal(err)
			}
			if planned, err := testkit.MendAll(t.Context(), db, trusting(trust).Checks()); err != nil || planned > 0 {
				t.Errorf("trusting %v: a mend of whole links wrote %d, %v", trust, planned, err)
			}
		}
	}, faults,
		mongotest.Settings{Client: options.Client().SetReadPreference(readpref.SecondaryPreferred())})
}

var _ model.Technique = bareWay
