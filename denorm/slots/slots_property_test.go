package slots_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Random operations, some of them again, some cut, in lockstep with a map: after each one all sums agree.
func TestSlotsProperty(t *testing.T) {
	testkit.Parallel(t)
	keys := []string{"p", "p#", "p#0000", "%", "$where", "a.b", "é"}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for s := range uint64(4) {
			testkit.Seed(t, db, testkit.Docs{"numbers": nil})
			random := rand.New(rand.NewPCG(s, 3))
			stock := s%2 == 0
			var ways []*numbersSlots // declarations that differ
			for _, n := range []int{1, 2, 8} {
				ways = append(ways, slots.New(stored, slots.Spec{Slots: n, Stock: stock}))
			}
			want := map[string]int64{}
			var before []model.Change
			for i := range 120 {
				x, key, n := ways[random.IntN(3)], keys[random.IntN(len(keys))], 1+random.Int64N(20)
				var c model.Change
				var err error
				switch kind := random.IntN(10); {
				case kind < 4 || !stock && kind < 7:
					if !stock && random.IntN(2) == 0 {
						n = -n
					}
					c = x.Add(key, n, token(i))
					want[key] += n
				case kind < 7:
					c = x.Take(key, n, token(i))
					if want[key] < n {
						err = model.ErrFull
					} else {
						want[key] -= n
					}
				case kind < 8 && len(before) > 0:
					c = before[random.IntN(len(before))]
				default:
					c = x.Resize(key, 1<<random.IntN(5))
					if _, there := want[key]; !there {
						err = model.ErrNotFound
					}
				}
				if got := run(c)(t.Context(), db); !errors.Is(got, err) {
					t.Fatalf("%d.%d: %v, want %v", s, i, got, err)
				}
				if _, there := want[key]; err == nil && there {
					before = append(before, c)
				} else if err != nil && want[key] == 0 {
					delete(want, key)
				}
				wantAll(t, db, x, want, fmt.Sprintf("%d.%d", s, i))
			}
			wantWhole(t, db, ways[0])
		}
	})
}

func wantAll(t *testing.T, db *mongo.Database, x *numbersSlots, want map[string]int64, when string) {
	t.Helper()
	all, err := x.Totals().All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, total := range all {
		got[total.Key] = total.Sum
	}
	for key, sum := range want {
		if got[key] != sum {
			t.Fatalf("%s: %q has %d, want %d", when, key, got[key], sum)
		}
	}
}
