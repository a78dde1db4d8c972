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

// A Feature of a server, for [Need]: [Transactions], [ChangeStreams], [Validators], or your
// own.
type Feature struct {
	Name string

	// Probe returns an error if the server lacks the feature. It must leave nothing
	// behind.
	Probe func(ctx context.Context, db *mongo.Database) error
}

// Need ends the test t if the server lacks a feature. On the real server of [Each], Need
// skips the test, with the message "server lacks: " plus the feature's name. Elsewhere the
// test fails.
func Need(t testing.TB, db *mongo.Database, feature Feature) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	err := feature.Probe(ctx, db)
	switch {
	case err == nil:
	case testserver.IsOnServer(t):
		t.Skip(testserver.Lacks + feature.Name)
	default:
		t.Fatalf("mongotest: the test needs %s, and is not on a server that may lack it: %v", feature.Name, err)
	}
}

var (
	// Transactions are a [Feature] of replica sets and sharded clusters.
	Transactions = Feature{Name: "transactions", Probe: testserver.CheckReplicated}

	// ChangeStreams are a [Feature] of replica sets and sharded clusters.
	ChangeStreams = Feature{Name: "change streams", Probe: openChangeStream}

	// Validators are the [Feature] that the server enforces a validator set by collMod.
	Validators = Feature{Name: "enforced validators", Probe: breakValidator}
)

// openChangeStream is the probe of ChangeStreams.
func openChangeStream(ctx context.Context, db *mongo.Database) error {
	stream, err := db.Watch(ctx, mongo.Pipeline{})
	if err != nil {
		return err
	}
	return stream.Close(ctx)
}

// breakValidator is the probe of Validators: it inserts a document that a validator refuses.
func breakValidator(ctx context.Context, db *mongo.Database) error {
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
}
