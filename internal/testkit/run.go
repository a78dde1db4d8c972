package testkit

import (
	"context"
	"os"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// EveryPair is false for quick runs. Then each operation meets the next operation on one
// table, and itself on the other. .ci/run sets DOCMODEL_FULL on the engine to run every
// ordered pair. On a server it runs a sample.
var EveryPair = os.Getenv("DOCMODEL_FULL") != ""

// Interleaved says where the second operation runs: before each command in full runs,
// before each write in quick runs.
var Interleaved = func() mongotest.Match {
	if EveryPair {
		return mongotest.All
	}
	return mongotest.Writes
}()

// Parallel runs tests in parallel on the engine. On a server tests run one after another,
// because they share the server.
func Parallel(t *testing.T) {
	t.Helper()
	if os.Getenv(mongotest.EnvURI) == "" {
		t.Parallel()
	}
}

// A DBFunc works on a database.
type DBFunc = func(context.Context, *mongo.Database) error

// An Operation is one of several concurrent operations. It reads, decides and writes,
// with its own token.
type Operation struct {
	Name string
	Run  func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error
}

// Exec runs plans.
func Exec(ctx context.Context, db model.DB, plans ...model.Plan) error {
	for _, p := range plans {
		if _, err := p.Run(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// MustExec is [Exec] that must succeed.
func MustExec(t testing.TB, db model.DB, plans ...model.Plan) {
	t.Helper()
	if err := Exec(context.Background(), db, plans...); err != nil {
		t.Fatal(err)
	}
}

// RunJob runs a job.
func RunJob(ctx context.Context, db *mongo.Database, j model.Job) error {
	_, err := j.Run(ctx, db, model.JobOptions{})
	return err
}

// InBatchesOf returns a function that runs a job in batches of n documents.
func InBatchesOf(n int, j model.Job) DBFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		j.Stages[0].BatchSize = n
		return RunJob(ctx, db, j)
	}
}

// InTurn returns a function that runs functions in order.
func InTurn(list ...DBFunc) DBFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		for _, f := range list {
			if err := f(ctx, db); err != nil {
				return err
			}
		}
		return nil
	}
}

// Changed returns a function that runs a change.
func Changed(c model.Action) DBFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		_, err := c.Change().Run(ctx, db)
		return err
	}
}

// MustChange runs changes that must succeed.
func MustChange(t testing.TB, db *mongo.Database, list ...model.Action) {
	t.Helper()
	for _, c := range list {
		if _, err := c.Change().Run(context.Background(), db); err != nil {
			t.Fatal(err)
		}
	}
}

// PlanOf returns the plan that a change would run now.
func PlanOf(t *testing.T, db *mongo.Database, c model.Action) model.Plan {
	t.Helper()
	plan, err := c.Change().Plan(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// CreateIndexes creates a technique's indexes.
func CreateIndexes(ctx context.Context, db *mongo.Database, t model.Technique) error {
	for _, x := range t.Indexes() {
		if _, err := db.Collection(x.Collection).Indexes().CreateOne(ctx, x.Model()); err != nil {
			return err
		}
	}
	return nil
}

// FaultsOf returns a fault case with the documents before and after a write or plan.
func FaultsOf(before Docs, w Written, after Docs) modeltest.FaultCase {
	return modeltest.FaultCase{
		Seed: Stored(before), Run: Doing(w), Sample: 6,
		Check: func(t testing.TB, db *mongo.Database) { WantDocsInAnyOrder(t, db, after) },
	}
}

// RunFaults interrupts each case everywhere.
func RunFaults(t *testing.T, cases map[string]modeltest.FaultCase) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			Parallel(t)
			if c.Sample == 0 {
				c.Sample = 2
			}
			modeltest.FaultMatrix(t, c)
		})
	}
}
