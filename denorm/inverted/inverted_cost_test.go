package inverted_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/denorm/inverted"
	"github.com/docmodel/docmodel/internal/testkit"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What each operation costs that no other test measures is what its value says, and what its documentation says.
func TestInvertedPrices(t *testing.T) {
	testkit.Parallel(t)
	ann, bob := member{ID: "a", Name: "Ann", City: "Rome", Tags: []string{"x", "y"}}, member{
		ID: "b", Name: "Bob", City: "Oslo", Tags: []string{"x"},
	}
	rome := membersBy.Is("city", "Rome").And(membersBy.Is("tags", "x"))
	testkit.WantPrices(t, func(ctx context.Context, db *mongo.Database) error {
		return testkit.Exec(ctx, db, members.InsertMany([]member{ann, bob}))
	},
		testkit.Does("Rebuild", 5, 5, 2, testkit.InBatchesOf(500, membersBy.Rebuild())),
		testkit.Reads("IDs", 1, membersBy.IDs(rome)),
		testkit.Reads("Count", 1, membersBy.Count(rome)), testkit.Reads("Documents", 1, membersBy.Documents(rome)),
		testkit.Reads("Report", 1, membersBy.Report(rome, "name")),
		testkit.Reads("Values", 2, membersBy.Values("tags")),
		testkit.Reads("Direct", 2, membersBy.Direct("a", "b")),
	)
}

// What one of many elements, values or findings costs to plan.
func BenchmarkInvertedPlans(b *testing.B) {
	words := inverted.New(members, "words", "tags", "city")
	var query inverted.Query
	for reason, prepare := range map[string]func(n int) (run func() error){
		"an Inverted query of too many values": func(n int) func() error {
			var others []inverted.Query
			for _, w := range testkit.Distinct(n) {
				others = append(others, words.Is("tags", w))
			}
			query = words.Is("city", "Rome").Or(others...)
			return func() error {
				if words.IDs(query).Err == nil {
					return fmt.Errorf("%d values were not refused", n)
				}
				return nil
			}
		},
	} {
		b.Run(reason, func(b *testing.B) { testkit.PerValue(b, prepare) })
	}
}
