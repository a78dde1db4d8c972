package advise

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// poissonDraw is a number of events of which so many are expected.
func poissonDraw(rng *rand.Rand, expected float64) (n int64) {
	for at := rng.ExpFloat64(); at < expected; at += rng.ExpFloat64() {
		n++
	}
	return n
}

// evenly are parents that gain so many in a window, each third alike.
func evenly(rng *rand.Rand, parents int, expected float64) (out [][3]int64) {
	for range parents {
		e := expected / 3
		out = append(out, [3]int64{poissonDraw(rng, e), poissonDraw(rng, e), poissonDraw(rng, e)})
	}
	return out
}

// The intervals are those of tables of exact ones (Garwood), within 2 % and two hundredths.
func TestPoisson(t *testing.T) {
	for _, test := range []struct {
		count           int64
		miss, low, high float64
	}{
		{0, 0.05, 0, 3.689}, {1, 0.05, 0.0253, 5.572}, {2, 0.05, 0.2422, 7.225}, {5, 0.05, 1.623, 11.668},
		{10, 0.05, 4.795, 18.390}, {50, 0.05, 37.11, 65.92}, {100, 0.05, 81.36, 121.63}, {10, 0.01, 3.717, 21.398},
		{30, 0.01, 17.767, 46.997},
	} {
		low, high := poisson(test.count, test.miss)
		near := func(got, want float64) bool { return math.Abs(got-want) <= 0.02*want+0.02 }
		if !near(low, test.low) || !near(high, test.high) {
			t.Errorf("%d at %v: %v to %v, want %v to %v", test.count, test.miss, low, high, test.low, test.high)
		}
	}
}

// A rate that is known comes out, whether all parents gain alike or one more than the others; and the interval holds
// it.
func TestGrowthOfKnownRates(t *testing.T) {
	for _, test := range []struct {
		name           string
		parents        int
		expected, most float64 // in a window: of each parent, and of the one that gains most
		off            float64 // how far the estimates are from it on average
	}{
		{"one that is slow", 1, 3, 3, 0.2},
		{"one that is fast", 1, 300, 300, 0.1},
		{"all alike, a few", 5, 20, 20, 0.15},
		{"all alike, a thousand", 1000, 1.8, 1.8, 0.3}, // the greatest count is about 8
		{"all alike, fast", 300, 90, 90, 0.1},
		{"one among slow ones", 1000, 0.5, 90, 0.2},
		{"one among a few", 3, 3, 90, 0.1},
	} {
		rng := rand.New(rand.NewPCG(11, uint64(test.parents)))
		const runs = 60
		sum, held := 0.0, 0
		for range runs {
			gained := evenly(rng, test.parents, test.expected)
			gained[0] = evenly(rng, 1, test.most)[0]
			g := growthOf(gained, 90, 0.95)
			if g.Unknown != "" || g.Parents != int64(test.parents) || g.Days != 90 || g.PerDay < g.Low || g.PerDay > g.High {
				t.Fatalf("%s: %+v", test.name, g)
			}
			sum += g.PerDay * 90 / test.most
			if g.Low*90 <= test.most && test.most <= g.High*90 {
				held++
			}
		}
		if off := sum/runs - 1; math.Abs(off) > test.off || held < runs*9/10 {
			t.Errorf("%s: off by %v, the interval holds it in %d of %d", test.name, off, held, runs)
		}
	}
}

// Growth that is a little stays a little, over all the days for which it is extrapolated.
func TestGrowthFlipsNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	for range 50 {
		g := growthOf(evenly(rng, 1000, 0.9), 90, 0.95) // 36 in ten years
		a := Choose(Relation{Parent: End{Has: Count{Typical: 20, Max: 60, PerDay: g.PerDay}}})
		if a.Choice != Embed {
			t.Errorf("%+v\n%s", g, a)
		}
	}
}

// A burst is no growth, even where it lies across two thirds of the window.
func TestGrowthBursts(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	for _, burst := range [][3]int64{{500, 0, 0}, {0, 500, 0}, {0, 0, 500}, {250, 250, 0}, {0, 10, 0}, {0, 4, 0}} {
		if g := growthOf([][3]int64{burst}, 90, 0.95); g.PerDay != 0 || g.High > 0.15 {
			t.Errorf("%v: %+v", burst, g)
		}
		if g := growthOf(append(evenly(rng, 500, 3), burst), 90, 0.95); g.PerDay > 4.5/90 {
			t.Errorf("%v beside what gains 3: %+v", burst, g)
		}
	}
	if g := growthOf([][3]int64{{30, 530, 30}}, 90, 0.95); g.PerDay != 1 {
		t.Errorf("a burst upon growth: %+v", g)
	}
}

func TestGrowthString(t *testing.T) {
	if s := (Growth{
		PerDay: 0.214, Low: 0.1, High: 0.4, Days: 90, Parents: 1812,
	}).text(); s != "0.214 a day (0.1 to 0.4) for the parent that gains most, from 90 days of 1,812 parents" {
		t.Error(s)
	}
	if s := (Growth{Unknown: "why"}).text(); !strings.HasPrefix(s, "not known: why") {
		t.Error(s)
	}
}
