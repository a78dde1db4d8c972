package page_test

import (
	"math"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/page"
)

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		got, want []float64
	}{
		{page.Decades(1, 6000), []float64{1, 10, 100, 1000}},
		{page.Decades(1, 1), []float64{1}},
		{page.Decades(1, 1e18), []float64{1, 1e3, 1e6, 1e9, 1e12, 1e15, 1e18}},
		{page.Steps(100), []float64{0, 20, 40, 60, 80, 100}},
		{page.Steps(3650), []float64{0, 1000, 2000, 3000}},
		{page.Steps(1), []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
	} {
		if !slices.EqualFunc(test.got, test.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9*b+1e-12 }) {
			t.Errorf("got %v, want %v", test.got, test.want)
		}
	}
	f := page.Interpolate(func(n int64) int64 { return n * n })
	if f(3) != 9 || f(3.5) != 12.5 {
		t.Error(f(3), f(3.5))
	}
}
