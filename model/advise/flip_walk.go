package advise

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
)

// probes are the values of a field to try, from its own downwards and upwards: the limits
// of the rules, and steps between them. A walk finds the nearest change of the answer, if
// the answer doesn't change twice between two probes.
func (s *search) probes(field string, own, most float64) [2][]float64 {
	limits := []float64{0, 1, CopyLimit, HotLimit, FewLimit, ManyLimit, NestedLimit, math.Inf(1)}
	if strings.HasSuffix(field, ".ReadsPerChange") {
		limits = append(limits, float64(s.filled.Parent.Has.Typical), float64(s.filled.Child.Has.Typical))
	}
	if most == 1 {
		limits = []float64{0, AccessLimit / 2, AccessLimit, 0.2, 0.4, 0.6, 0.8, 1}
	} else if most == mostCount {
		limits = []float64{
			0, 1, FewLimit, ManyLimit, defaultDays, 16 << 10, ArrayLimit, 1 << 20, model.MaxDocument, mostCount,
		}
		for x := 4.0; x < 1e9; x *= 4 {
			limits = append(limits, x)
		}
	}
	if field != "LinkBytes" && field != parentEnd+".Page" && field != childEnd+".Page" && most == mostCount {
		limits = limits[1:] // 0 means unknown
	}
	var out [2][]float64
	for _, v := range limits {
		switch {
		case v < own:
			out[0] = append(out[0], v)
		case v > own && v <= most:
			out[1] = append(out[1], v)
		}
	}
	slices.SortFunc(out[0], func(a, b float64) int { return cmp.Compare(b, a) })
	slices.Sort(out[1])
	for i := range out {
		out[i] = slices.Insert(out[i], 0, own)
	}
	return out
}

// walk tries the probes until the answer changes, then searches back for the boundary. If
// already the first value gives another answer, this change is needless.
func (s *search) walk(
	base Relation, also Flip, set func(float64) Change, probes []float64, between func(a, b float64) float64, farther float64,
) {
	at := func(v float64) (answer, bool) {
		there, err := set(v).apply(base)
		if err != nil {
			return answer{}, false
		}
		return there.answer()
	}
	same := probes[0]
	if len(also) > 0 {
		if a, ok := at(same); !ok || a != s.chosen {
			return
		}
	}
	for _, v := range probes[1:] {
		a, ok := at(v)
		if !ok {
			continue
		}
		if a == s.chosen {
			same = v
			continue
		}
		other := v
		for {
			mid := between(same, other)
			if mid == same || mid == other {
				break
			}
			switch a, ok := at(mid); {
			case ok && a == s.chosen:
				same = mid
			default:
				other = mid
			}
		}
		s.try(append(slices.Clone(also), set(other)), farther+distance(set(other).Field, probes[0], other))
		return
	}
}

// wholeStep is a whole number between a and b, or one of them.
func wholeStep(a, b float64) float64 {
	return float64(int64(a) + (int64(b)-int64(a))/2)
}

// floatStep is a number between two that aren't negative, halfway in the order of their
// bits.
func floatStep(a, b float64) float64 {
	x, y := math.Float64bits(a), math.Float64bits(b)
	if x > y {
		x, y = y, x
	}
	return math.Float64frombits(x + (y-x)/2)
}

// distance is how far a field is from another value: the difference for a share, the
// ratio for other numbers.
func distance(field string, from, to float64) float64 {
	d := 0.0
	if isShare(field) {
		d = 5 * math.Abs(from-to)
	} else {
		d = apart(max(from, to/100), max(to, from/100))
	}
	if strings.HasSuffix(field, ".Has.Max") && from <= 1 {
		d += 6 // shared documents are farther away than any figure
	}
	return d
}

// apart is the logarithm of the ratio of two numbers, at most 7.
func apart(a, b float64) float64 { return min(7, math.Abs(math.Log(a/b))) }
