package tree_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// nestedWhole fails the test unless the check finds nothing, and the numbers are those of the links.
func nestedWhole(k pathstest.NestedKind, t testing.TB, db *mongo.Database, what string) {
	t.Helper()
	report, err := pathstest.Inspect(t.Context(), db, k.Tree)
	if err != nil || len(report) > 0 {
		t.Fatalf("%s: %s: %v, %v", k.Name, what, report, err)
	}
	wantNumbers(k, t, db, k.ReadForest(t, db), what)
}

// Changes that were cut, and that nobody finishes, are found by the check and mended by the repair: negative numbers, a
// band without
// its node, room that nobody took.
func TestNestedSetRepairsCuts(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(14, 5))
		for _, k := range pathstest.NestedKinds {
			for _, op := range nestedTable() {
				if !pathstest.Full && r.IntN(3) > 0 {
					continue
				}
				k.Seed(t, db, pathstest.Parse(nestedShape))
				p := op.plan(t, db, k, 7)
				n := r.IntN(len(p.Steps))
				cut := model.NewPlan(p.Steps[:n]...)
				cut.Options.AllowPartial = true
				if _, err := cut.Run(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				nestedPart(t, db, r, p.Steps[n].(model.Write))
				if _, err := pathstest.MendTree(k.Tree).Run(t.Context(), db); err != nil {
					t.Fatalf("%s: %s: %v\n%s", k.Name, op.name, err, p)
				}
				nestedWhole(k, t, db, op.name+", cut and repaired")
			}
		}
	})
}

// With gaps, the check takes any numbers that are in order, and the repair of one node writes few documents. Damage of
// any number
// of them is mended.
func TestNestedSetRepairsGaps(t *testing.T) {
	testkit.Parallel(t)
	steps := 120
	if testkit.Few() {
		steps = 50
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(14, 6))
		k := pathstest.NestedKinds[1]
		forest := &paths.Forest[string]{}
		k.Seed(t, db, forest)
		for range steps {
			_, change, want := pathstest.DrawStep(r, forest)
			if _, err := change(k.Kind).Run(t.Context(), db); !pathstest.SameError(err, want) {
				t.Fatal(err)
			}
			if want == nil {
				nestedWhole(k, t, db, "after a change")
			}
		}
		damaged := func(n int) {
			for range n {
				id, field := pathstest.PickID(r, forest), []string{"left", "right", "depth"}[r.IntN(3)]
				value := any(int64(r.IntN(400)) * 1000003)
				if field == "depth" {
					value = 77
				}
				if _, err := db.Collection(k.Name).UpdateOne(
					t.Context(), bson.D{{Key: "_id", Value: id}},
					bson.D{{Key: "$set", Value: bson.D{{Key: field, Value: value}}}},
				); err != nil && !mongo.IsDuplicateKeyError(err) {
					t.Fatal(err)
				}
			}
		}
		for i := range 30 {
			damaged(1 + i/3)
			result, err := pathstest.MendTree(k.Tree).Run(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			if i < 3 && len(result.Steps) > 2 {
				t.Errorf("one damaged number takes %d writes", len(result.Steps))
			}
			nestedWhole(k, t, db, fmt.Sprint("repair ", i))
			if got := pathstest.Shape(k.ReadForest(t, db)); got != pathstest.Shape(forest) {
				t.Fatalf("the links changed: %s", got)
			}
		}
	})
}

// Numbers that are wrong in ways that get into each other's way are mended too.
func TestNestedSetRepairsHardCases(t *testing.T) {
	testkit.Parallel(t)
	set := func(field string, v any) bson.D { return bson.D{{Key: field, Value: v}} }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			reason string
			k      pathstest.NestedKind
			begin  string
			damage []bson.D // a filter, and what is set, in turn
		}{
			{"a number to be parked as another is, negative, already", pathstest.NestedKinds[0], "a b c",
				[]bson.D{
					set("_id", "c"), set("left", int64(7)), set("_id", "b"), set("left", int64(5)),
					set("_id", "a"), set("left", int64(-3)),
				}},
			{"no room between numbers that are to be kept", pathstest.NestedKinds[1], "a(b c) d e f",
				[]bson.D{set("_id", "e"), set("left", int64(-1)), set("_id", "a"), set("left", int64(1)),
					set("_id", "a"), set("right", int64(6)),
					set("_id", "b"), set("left", int64(2)), set("_id", "b"), set("right", int64(3)), set("_id", "c"),
					set("left", int64(4)),
					set("_id", "c"), set("right", int64(5)), set("_id", "e"), set("parent", "b")}},
		} {
			c.k.Seed(t, db, pathstest.Parse(c.begin))
			for i := 0; i < len(c.damage); i += 2 {
				if _, err := db.Collection(c.k.Name).UpdateOne(
					t.Context(), c.damage[i], bson.D{{Key: "$set", Value: c.damage[i+1]}},
				); err != nil {
					t.Fatalf("%s: %v", c.reason, err)
				}
			}
			if _, err := pathstest.MendTree(c.k.Tree).Run(t.Context(), db); err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			nestedWhole(c.k, t, db, c.reason)
		}
	})
}
