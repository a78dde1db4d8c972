package mongotest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testserver"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Need ends the test t if the function probe returns an error. The function tries a
// feature of the server, and must leave nothing behind. On the real server of [Each],
// Need skips the test, with the message "server lacks: " plus feature. Elsewhere the test
// fails.
func Need(t testing.TB, db *mongo.Database, feature string, probe func(ctx context.Context, db *mongo.Database) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	err := probe(ctx, db)
	switch {
	case err == nil:
	case testserver.IsOnServer(t):
		t.Skip(testserver.Lacks + feature)
	default:
		t.Fatalf("mongotest: the test needs %s, and is not on a server that may lack it: %v", feature, err)
	}
}

// NeedTransactions skips or fails the test if the server has no transactions: see [Need].
// A member of a replica set and a mongos have transactions.
func NeedTransactions(t testing.TB, db *mongo.Database) {
	t.Helper()
	Need(t, db, "transactions", testserver.CheckReplicated)
}

// NeedChangeStreams skips or fails the test if the server can't open a change stream: see
// [Need].
func NeedChangeStreams(t testing.TB, db *mongo.Database) {
	t.Helper()
	Need(t, db, "change streams", func(ctx context.Context, db *mongo.Database) error {
		stream, err := db.Watch(ctx, mongo.Pipeline{})
		if err != nil {
			return err
		}
		return stream.Close(ctx)
	})
}

// NeedValidators ends the test if the server doesn't enforce a validator set by collMod.
// [Need] says whether the test is skipped or fails.
func NeedValidators(t testing.TB, db *mongo.Database) {
	t.Helper()
	Need(t, db, "enforced validators", func(ctx context.Context, db *mongo.Database) error {
		const name = "needvalidators"
		if err := db.CreateCollection(ctx, name); err != nil {
			return err
		}
		enforce := bson.D{{Key: "collMod", Value: name}, {Key: "validator", Value: bson.D{{Key: "n", Value: 1}}}}
		err := db.RunCommand(ctx, enforce).Err()
		if err == nil {
			_, err = db.Collection(name).InsertOne(ctx, bson.D{{Key: "n", Value: 2}})
		}
		if drop := db.Collection(name).Drop(ctx); drop != nil {
			return drop
		}
		var refusal mongo.WriteException
		switch {
		case err == nil:
			return errors.New("a document that the validator refuses was stored")
		case errors.As(err, &refusal) && len(refusal.WriteErrors) == 1:
			return nil
		}
		return err
	})
}
