package testkit

import (
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/model"
)

// PerValue measures what one of n values costs, for 1,000 and for 10,000: the two figures are alike where the work is linear.
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

// Distinct are n different words.
func Distinct(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint("word ", i)
	}
	return out
}

// Priced derives what a plan guarantees and costs, as running it does.
func Priced(p model.Plan) error {
	p.Guarantee()
	p.Cost()
	return p.Err()
}
