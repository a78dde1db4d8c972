package modeltest_test

import (
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An older server has no bulkWrite: a plan in a transaction sends one command for each collection.
func TestPlansByVersion(t *testing.T) {
	plan := model.NewPlan()
	for _, name := range []string{"a", "b"} {
		plan.Steps = append(plan.Steps,
			model.NewCollection[bson.D, int32](name).Insert(bson.D{{Key: "_id", Value: int32(1)}}))
	}
	for version, commands := range map[string]int{"5.0": 3, "6.0": 3, "7.0": 3, "8.0": 2} {
		monitor := mongotest.NewMonitor()
		client := mongotest.NewClient(t, mongotest.WithVersion(version), mongotest.WithMonitor(monitor))
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
	}
}
