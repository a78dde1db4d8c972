package pathstest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// CutKinds are all representations: nested sets with gaps, and with numbers that are
// shifted at once, too.
func CutKinds() []Kind {
	out := slices.Clone(Kinds)
	for _, k := range NestedKinds[1:] {
		out = append(out, k.Kind)
	}
	return out
}

// A Cut is an operation on a tree that is cut at each of its writes, and then run again.
type Cut struct {
	Seed func(ctx context.Context, db *mongo.Database, k Kind) error
	Run  func(ctx context.Context, db *mongo.Database, k Kind) error
	// what holds after any cut, and at the end; nil for nothing
	Stays func(ctx context.Context, db *mongo.Database, k Kind) error
	Want  func(t testing.TB, db *mongo.Database, k Kind)

	Server string // the representations with which it is run where there is a server
}

// Test runs the case with a representation, in every way that [modeltest.FaultMatrix]
// knows; three of them on a server.
func (c Cut) Test(t *testing.T, k Kind) {
	t.Helper()
	t.Run(k.Name, func(t *testing.T) {
		if testkit.Sample && !slices.Contains(strings.Fields(c.Server), k.Name) {
			t.Skip("server lacks: time for every row of a fault matrix")
		}
		run := func(ctx context.Context, db *mongo.Database) error {
			if err := c.Run(ctx, db, k); err != nil {
				return err
			}
			// The lease's number is no part of the matrix.
			_, err := db.Collection("docmodel.locks").UpdateMany(
				ctx, bson.D{}, bson.D{{Key: "$set", Value: bson.D{{Key: "fence", Value: int64(1000)}}}},
			)
			return err
		}
		modeltest.FaultMatrix(t, modeltest.FaultCase{
			Sample: 3,
			Match:  func(c mongotest.Command) bool { return mongotest.Writes(c) && c.Collection == k.Name },
			Seed:   func(ctx context.Context, db *mongo.Database) error { return c.Seed(ctx, db, k) },
			Run:    run,
			Repair: func(ctx context.Context, db *mongo.Database) error {
				if c.Stays != nil {
					if err := c.Stays(ctx, db, k); err != nil {
						return fmt.Errorf("after the cut: %w", err)
					}
				}
				// the dead writer's lease
				past := bson.D{{Key: "$set", Value: bson.D{{Key: "until", Value: time.Unix(0, 0)}}}}
				held := bson.D{{Key: "holder", Value: bson.D{{Key: "$exists", Value: true}}}}
				if _, err := db.Collection("docmodel.locks").UpdateMany(ctx, held, past); err != nil {
					return err
				}
				return run(ctx, db)
			},
			Check: func(t testing.TB, db *mongo.Database) { c.Want(t, db, k) },
		})
	})
}

// WantShape fails the test unless the tree has a shape, and the check finds nothing.
func WantShape(want string) func(t testing.TB, db *mongo.Database, k Kind) {
	return func(t testing.TB, db *mongo.Database, k Kind) {
		t.Helper()
		if got := Shape(k.ReadForest(t, db)); got != want {
			t.Errorf("%s: %s, want %s", k.Name, got, want)
		}
		k.WantWhole(t, db)
	}
}

// LoadShape stores a forest.
func LoadShape(notation string, indexes bool) func(ctx context.Context, db *mongo.Database, k Kind) error {
	return func(ctx context.Context, db *mongo.Database, k Kind) error {
		if indexes {
			if err := model.New("test", k.Tree).Indexes().Ensure(ctx, db); err != nil {
				return err
			}
		}
		_, err := k.Tree.Load(NodesOf(Parse(notation))).Run(ctx, db)
		return err
	}
}

// KeepIDs says that nodes are there, whatever else is.
func KeepIDs(ids ...string) func(ctx context.Context, db *mongo.Database, k Kind) error {
	return func(ctx context.Context, db *mongo.Database, k Kind) error {
		all, err := k.Docs.Find(nil).All(ctx, db)
		for _, id := range ids {
			if !slices.ContainsFunc(all, func(c Category) bool { return c.ID == id }) && err == nil {
				err = fmt.Errorf("%q is lost", id)
			}
		}
		return err
	}
}
