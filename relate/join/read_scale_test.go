package join_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/join"
)

// lostIDs is a parent of n ids that lead nowhere.
func lostIDs(n int) joinParent {
	p := joinParent{ID: 1, Kids: make([]int64, n)}
	for i := range p.Kids {
		p.Kids[i] = int64(i + 1)
	}
	return p
}

// What one of many missing ids of one parent costs.
func BenchmarkJoinLoadMissing(b *testing.B) {
	join := join.New(joinParents, "kids", joinKids, join.Spec{})
	db := mongotest.NewClient(b).Database("linear")
	testkit.PerValue(b, func(n int) func() error {
		parents := []joinParent{lostIDs(n)}
		return func() error {
			joined, err := join.Load(b.Context(), db, parents)
			if err == nil && (len(joined) != 1 || len(joined[0].Missing) != n) {
				err = fmt.Errorf("%d ids: %d parents", n, len(joined))
			}
			return err
		}
	})
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

// Load ends with its context, wherever it is: before the first command, between parents, and within the ids of one
// parent.
func TestJoinLoadEnds(t *testing.T) {
	join := join.New(joinParents, "kids", joinKids, join.Spec{})
	db := mongotest.NewClient(t).Database("ends")
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
