package mongotest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A standalone server refuses transactions and change streams. Other writes work, without the
// driver's retries.
func TestStandalone(t *testing.T) {
	ctx := t.Context()
	client := mongotest.NewClient(t, mongotest.Settings{Standalone: true})
	db := client.Database("x")
	if _, err := db.Collection("a").InsertOne(ctx, bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	code := func(err error) int32 {
		var c mongo.CommandError
		errors.As(err, &c)
		return c.Code
	}
	err := client.UseSession(ctx, func(ctx context.Context) error {
		s := mongo.SessionFromContext(ctx)
		if err := s.StartTransaction(); err != nil {
			return err
		}
		_, err := db.Collection("a").InsertOne(ctx, bson.D{{Key: "_id", Value: 2}})
		return err
	})
	if code(err) != 20 {
		t.Errorf("a transaction: %v", err)
	}
	if _, err := db.Collection("a").Watch(ctx, mongo.Pipeline{}); code(err) != 40573 {
		t.Errorf("a change stream: %v", err)
	}
	if n, err := db.Collection("a").CountDocuments(ctx, bson.D{}); err != nil || n != 1 {
		t.Errorf("%d documents, %v", n, err)
	}
}

func TestStandaloneShards(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	mongotest.NewClient(t, mongotest.Settings{Standalone: true}, mongotest.NewShards(2))
}

// A server has the version that a test asks for, and no bulkWrite before 8.0.
func TestVersions(t *testing.T) {
	for _, version := range []string{"5.0", "6.0", "7.0", "8.0"} {
		client := mongotest.NewClient(t, mongotest.Settings{Version: version})
		var info struct{ Version string }
		err := client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "buildInfo", Value: 1}}).Decode(&info)
		if err != nil || !strings.HasPrefix(info.Version, version) {
			t.Errorf("%s answers as %q, %v", version, info.Version, err)
		}
		_, err = client.BulkWrite(t.Context(), []mongo.ClientBulkWrite{
			{Database: "x", Collection: "a", Model: &mongo.ClientInsertOneModel{Document: bson.D{}}},
		})
		if (err == nil) != (version == "8.0") {
			t.Errorf("%s: bulkWrite gives %v", version, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("version 4.4 is accepted")
		}
	}()
	mongotest.NewClient(t, mongotest.Settings{Version: "4.4"})
}
