// This test describes one workload in other words, which must give the same design.

package design

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The same workload in other words has the same design: in another order, and with what is assumed written out.
func TestOtherWords(t *testing.T) {
	for seed := range seeds(10) {
		r := rand.New(rand.NewPCG(seed, 19))
		w := randomWorkload(r)
		d, err := w.Design()
		if err != nil {
			t.Fatal(err)
		}
		other := w
		other.Entities, other.Relations, other.Operations = slices.Clone(w.Entities), slices.Clone(w.Relations),
			slices.Clone(w.Operations)
		shuffle(r, other.Entities)
		shuffle(r, other.Relations)
		shuffle(r, other.Operations)
		for i, e := range other.Entities {
			other.Entities[i].Fields = slices.Clone(e.Fields)
			for j := range e.Fields {
				if f := &other.Entities[i].Fields[j]; f.Values == 0 && !f.Grows {
					f.Values = e.Count
				}
			}
			shuffle(r, other.Entities[i].Fields)
		}
		g, err := newGraph(w)
		if err != nil {
			t.Fatal(err)
		}
		for i := range other.Relations {
			rel := &other.Relations[i]
			rel.Max = g.relations[rel.name()].max()
		}
		other.Server = Server{Shards: 1, Costs: DefaultCosts}
		o, err := other.Design()
		if err != nil {
			t.Fatal(err)
		}
		if d.Best.Layout.String() != o.Best.Layout.String() || (d.Best.Time-o.Best.Time).Abs() > 100 {
			t.Errorf("seed %d: %s, %v\nin other words: %s, %v", seed, d.Best.Layout, d.Best.Time, o.Best.Layout, o.Best.Time)
		}
	}
}

func shuffle[T any](r *rand.Rand, list []T) {
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}
