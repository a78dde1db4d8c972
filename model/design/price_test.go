package design

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// What is priced is what is sent: over random workloads and layouts the commands and documents add up to the same, but
// for chance and for what the runs themselves insert.
func TestPriced(t *testing.T) {
	const runs = 20
	var commands, documents, sent, moved float64
	for seed := range seeds(10) {
		r := rand.New(rand.NewPCG(seed, 7))
		w := randomWorkload(r)
		for i := range w.Entities {
			w.Entities[i].Count *= 10
		}
		w.Server.Transactions = seed%2 == 0
		g, err := newGraph(w)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			l := randomLayout(r, g)
			if len(w.Relations) > 0 && r.IntN(3) == 0 {
				l = l.with(w.Relations[r.IntN(len(w.Relations))].name(), Storage{As: Paged, Page: 1 + r.Int64N(20)})
			}
			p, err := w.Price(l)
			if err != nil {
				continue
			}
			m := mongotest.NewMonitor()
			db := mongotest.NewClient(t, m).Database("priced")
			run := p.Runner()
			if err := run.Fill(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			for _, o := range p.Operations {
				cost, err := modeltest.Measure(m, func() error {
					for n := range runs {
						if err := run.Run(t.Context(), db, o.Operation, n); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				mean := float64(cost.Commands) / runs
				if math.Abs(mean-o.Commands) > 1 {
					t.Errorf("%s: %s is priced %.2f commands, and sent %.2f: %q", p.Layout, o.Operation, o.Commands, mean, o.Sent)
				}
				commands += o.Commands
				sent += mean
				documents += (o.Read + o.Written)
				moved += float64(cost.Returned+cost.Written) / runs
			}
		}
	}
	t.Logf("%.1f commands priced, %.1f sent; %.0f documents priced, %.0f moved", commands, sent, documents, moved)
	if math.Abs(commands/sent-1) > 0.02 || math.Abs(documents/moved-1) > 0.05 {
		t.Errorf("%.1f commands priced, %.1f sent; %.0f documents priced, %.0f moved", commands, sent, documents, moved)
	}
}

func randomLayout(r *rand.Rand, g *graph) (l Layout) {
	for _, group := range g.groups() {
		l = l.over(group[r.IntN(len(group))])
	}
	return l
}

// At the factor of a flip both layouts take the same; beyond it the other takes less.
func TestFlips(t *testing.T) {
	seen := 0
	for seed := range seeds(20) {
		w := randomWorkload(rand.New(rand.NewPCG(seed, 11)))
		d, err := w.Design()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Flips {
			seen++
			for _, side := range []float64{-1, 1} {
				other := w
				other.Operations = append([]Operation(nil), w.Operations...)
				for i := range other.Operations {
					if o := &other.Operations[i]; o.Name == f.Operation {
						o.Rate *= f.Factor
						step := side * 1e-3
						if f.Factor < 1 {
							step = -step
						}
						o.Rate *= 1 + step
					}
				}
				best, err := other.Price(d.Best.Layout)
				if err != nil {
					t.Fatal(err)
				}
				next, err := other.Price(f.To)
				if err != nil {
					t.Fatal(err)
				}
				if gain := best.Time - next.Time; (gain > 0) != (side > 0) && gain.Abs() > time.Microsecond {
					t.Errorf("seed %d: %+v to %s: at %+.0g of the flip the other takes %v less",
						seed, f, f.To, side*1e-3, gain)
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d flips", seen)
	}
}

// An exact search finds what the step by step search can at best find, and no layout is below the bound.
func TestBound(t *testing.T) {
	equal, all := 0, 0
	for seed := range seeds(20) {
		w := randomWorkload(rand.New(rand.NewPCG(seed, 13)))
		d, err := w.Design()
		if err != nil {
			t.Fatal(err)
		}
		g, err := newGraph(w)
		if err != nil {
			t.Fatal(err)
		}
		f := newFinder(g)
		b := f.steps()
		all++
		if f.best[0].Time < d.Best.Time {
			t.Errorf("seed %d: a step by step search finds %v, the exact one %v", seed, f.best[0].Time, d.Best.Time)
		}
		if f.best[0].Time == d.Best.Time {
			equal++
		}
		if b > d.Best.Time {
			t.Errorf("seed %d: the bound is %v, and %s takes %v", seed, b, d.Best.Layout, d.Best.Time)
		}
	}
	if equal*10 < all*9 {
		t.Errorf("the step by step search finds the best in %d of %d", equal, all)
	}
}
