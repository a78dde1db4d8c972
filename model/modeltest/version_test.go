package modeltest_test

import (
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An older server has no bulkWrite: a plan in a transaction sends one command for each collection.
func TestWithVersion(t *testing.T) {
	plan := model.NewPlan()
	for _, name := range []string{"a", "b"} {
		plan.Steps = append(plan.Steps, model.NewCollection[bson.D, int32](name).Insert(bson.D{{Key: "_id", Value: int32(1)}}))
	}
	for version, commands := range map[string]int{"5.0": 3, "6.0": 3, "7.0": 3, "8.0": 2} {
		monitor := modeltest.NewMonitor()
		client := modeltest.NewClient(t, modeltest.WithVersion(version), modeltest.WithMonitor(monitor))
		var info struct{ Version string }
		err := client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "buildInfo", Value: 1}}).Decode(&info)
		if err != nil || !strings.HasPrefix(info.Version, version) {
			t.Errorf("%s answers as %q, %v", version, info.Version, err)
		}
		db, err := model.WithTransactions(t.Context(), client.Database("x"))
		if err != nil {
			t.Fatal(err)
		}
		monitor.Reset()
		if _, err := plan.RunTx(t.Context(), db); err != nil {
			t.Error(err)
		}
		if sent := monitor.Commands(); len(sent) != commands {
			t.Errorf("%s: sent %v", version, sent)
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
	modeltest.WithVersion("4.4")
}
