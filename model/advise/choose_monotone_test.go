// This test raises one input of a relation, and holds in which direction Choose's answer may go.

package advise_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
)

// rank says how far the children are from their parent.
func rank(c advise.Choice) int {
	switch c.Structure() {
	case advise.Embed, advise.Values:
		return 0
	case advise.Outlier:
		return 1
	case advise.ChildRefs, advise.TwoWay:
		return 2
	}
	return 3
}

// raised is what a test of monotony makes more of, in a relation of parents that have many children.
type raised struct {
	name  string
	raise func(r *rel, f float64)
	wrong func(before, after advise.Choice) bool
}

func zero(v *float64) float64 { return max(0, *v) }

func up(v *float64, f float64) { *v = zero(v)*f + 0.001 }

func share(v *float64, f float64) { *v = min(1, zero(v)*f+0.06) }

// down makes a ratio less; otherwise is what is assumed.
func down(v *float64, f, otherwise float64) {
	if *v == 0 {
		*v = otherwise
	}
	if *v = zero(v) / f; math.IsInf(*v, 1) {
		*v = 2
	} else if *v == 0 {
		*v = none
	}
}

func more(v *int64, f float64) {
	if *v > 0 {
		*v = int64(float64(*v)*f) + 1
	}
}

func closer(before, after advise.Choice) bool {
	return rank(after) < rank(before) && (rank(after) < 2 || !before.Has(advise.Bucket)) // a page can be too large
}

func embeds(before, after advise.Choice) bool { return rank(before) > 1 && rank(after) <= 1 }

func gains(part advise.Choice) func(before, after advise.Choice) bool {
	return func(before, after advise.Choice) bool { return !before.Has(part) && after.Has(part) }
}

var monotone = []raised{
	{"more children at most", func(r *rel, f float64) { more(&r.Parent.Has.Max, f) }, closer},
	{"faster growth", func(r *rel, f float64) { up(&r.Parent.Has.PerDay, f) }, closer},
	{"unbounded", func(r *rel, _ float64) { r.Parent.Has.Unbounded = true }, closer},
	{"larger children", func(r *rel, f float64) {
		if more(&r.Child.Bytes, f); r.Child.Value {
			r.Child.Bytes = min(r.Child.Bytes, 1024)
		}
	}, embeds},
	{"larger parents", func(r *rel, f float64) { r.Parent.Bytes = model.MaxDocument - int64(1000*f) }, closer},
	{"larger ids", func(r *rel, f float64) { more(&r.Child.IDBytes, f) }, embeds},
	{"more on their own", func(r *rel, f float64) { share(&r.Child.Alone, f) }, embeds},
	{"more additions", func(r *rel, f float64) { down(&r.ReadsPerAdd, f, 10) }, embeds},
	{"more changes", func(r *rel, f float64) { down(&r.Child.ReadsPerChange, f, 100) }, embeds},
	{"hotter", func(r *rel, f float64) { up(&r.Parent.Has.PerSecond, f) }, embeds},
	{"more parents", func(r *rel, f float64) { more(&r.Child.Has.Max, f) }, embeds},
	{"copied fields of children change more", func(r *rel, f float64) {
		if r.Child.Copied.Fields != "" {
			down(&r.Child.Copied.ReadsPerChange, f, 100)
		}
	}, gains(advise.CopyIntoParent)},
	{"copied fields of the parent change more", func(r *rel, f float64) {
		if r.Parent.Copied.Fields != "" {
			down(&r.Parent.Copied.ReadsPerChange, f, 100)
		}
	}, gains(advise.CopyIntoChild)},
	{
		name:  "copies must be right",
		raise: func(r *rel, _ float64) { r.Child.Copied.Strong = r.Child.Copied.Fields != "" },
		wrong: gains(advise.CopyIntoParent),
	},
	{"the newest are looked at less", func(r *rel, f float64) {
		if r.Child.Newest.ReadsPerWrite != 0 {
			down(&r.Child.Newest.ReadsPerWrite, f, 0)
		}
	}, gains(advise.Subset)},
	{"totals change more", func(r *rel, f float64) {
		if r.Child.Total.ReadsPerChange != 0 {
			down(&r.Child.Total.ReadsPerChange, f, 0)
		}
	}, gains(advise.Counter)},
	{"one step", func(r *rel, _ float64) { r.Atomic = true }, func(before, after advise.Choice) bool {
		return rank(before) == 0 && rank(after) != 0 || after.Has(advise.TwoWay)
	}},
	{"parents asked for more", func(r *rel, f float64) {
		if r.Child.Shows != 0 { // else it could be all of them
			share(&r.Child.Shows, f)
		}
	}, func(before, after advise.Choice) bool {
		return before.Has(advise.TwoWay) && after.Has(advise.ChildRefs) ||
			before.Has(advise.ParentRef) && after.Has(advise.ChildRefs)
	}},
}

// Advice moves one way when one input does.
func TestChooseMonotone(t *testing.T) {
	for i, test := range monotone {
		t.Run(test.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			judged, moved := 0, 0
			for range 6000 {
				r := randomRelation(rng)
				r.Parent.Name, r.Child.Name = "a", "b"
				if r.Parent.Has == (count{}) || r.Parent.Has.Max == 1 {
					continue // one child has an answer of its own
				}
				before, parent := advise.Decide(r)
				changed := r
				test.raise(&changed, math.Exp(rng.Float64()*8))
				after, now := advise.Decide(changed)
				if before == 0 || after == 0 || parent != "a" || now != "a" || r.Tree.Nodes > 0 {
					continue
				}
				judged++
				if before != after {
					moved++
				}
				if test.wrong(before, after) {
					t.Fatalf("from %s to %s:\n%+v\n%+v\n%s", before, after, r, changed, advise.Choose(changed))
				}
			}
			if judged < 500 || moved < 1 {
				t.Errorf("%d judged, %d moved", judged, moved)
			}
		})
	}
}
