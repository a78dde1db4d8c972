package main

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What an operation sends, and which index serves a query: on the engine, and with MONGODB_URI on that server too.
func TestUses(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := model.New("test", uses).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		plan := assemble("bench", "nut", "bolt")
		modeltest.WantCost(t, monitor, plan.Cost(), func() error {
			_, err := plan.Run(t.Context(), db)
			return err
		})
		modeltest.WantIndexed(t, db, uses.ParentsOf("nut"), "parts_1")
	}, monitor)
}

// A process that dies at any of its writes leaves what the next run completes.
func TestAssembleCut(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := assemble("bench", "nut", "bolt").Run(ctx, db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			bench, err := products.ByID("bench").One(t.Context(), db)
			if diff := mongotest.Diff(Product{ID: "bench", Parts: []string{"nut", "bolt"}}, bench); err != nil || diff != "" {
				t.Error(err, diff)
			}
		},
	})
}
