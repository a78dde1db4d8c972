package testkit

import (
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/model"
)

// PerValue measures the cost of one of n values, for 1,000 and 10,000. The figures are
// alike if the work is linear.
func PerValue(b *testing.B, prepare func(n int) (run func() error)) {
	b.Helper()
	for _, n := range []int{1_000, 10_000} {
		run := prepare(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/value")
		})
	}
}

// Distinct returns n different words.
func Distinct(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint("word ", i)
	}
	return out
}

// Priced computes a plan's guarantee and cost, as running it does.
func Priced(p model.Plan) error {
	p.Guarantee()
	p.Cost()
	return p.Err()
}
