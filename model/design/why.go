package design

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A Reason says how much time a relation's storage saves, compared with a plain
// reference.
type Reason struct {
	Relation string
	Storage  Storage
	Saves    time.Duration // the sum of all Gains
	Gains    []Gain        // each operation's gain, if not 0; greatest gain or loss first
}

// A Gain is the time that a relation's [Storage] saves for one operation. The time is
// Rate × (Time with a plain reference − Time with this storage). A loss is negative.
type Gain struct {
	Operation string
	Saves     time.Duration
}

// A Flip says which rate of one operation makes the layout To better than [Design].Best.
// The limit is Factor × [Operation].Rate. If Factor is at least 1, the rate must exceed
// the limit. Otherwise, the rate must be below it.
type Flip struct {
	To        Layout
	Operation string
	Factor    float64 // needed rate, divided by Operation's Rate
}

// reasons prices the best layout without the storage of each relation in turn.
func (f *finder) reasons(best Prices) (out []Reason) {
	for _, r := range f.Relations {
		st := best.Layout.Stored[r.name()]
		if st.plain() {
			continue
		}
		p, err := f.price(best.Layout.with(r.name(), Storage{}))
		if err != nil {
			continue
		}
		why := Reason{Relation: r.name(), Storage: st, Saves: p.Time - best.Time}
		for _, o := range best.Operations {
			saves := time.Duration(o.Rate * float64(p.Operation(o.Operation).Time-o.Time))
			if saves != 0 {
				why.Gains = append(why.Gains, Gain{o.Operation, saves})
			}
		}
		slices.SortStableFunc(why.Gains, func(a, b Gain) int { return cmp.Compare(b.Saves.Abs(), a.Saves.Abs()) })
		out = append(out, why)
	}
	slices.SortStableFunc(out, func(a, b Reason) int { return cmp.Compare(b.Saves, a.Saves) })
	return out
}

// flips finds, for each of the next layouts, the operation whose rate must change least
// to make it the best. It skips layouts that no single rate makes the best, and ignores
// limits of operations.
func flips(best Prices, next []Prices) (out []Flip) {
	for _, n := range next {
		flip := Flip{To: n.Layout}
		for _, o := range best.Operations {
			gain := o.Rate * float64(o.Time-n.Operation(o.Operation).Time)
			factor := 1 + float64(n.Time-best.Time)/gain
			if gain == 0 || factor <= 0 {
				continue
			}
			if flip.Operation == "" || math.Abs(math.Log(factor)) < math.Abs(math.Log(flip.Factor)) {
				flip.Operation, flip.Factor = o.Operation, factor
			}
		}
		if flip.Operation != "" {
			out = append(out, flip)
		}
	}
	return out
}
