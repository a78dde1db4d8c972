package mongotest_test

import (
	"strings"
	"testing"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A server has the version that a test asks for, and no bulkWrite before 8.0.
func TestWithVersion(t *testing.T) {
	for _, version := range []string{"5.0", "6.0", "7.0", "8.0"} {
		client := mongotest.NewClient(t, mongotest.WithVersion(version))
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
	mongotest.WithVersion("4.4")
}
