package relate_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
)

// lostIDs is a parent of n ids that lead nowhere.
func lostIDs(n int) joinParent {
	p := joinParent{ID: 1, Kids: make([]int64, n)}
	for i := range p.Kids {
		p.Kids[i] = int64(i + 1)
	}
	return p
}

// Ten times the missing ids of one parent take ten times the time, within a generous factor. A scan of the missing ids for each id
// would take a hundred times the time.
func TestJoinLoadIsLinear(t *testing.T) {
	join := relate.NewJoin(joinParents, "kids", joinKids)
	db := modeltest.NewClient(t).Database("linear")
	fastest := func(runs, n int) time.Duration {
		least := time.Hour
		for range runs {
			parents := []joinParent{lostIDs(n)}
			began := time.Now()
			joined, err := join.Load(t.Context(), db, parents)
			if err != nil || len(joined) != 1 || len(joined[0].Missing) != n {
				t.Fatalf("%d ids: %v", n, err)
			}
			least = min(least, time.Since(began))
		}
		return least
	}
	for range 3 { // a busy machine may disturb one attempt
		small, large := fastest(3, 8_000), fastest(2, 80_000)
		if large <= 40*small {
			return
		}
		t.Logf("8,000 ids took %v, 80,000 took %v", small, large)
	}
	t.Error("ten times the ids took more than forty times the time")
}

// countdown is a context that ends when it was asked a number of times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Load ends with its context, wherever it is: before the first command, between parents, and within the ids of one parent.
func TestJoinLoadEnds(t *testing.T) {
	join := relate.NewJoin(joinParents, "kids", joinKids)
	db := modeltest.NewClient(t).Database("ends")
	for _, c := range []struct {
		reason  string
		parents []joinParent
	}{
		{"many parents without ids", make([]joinParent, 20_000)},
		{"one parent with many ids", []joinParent{lostIDs(20_000)}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			whole := &countdown{t.Context(), 1 << 30}
			if _, err := join.Load(whole, db, c.parents); err != nil {
				t.Fatal(err)
			}
			asked := 1<<30 - whole.left
			if asked < 20 {
				t.Errorf("the context was asked %d times", asked)
			}
			for n := 0; n < asked; n += max(1, asked/50) {
				if _, err := join.Load(&countdown{t.Context(), n}, db, c.parents); !errors.Is(err, context.Canceled) {
					t.Errorf("the context ended when it was asked %d times: %v", n, err)
				}
			}
		})
	}
}
