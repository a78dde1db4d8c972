package paths_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// nestedWhole fails the test unless the check finds nothing, and the numbers are those of the links.
func (k nestedKind) nestedWhole(t testing.TB, db *mongo.Database, what string) {
	t.Helper()
	report, err := inspect(t.Context(), db, k.tree)
	if err != nil || len(report) > 0 {
		t.Fatalf("%s: %s: %v, %v", k.name, what, report, err)
	}
	k.wantNumbers(t, db, k.stored(t, db), what)
}

// Changes that were cut, and that nobody finishes, are found by the check and mended by the repair: negative numbers, a band without
// its node, room that nobody took.
func TestNestedSetRepairsCuts(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(14, 5))
		for _, k := range nestedKinds {
			for _, op := range nestedTable() {
				if !full && r.IntN(3) > 0 {
					continue
				}
				k.nestedSeed(t, db, nestedForest(nestedShape))
				p := op.plan(t, db, k, 7)
				n := r.IntN(len(p.Steps))
				cut := model.NewPlan(p.Steps[:n]...)
				cut.Options.AllowPartial = true
				if _, err := cut.Run(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				nestedPart(t, db, r, p.Steps[n].(model.Write))
				if _, _, err := mends(k.tree).Run(t.Context(), db); err != nil {
					t.Fatalf("%s: %s: %v\n%s", k.name, op.name, err, p)
				}
				k.nestedWhole(t, db, op.name+", cut and repaired")
			}
		}
	})
}

// With gaps, the check takes any numbers that are in order, and the repair of one node writes few documents. Damage of any number
// of them is mended.
func TestNestedSetRepairsGaps(t *testing.T) {
	parallel(t)
	steps := 120
	if few() {
		steps = 50
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(14, 6))
		k := nestedKinds[1]
		forest := &paths.Forest[string]{}
		k.nestedSeed(t, db, forest)
		for range steps {
			_, change, want := randomStep(r, forest)
			if _, _, err := change(k.kind).Run(t.Context(), db); !sameErr(err, want) {
				t.Fatal(err)
			}
			if want == nil {
				k.nestedWhole(t, db, "after a change")
			}
		}
		damaged := func(n int) {
			for range n {
				id, field := pick(r, forest), []string{"left", "right", "depth"}[r.IntN(3)]
				value := any(int64(r.IntN(400)) * 1000003)
				if field == "depth" {
					value = 77
				}
				if _, err := db.Collection(k.name).UpdateOne(t.Context(), bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$set", Value: bson.D{{Key: field, Value: value}}}}); err != nil && !mongo.IsDuplicateKeyError(err) {
					t.Fatal(err)
				}
			}
		}
		for i := range 30 {
			damaged(1 + i/3)
			_, result, err := mends(k.tree).Run(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			if i < 3 && len(result.Steps) > 2 {
				t.Errorf("one damaged number takes %d writes", len(result.Steps))
			}
			k.nestedWhole(t, db, fmt.Sprint("repair ", i))
			if got := shape(k.stored(t, db)); got != shape(forest) {
				t.Fatalf("the links changed: %s", got)
			}
		}
	})
}

// Numbers that are wrong in ways that get into each other's way are mended too.
func TestNestedSetRepairsHardCases(t *testing.T) {
	parallel(t)
	set := func(field string, v any) bson.D { return bson.D{{Key: field, Value: v}} }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			reason string
			k      nestedKind
			begin  string
			damage []bson.D // a filter, and what is set, in turn
		}{
			{"a number to be parked as another is, negative, already", nestedKinds[0], "a b c",
				[]bson.D{set("_id", "c"), set("left", int64(7)), set("_id", "b"), set("left", int64(5)), set("_id", "a"), set("left", int64(-3))}},
			{"no room between numbers that are to be kept", nestedKinds[1], "a(b c) d e f",
				[]bson.D{set("_id", "e"), set("left", int64(-1)), set("_id", "a"), set("left", int64(1)), set("_id", "a"), set("right", int64(6)),
					set("_id", "b"), set("left", int64(2)), set("_id", "b"), set("right", int64(3)), set("_id", "c"), set("left", int64(4)),
					set("_id", "c"), set("right", int64(5)), set("_id", "e"), set("parent", "b")}},
		} {
			c.k.nestedSeed(t, db, nestedForest(c.begin))
			for i := 0; i < len(c.damage); i += 2 {
				if _, err := db.Collection(c.k.name).UpdateOne(t.Context(), c.damage[i], bson.D{{Key: "$set", Value: c.damage[i+1]}}); err != nil {
					t.Fatalf("%s: %v", c.reason, err)
				}
			}
			if _, _, err := mends(c.k.tree).Run(t.Context(), db); err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			c.k.nestedWhole(t, db, c.reason)
		}
	})
}
