package advise

import (
	"fmt"
	"math"
	"slices"
)

// isWhole reports whether all documents were read.
func (s Share) isWhole() bool { return s.N >= s.Of }

// text returns "1,000 of 28,000 sampled", or "all 120 read".
func (s Share) sampledText() string {
	if s.isWhole() {
		return "all " + countText(s.N) + " read"
	}
	return countText(s.N) + " of " + countText(s.Of) + " sampled"
}

// A Quantile is a Value that a given share of documents doesn't exceed, such as 99 % in
// [Spread].P99. Low and High bound the Value's confidence interval.
type Quantile struct {
	Value     int64
	Low, High int64 // confidence interval; both equal Value if everything was read
	OpenLow   bool  // no lower bound is known; Low is the smallest value read
	OpenHigh  bool  // no upper bound is known; High is the greatest value read
}

// A Spread is the distribution of a number that each document has, such as its size.
type Spread struct {
	Share    // how many documents were read, of how many
	P50, P99 Quantile
	Max      int64   // greatest value read; a sample can miss greater ones
	Beyond   float64 // estimate: at most this share of documents has more than Max
}

// text returns a text with P50, P99 and their confidence intervals, such as "2 (2 to 3)
// at p50, 9 (8 or more) at p99, greatest seen 12 (up to 0.3 % may have more); 1,000 of
// 28,000 sampled".
func (s Spread) text() string {
	if s.N == 0 {
		return "nothing read"
	}
	text := fmt.Sprintf("%s at p50, %s at p99, at most %s", s.P50.text(), s.P99.text(), countText(s.Max))
	if !s.isWhole() {
		text = fmt.Sprintf("%s at p50, %s at p99, greatest seen %s (up to %.2g %% may have more)",
			s.P50.text(), s.P99.text(), countText(s.Max), s.Beyond*100)
	}
	return text + "; " + s.Share.sampledText()
}

// text returns a text such as "12 (9 to 14)" or "12 (9 or more)".
func (q Quantile) text() string {
	switch {
	case q.OpenLow && q.OpenHigh:
		return countText(q.Value) + " (too few to tell)"
	case q.OpenLow:
		return fmt.Sprintf("%s (%s or less)", countText(q.Value), countText(q.High))
	case q.OpenHigh:
		return fmt.Sprintf("%s (%s or more)", countText(q.Value), countText(q.Low))
	case q.Low == q.Value && q.High == q.Value:
		return countText(q.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", countText(q.Value), countText(q.Low), countText(q.High))
}

// spreadOf computes the spread of a sample.
func spreadOf(values []int64, of int64, confidence float64) Spread {
	n := int64(len(values))
	s := Spread{Share: Share{n, max(n, of)}}
	if n == 0 {
		return s
	}
	sorted := slices.Sorted(slices.Values(values))
	s.Max = sorted[n-1]
	s.P50, s.P99 = quantile(sorted, 0.50, s.isWhole(), confidence), quantile(sorted, 0.99, s.isWhole(), confidence)
	if !s.isWhole() {
		s.Beyond = 1 - math.Pow(1-confidence, 1/float64(n))
	}
	return s
}

// quantile returns the smallest value that at least a share p of the sample doesn't
// exceed.
func quantile(sorted []int64, p float64, whole bool, confidence float64) Quantile {
	n := len(sorted)
	v := sorted[rankOf(n, p)-1]
	q := Quantile{Value: v, Low: v, High: v}
	if whole {
		return q
	}
	low, high := ranks(n, p, confidence)
	q.Low, q.OpenLow = sorted[max(low, 1)-1], low < 1
	q.High, q.OpenHigh = sorted[min(high, n)-1], high > n
	return q
}

func rankOf(n int, p float64) int { return max(1, min(n, int(math.Ceil(p*float64(n)-1e-9)))) }

// ranks returns the order statistics of n that enclose the quantile p with at least that
// confidence. The number of values that don't exceed the quantile is binomial. A low of 0
// means that there is no lower bound, a high of n+1 no upper bound.
func ranks(n int, p, confidence float64) (low, high int) {
	tail := (1 - confidence) / 2
	sum, found := 0.0, false
	for k := 0; k <= n; k++ {
		sum += binomial(n, k, p)
		if sum <= tail {
			low = k + 1 // P(K ≤ low−1) ≤ tail
		}
		if sum >= 1-tail {
			high, found = k+1, true // P(K ≤ high−1) ≥ 1−tail
			break
		}
	}
	if !found {
		high = n + 1
	}
	return min(low, n), high
}

// binomial is the probability of k successes in n trials.
func binomial(n, k int, p float64) float64 {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}
