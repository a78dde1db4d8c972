package engine_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// TestChangeReplay has many write at a time, also in transactions, and rebuilds
// the collection from the events.
func TestChangeReplay(t *testing.T) {
	c := collection(t)
	copied := c.Database().Client().Database("copy").Collection("things")
	cs := watch(t, c, quick())
	var wait sync.WaitGroup
	for w := range 8 {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 3))
			for range 40 {
				if err := randomWrite(rng, c); err != nil && !mongo.IsDuplicateKeyError(err) {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	n := 0
	for tryNext(cs) {
		n++
		var e struct {
			OperationType     string
			DocumentKey       bson.D `bson:"documentKey"`
			FullDocument      bson.D `bson:"fullDocument"`
			UpdateDescription struct {
				UpdatedFields   bson.D   `bson:"updatedFields"`
				RemovedFields   []string `bson:"removedFields"`
				TruncatedArrays []any    `bson:"truncatedArrays"`
			} `bson:"updateDescription"`
		}
		if err := cs.Decode(&e); err != nil {
			t.Fatal(err)
		}
		if err := replay(copied, e.OperationType, e.DocumentKey, e.FullDocument,
			e.UpdateDescription.UpdatedFields); err != nil {
			t.Fatalf("%s: %v", cs.Current, err)
		}
	}
	if cs.Err() != nil || n < 100 {
		t.Fatalf("%d events, %v", n, cs.Err())
	}
	byID := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}})
	cur, err := c.Find(ctx, bson.D{}, byID)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for cur.Next(ctx) {
		want = append(want, show(t, cur.Current))
	}
	wantFound(t, copied, `{}`, byID, want...)
}

func randomWrite(rng *rand.Rand, c *mongo.Collection) error {
	key := bson.D{{Key: "_id", Value: rng.IntN(10)}}
	inc := bson.D{
		{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}},
		{Key: "$push", Value: bson.D{{Key: "a", Value: rng.IntN(9)}}},
	}
	var err error
	switch rng.IntN(6) {
	case 0:
		_, err = c.DeleteOne(ctx, key)
	case 1:
		_, err = c.ReplaceOne(ctx, key, bson.D{{Key: "n", Value: 0}}, options.Replace().SetUpsert(true))
	case 2:
		_, err = c.UpdateMany(ctx, bson.D{}, inc)
	case 3:
		var s *mongo.Session
		if s, err = c.Database().Client().StartSession(); err != nil {
			return err
		}
		defer s.EndSession(ctx)
		_, err = s.WithTransaction(ctx, func(ctx context.Context) (any, error) {
			if _, err := c.UpdateOne(ctx, key, inc); err != nil {
				return nil, err
			}
			return c.UpdateOne(ctx, bson.D{{Key: "_id", Value: rng.IntN(10)}}, inc)
		})
	default:
		_, err = c.UpdateOne(ctx, key, inc, options.UpdateOne().SetUpsert(true))
	}
	return err
}

func replay(c *mongo.Collection, kind string, key, full, updated bson.D) error {
	var err error
	switch kind {
	case "insert":
		_, err = c.InsertOne(ctx, full)
	case "replace":
		_, err = c.ReplaceOne(ctx, key, full)
	case "update":
		_, err = c.UpdateOne(ctx, key, bson.D{{Key: "$set", Value: updated}})
	case "delete":
		_, err = c.DeleteOne(ctx, key)
	}
	return err
}
