package slots_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// damage updates a slot of s as other code might.
func damage(n int, update bson.D) operation {
	return func(ctx context.Context, db *mongo.Database) error {
		_, err := db.Collection("numbers").UpdateOne(ctx, bson.D{{Key: "_id", Value: fmt.Sprintf("s#%04d", n)}}, update)
		return err
	}
}

func remove(n int) operation {
	return func(ctx context.Context, db *mongo.Database) error {
		_, err := db.Collection("numbers").DeleteOne(ctx, bson.D{{Key: "_id", Value: fmt.Sprintf("s#%04d", n)}})
		return err
	}
}

func set(name string, v any) bson.D {
	return bson.D{{Key: "$set", Value: bson.D{{Key: name, Value: v}}}}
}

// Each check finds what it says, and mends what a write can mend.
func TestSlotsChecks(t *testing.T) {
	testkit.Parallel(t)
	testkit.WantDistinctChecks(t, places.Checks(), 3)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			reason string
			damage operation
			check  int
			text   string
			mends  bool
		}{
			{"nothing", runInTurn(), -1, "", false},
			{"a Take that was cut", cut(places.Take("s", 8, tokenOf(1, 4, 0)), 1), 0, "transfer 1 to slot 1", true},
			{"an Add that was cut", cut(places.Add("new", 8, tokenOf(1, 4, 0)), 2), 1,
				"2 slots of 4 are missing", true},
			{"a slot deleted", remove(3), 1, "1 slots of 4 are missing", true},
			{"a slot closed", damage(3, set("of", 0)), 1, "1 slots of 4 are closed", false},
			{"a slot opened twice", damage(0, set("of", 1)), 1, "are counted by more than one slot", false},
			{
				reason: "stock from nowhere", damage: damage(0, set("free", int64(11))), check: 1,
				text: "the slots add up to 9, but their stock is 11", mends: false,
			},
			{
				reason: "a sum from nowhere", damage: damage(0, set("sum", int64(8))), check: 1,
				text: "the slots add up to 8, but their stock is 9", mends: false,
			},
			{"stock below zero", damage(1, set("free", int64(-1))), 2, "has -1 in stock", false},
			{
				reason: "another's tokens",
				damage: damage(0,
					set("ops", bson.A{
						bson.D{{Key: "op", Value: token(1)}, {Key: "n", Value: int64(9)}, {Key: "h", Value: 3}},
					})),
				check: 2, text: "1 tokens of other slots", mends: false,
			},
		} {
			t.Run(c.reason, func(t *testing.T) {
				testkit.Seed(t, db, testkit.Docs{"numbers": nil})
				must(t, db, places.Add("s", 9, tokenOf(0, 4, 0)), places.Add("other", 5, token(1)))
				if err := c.damage(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				for i, check := range places.Checks() {
					found, said := testkit.FindingsOf(t, db, check)
					if i != c.check {
						if len(found) > 0 && !(c.check == 2 && i == 1) {
							t.Errorf("%s: %v", check.Name, said)
						}
						continue
					}
					if len(found) != 1 || !strings.Contains(said[0], c.text) {
						t.Fatalf("found %q, want %q", said, c.text)
					}
					if found, _ := testkit.FindingsOf(t, db,
						check.In(bson.D{{Key: "key", Value: "other"}})); len(found) > 0 {
						t.Errorf("found in another key: %v", found)
					}
					if !c.mends {
						continue
					}
					if _, err := check.Job().Run(t.Context(), db, model.JobOptions{BatchSize: 3}); err != nil {
						t.Fatal(err)
					}
					if _, said := testkit.FindingsOf(t, db, check); len(said) > 0 {
						t.Errorf("left %v", said)
					}
					wantWhole(t, db, places)
				}
			})
		}
	})
	testkit.WantRefusedFindings(t, places.Checks()...)
}

// A slot that other code closed or deleted doesn't make an operation wait for ever.
func TestSlotsDamaged(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		must(t, db, places.Add("s", 9, tokenOf(0, 4, 0)))
		if err := runInTurn(damage(3, set("of", 0)), remove(2))(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		must(t, db, places.Add("s", 1, tokenOf(2, 4, 1)))
		testkit.WantError(t, run(places.Add("s", 1, tokenOf(3, 4, 1)))(t.Context(), db), model.ErrStale)
	})
}

func TestSlotsDeclarations(t *testing.T) {
	testkit.Parallel(t)
	for reason, declare := range map[string]func(){
		"three slots":      func() { slots.New(stored, slots.Spec{Slots: 3}) },
		"a negative":       func() { slots.New(stored, slots.Spec{Slots: -4}) },
		"too many slots":   func() { slots.New(stored, slots.Spec{Slots: 2048}) },
		"a negative Keep":  func() { slots.New(stored, slots.Spec{Keep: -1}) },
		"a Keep too large": func() { slots.New(stored, slots.Spec{Keep: 10001}) },
		"keys of a type": func() {
			slots.New(model.NewCollection[slots.Doc[float64], string]("x"), slots.Spec{})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			defer func() {
				if d, ok := recover().(*model.DeclarationError); !ok || d.Problem == "" ||
					d.Place == "" || d.Remedy == "" {
					t.Errorf("panic %v", d)
				}
			}()
			declare()
		})
	}
}
