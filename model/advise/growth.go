package advise

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	day           = 24 * time.Hour
	defaultWindow = 90 * day
)

// Growth says how many children the fastest-growing parent gains in a day.
//
// A [Survey] counts each parent's new children in SurveySpec.Window. If growth is
// uneven, only the window's third with the fewest new children counts. Parents without
// children before the window don't count.
//
// PerDay is the greatest gain of a parent, minus the part that chance explains
// (https://en.wikipedia.org/wiki/Bühlmann_model). Low and High are the confidence
// interval of the greatest gain, if children arrive independently
// (https://en.wikipedia.org/wiki/Poisson_distribution#Confidence_interval).
type Growth struct {
	PerDay, Low, High float64 // new children per day
	Days              float64 // [SurveySpec].Window, in days
	Parents           int64   // number of counted parents
	Unknown           string  // why growth is unknown, or ""
}

// text returns the fields in order: "0.21 a day (0.1 to 0.4) for the parent that gains
// most, from 90 days of 812 parents". If Unknown is set, text returns "not known: "
// and Unknown.
func (g Growth) text() string {
	if g.Unknown != "" {
		return "not known: " + g.Unknown
	}
	return fmt.Sprintf("%s a day (%s to %s) for the parent that gains most, from %s days of %s parents",
		ratioText(g.PerDay), ratioText(g.Low), ratioText(g.High), ratioText(g.Days), countText(g.Parents))
}

// steady is a parent's gain in a window without bursts: count children in that part of
// the window.
type steady struct {
	count int64
	part  float64
}

func (s steady) inWindow() float64 { return float64(s.count) / s.part }

// steadyOf takes the quietest third, if the three differ by more than chance explains: a
// chi-squared test with two degrees of freedom.
func steadyOf(thirds [3]int64, confidence float64) steady {
	total := thirds[0] + thirds[1] + thirds[2]
	if total == 0 {
		return steady{0, 1}
	}
	expected, squares := float64(total)/3, 0.0
	for _, n := range thirds {
		squares += (float64(n) - expected) * (float64(n) - expected) / expected
	}
	if math.Exp(-squares/2) <= 1-confidence {
		return steady{slices.Min(thirds[:]), 1. / 3}
	}
	return steady{total, 1}
}

// growthOf computes the growth from each parent's gain in the thirds of a window. There
// is at least one parent.
func growthOf(gained [][3]int64, days, confidence float64) Growth {
	n := float64(len(gained))
	// makes sums independent of the order
	gained = slices.SortedFunc(slices.Values(gained), func(a, b [3]int64) int { return slices.Compare(a[:], b[:]) })
	most, sum, noise, low, high := 0.0, 0.0, 0.0, 0.0, 0.0
	all := make([]steady, len(gained))
	for i, thirds := range gained {
		s := steadyOf(thirds, confidence)
		all[i] = s
		sum, noise, most = sum+s.inWindow(), noise+s.inWindow()/s.part, max(most, s.inWindow())
		from, to := poisson(s.count, (1-confidence)/n) // of all parents at once
		low, high = max(low, from/s.part), max(high, to/s.part)
	}
	mean, own := sum/n, 1.0
	if n > 1 {
		squares := 0.0
		for _, s := range all {
			squares += (s.inWindow() - mean) * (s.inWindow() - mean)
		}
		if own = 0; squares > 0 {
			own = max(0, 1-noise/n/(squares/(n-1)))
		}
	}
	rate := min(max(mean+own*(most-mean), low), high)
	return Growth{PerDay: rate / days, Low: low / days, High: high / days, Days: days, Parents: int64(len(gained))}
}

// poisson returns the interval of a rate for an observed count. miss is the probability
// of an error.
func poisson(count int64, miss float64) (low, high float64) {
	z := math.Sqrt2 * math.Erfinv(1-miss)
	bound := func(k, z float64) float64 {
		root := 1 - 1/(9*k) + z/(3*math.Sqrt(k))
		return k * root * root * root
	}
	if count > 0 {
		low = max(0, bound(float64(count), -z))
	}
	return low, bound(float64(count+1), z)
}

// readGrowth reads what the parents gained in the window, if the times of children are
// known.
func (r *surveying) readGrowth() error {
	g := &r.result.Growth
	g.Days = float64(r.spec.Window) / float64(day)
	first, until := r.between()
	if first == nil {
		g.Unknown = "no child tells when it was added"
		return nil
	}
	since := until.Add(-r.spec.Window)
	if first.After(since) {
		g.Unknown = fmt.Sprintf("the children are of %.3g days, and %.3g are needed",
			float64(until.Sub(*first))/float64(day), g.Days)
		return nil
	}
	gained := map[string]surveyLink{}
	var ids []bson.RawValue
	for _, f := range r.perParent {
		if f.last != nil && !f.last.Before(since) {
			ids = append(ids, f.id)
		}
	}
	count := func(some []bson.RawValue) error { return r.collect(r.countAdded(*until, some...), gained) }
	err := inThousands(ids, count)
	if err != nil {
		return err
	}
	r.concludeGrowth(since, gained)
	return nil
}

// concludeGrowth sums up what the parents gained since then.
func (r *surveying) concludeGrowth(since time.Time, gained map[string]surveyLink) {
	var told [][3]int64
	all := int64(0)
	for _, f := range r.perParent {
		l := gained[bsonval.Key(f.id)]
		all += l.N
		if f.first != nil && !f.first.After(since) {
			told = append(told, [3]int64{l.Early, l.N - l.Early - l.Late, l.Late})
		}
	}
	out := &r.result
	sampled := out.Parents
	if r.spec.Embedded == "" {
		all, sampled = 0, out.Children // a child counts for itself
		for _, d := range r.childDocs {
			if d.At != nil && !d.At.Before(since) {
				all++
			}
		}
	}
	days := out.Growth.Days
	out.Daily = float64(all) / float64(sampled.N) * float64(sampled.Of) / days
	if len(told) == 0 {
		out.Growth.Unknown = fmt.Sprintf("no parent that was read has had children for %.3g days", days)
		return
	}
	out.Growth = growthOf(told, days, r.spec.Confidence)
}

// between returns the times of the first and the latest child, or nil.
func (r *surveying) between() (first, last *time.Time) {
	within := func(a, b *time.Time) {
		if a != nil && (first == nil || a.Before(*first)) {
			first = a
		}
		if b != nil && (last == nil || b.After(*last)) {
			last = b
		}
	}
	for _, f := range r.perParent {
		within(f.first, f.last)
	}
	for _, d := range r.childDocs {
		within(d.At, d.At)
	}
	return first, last
}
