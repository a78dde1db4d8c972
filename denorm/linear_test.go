package denorm_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Ten times the elements of an array, or the findings of a check, take ten times the time to plan, within a generous factor. A scan of
// all for each would take a hundred times the time.
func TestPlansAreLinear(t *testing.T) {
	words := denorm.NewInverted(members, "words", "tags", "city")
	var query denorm.InvertedQuery
	for _, c := range []struct {
		reason  string
		prepare func(n int) (run func() error)
	}{
		{"IndexTable.Insert", func(n int) func() error {
			m := member{ID: "a", Tags: distinct(n)}
			return func() error { return priced(byTag.Insert(m, token(1))) }
		}},
		{"IndexTable.Set", func(n int) func() error {
			m := member{ID: "a", Tags: distinct(n)}
			fields := bson.D{e("tags", distinct(2 * n)[n/2:])}
			return func() error { return priced(byTag.Set(&m, fields, token(1))) }
		}},
		{"IndexTable.Delete", func(n int) func() error {
			m := member{ID: "a", Tags: distinct(n)}
			return func() error { return priced(byTag.Delete(&m)) }
		}},
		{"an Inverted query of too many values", func(n int) func() error {
			var others []denorm.InvertedQuery
			for _, w := range distinct(n) {
				others = append(others, words.Is("tags", w))
			}
			query = words.Is("city", "Rome").Or(others...)
			return func() error {
				if words.IDs(query).Err == nil {
					return fmt.Errorf("%d values were not refused", n)
				}
				return nil
			}
		}},
		{"Attributes.Checks", func(n int) func() error {
			check, found := specs.Checks()[0], make([]model.Finding, n)
			for i := range found {
				found[i] = model.Finding{Check: check.Name, Detail: marshal(bson.D{e("id", int32(i)), e("name", "x")})}
			}
			return func() error { return priced(check.Mend(found)) }
		}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			fastest := func(n int) time.Duration {
				run, least := c.prepare(n), time.Hour
				for range 3 {
					began := time.Now()
					if err := run(); err != nil {
						t.Fatal(err)
					}
					least = min(least, time.Since(began))
				}
				return least
			}
			for range 3 { // a busy machine may disturb one attempt
				small, large := fastest(1_000), fastest(10_000)
				if large <= 40*small {
					return
				}
				t.Logf("1,000 took %v, 10,000 took %v", small, large)
			}
			t.Error("ten times the values took more than forty times the time")
		})
	}
}

func distinct(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint("word ", i)
	}
	return out
}

// priced derives what a plan guarantees and costs, as running it does.
func priced(p model.Plan) error {
	p.Guarantee()
	p.Cost()
	return p.Err()
}
