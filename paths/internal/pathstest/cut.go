// Operations on a tree that are cut at each of their writes: see [Cut].

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

// CutKinds returns all representations for the tests of cuts: the Kinds, and nested sets with gaps and with direct
// shifts. These write their numbers in another order, so a crash leaves something else.
func CutKinds() []Kind {
	out := slices.Clone(Kinds)
	for _, k := range NestedKinds[1:] {
		out = append(out, k.Kind)
	}
	return out
}

// A Cut is an operation on a tree that is cut at each of its writes, and then run again. A cut is a crash, a lost
// answer or an error of a server, see [modeltest.FaultMatrix]. The functions get the database and the representation
// of the case:
//
//  1. Seed stores the tree before the operation.
//  2. Run runs the operation, whose error is expected at the cut.
//  3. Stays checks the tree after the cut.
//  4. The lease of the dead writer is ended, and Run runs again.
//  5. Want checks the tree at the end.
type Cut struct {
	Seed func(ctx context.Context, db *mongo.Database, k Kind) error
	Run  func(ctx context.Context, db *mongo.Database, k Kind) error
	// Stays checks what holds after any cut, such as that no node is lost; nil for nothing.
	Stays func(ctx context.Context, db *mongo.Database, k Kind) error
	Want  func(t testing.TB, db *mongo.Database, k Kind)

	Server string // names of Kinds, with spaces: the only ones that run if the tests use a real server
}

// Test runs the case with a representation, in every way that [modeltest.FaultMatrix] knows. On a real server it runs
// three of the ways, because all would take too long.
func (c Cut) Test(t *testing.T, k Kind) {
	t.Helper()
	t.Run(k.Name, func(t *testing.T) { c.testMatrix(t, k) })
}

// testMatrix runs the matrix within the subtest of a representation. The engine has time for all rows, a real server
// hasn't.
func (c Cut) testMatrix(t *testing.T, k Kind) {
	t.Helper()
	if testkit.Sample && !slices.Contains(strings.Fields(c.Server), k.Name) {
		t.Skip("server lacks: time for every row of a fault matrix")
	}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 3,
		// Only the writes of nodes are cut. The lease's own writes are tested in package model.
		Match: func(c mongotest.Command) bool { return mongotest.Writes(c) && c.Collection == k.Name },
		Seed:  func(ctx context.Context, db *mongo.Database) error { return c.Seed(ctx, db, k) },
		Run:   func(ctx context.Context, db *mongo.Database) error { return c.run(ctx, db, k) },
		Repair: func(ctx context.Context, db *mongo.Database) error {
			if err := c.endCut(ctx, db, k); err != nil {
				return err
			}
			return c.run(ctx, db, k)
		},
		Check: func(t testing.TB, db *mongo.Database) { c.Want(t, db, k) },
	})
}

// endCut checks the tree after a cut, and ends the lease that the dead writer still has.
func (c Cut) endCut(ctx context.Context, db *mongo.Database, k Kind) error {
	if c.Stays != nil {
		if err := c.Stays(ctx, db, k); err != nil {
			return fmt.Errorf("after the cut: %w", err)
		}
	}
	past := bson.D{{Key: "$set", Value: bson.D{{Key: "until", Value: time.Unix(0, 0)}}}}
	held := bson.D{{Key: "holder", Value: bson.D{{Key: "$exists", Value: true}}}}
	_, err := db.Collection("docmodel.locks").UpdateMany(ctx, held, past)
	return err
}

// run runs the operation. Then it gives the lease a fixed number: a run that is repeated has a higher number, and the
// matrix compares the databases.
func (c Cut) run(ctx context.Context, db *mongo.Database, k Kind) error {
	if err := c.Run(ctx, db, k); err != nil {
		return err
	}
	_, err := db.Collection("docmodel.locks").UpdateMany(
		ctx, bson.D{}, bson.D{{Key: "$set", Value: bson.D{{Key: "fence", Value: int64(1000)}}}},
	)
	return err
}

// WantShape returns a Cut.Want. It fails the test unless the tree has a shape, in the notation of [Shape], and the
// tree's check finds nothing.
func WantShape(want string) func(t testing.TB, db *mongo.Database, k Kind) {
	return func(t testing.TB, db *mongo.Database, k Kind) {
		t.Helper()
		if got := Shape(k.ReadForest(t, db)); got != want {
			t.Errorf("%s: %s, want %s", k.Name, got, want)
		}
		k.WantWhole(t, db)
	}
}

// LoadShape returns a Cut.Seed that stores a forest, in the notation of [Parse], with indexes if indexes is true.
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

// KeepIDs returns a Cut.Stays: the nodes with these ids are stored.
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
