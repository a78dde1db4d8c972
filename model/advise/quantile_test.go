package advise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Ranks are those of tables of binomial probabilities.
func TestRanks(t *testing.T) {
	for _, test := range []struct {
		n         int
		p, sure   float64
		low, high int
	}{
		{100, 0.5, 0.95, 40, 61}, // of the median of a hundred: the 40th and the 61st
		{10, 0.5, 0.95, 2, 9},
		{5, 0.5, 0.95, 0, 6}, // 5 values can't say it of the median: 1 in 16 samples lies on one side
		{6, 0.5, 0.95, 1, 6},
		{100, 0.99, 0.95, 97, 101},
		{1000, 0.99, 0.95, 983, 997},
	} {
		if low, high := ranks(test.n, test.p, test.sure); low != test.low || high != test.high {
			t.Errorf("%d at %v: %d and %d, want %d and %d", test.n, test.p, low, high, test.low, test.high)
		}
	}
	for _, n := range []int{1, 7, 100, 5000} {
		sum := 0.0
		for k := range n + 1 {
			sum += binomial(n, k, 0.3)
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("the probabilities of %d add up to %v", n, sum)
		}
	}
}

// Intervals hold the true quantile as often as they say, whatever the distribution.
func TestIntervalsCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for name, draw := range map[string]func() int64{
		"uniform": func() int64 { return rng.Int64N(10000) },
		"skewed":  func() int64 { return int64(math.Exp(rng.ExpFloat64() * 2)) },
		"few":     func() int64 { return rng.Int64N(3) },
	} {
		population := make([]int64, 20000)
		for i := range population {
			population[i] = draw()
		}
		sorted := slices.Sorted(slices.Values(population))
		const runs, n = 200, 200
		held := map[float64]int{}
		for range runs {
			sample := make([]int64, n)
			for i := range sample {
				sample[i] = population[rng.IntN(len(population))]
			}
			s := spreadOf(sample, int64(len(population)), 0.95)
			for p, q := range map[float64]Quantile{0.5: s.P50, 0.99: s.P99} {
				if truth := sorted[rankOf(len(sorted), p)-1]; (q.OpenLow || q.Low <= truth) && (q.OpenHigh || truth <= q.High) {
					held[p]++
				}
			}
		}
		for p, got := range held {
			if share := float64(got) / runs; share < 0.9 {
				t.Errorf("%s: the intervals at %v hold the truth in %v of the samples", name, p, share)
			}
		}
	}
}

// A sample that is too small for a bound says so, on either side.
func TestOpenIntervals(t *testing.T) {
	for _, test := range []struct {
		n         int
		p         float64
		low, high bool
		text      string
	}{
		{5, 0.5, true, true, "3 (too few to tell)"}, {6, 0.5, false, false, "3 (1 to 6)"},
		{5, 0.99, false, true, "5 (4 or more)"}, {5, 0.01, true, false, "1 (2 or less)"},
		{1, 0.5, true, true, "1 (too few to tell)"},
	} {
		sorted := make([]int64, test.n)
		for i := range sorted {
			sorted[i] = int64(i + 1)
		}
		q := quantile(sorted, test.p, false, 0.95)
		if q.OpenLow != test.low || q.OpenHigh != test.high || q.text() != test.text {
			t.Errorf("%v of %d: %+v, %+v", test.p, test.n, q, q)
		}
		if q := quantile(sorted, test.p, true, 0.95); q.OpenLow || q.OpenHigh || q.Low != q.Value || q.High != q.Value {
			t.Errorf("of all: %+v", q)
		}
	}
}

// The share beyond the greatest seen is what leaves a sample without any of it at most as often as the confidence
// allows.
func TestBeyond(t *testing.T) {
	s := spreadOf(make([]int64, 1000), 5000, 0.95)
	if left := math.Pow(1-s.Beyond, 1000); math.Abs(left-0.05) > 1e-9 || math.Abs(s.Beyond-0.003) > 1e-4 {
		t.Errorf("beyond %v, left out with %v", s.Beyond, left)
	}
	if s := spreadOf(make([]int64, 10), 10, 0.95); s.Beyond != 0 || !s.isWhole() {
		t.Errorf("%+v", s)
	}
	if s := spreadOf(nil, 10, 0.95); s.N != 0 || s.text() != "nothing read" {
		t.Errorf("%+v", s)
	}
}
