package advise

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
)

// probes are values of a field from its own on, downwards and upwards: the limits of the rules, and steps between them. A walk meets the
// nearest change of the answer if the answer doesn't change twice between two neighbours.
func (s *search) probes(field string, own, most float64) [2][]float64 {
	limits := []float64{0, 1, CopyLimit, HotLimit, FewLimit, ManyLimit, NestedLimit, math.Inf(1)}
	if strings.HasSuffix(field, ".ReadsPerChange") {
		limits = append(limits, float64(s.filled.Parent.Has.Typical), float64(s.filled.Child.Has.Typical))
	}
	if most == 1 {
		limits = []float64{0, AccessLimit / 2, AccessLimit, 0.2, 0.4, 0.6, 0.8, 1}
	} else if most == mostCount {
		limits = []float64{0, 1, FewLimit, ManyLimit, defaultDays, 16 << 10, ArrayLimit, 1 << 20, model.MaxDocument, mostCount}
		for x := 4.0; x < 1e9; x *= 4 {
			limits = append(limits, x)
		}
	}
	if field != "LinkBytes" && field != parentEnd+".Page" && field != childEnd+".Page" && most == mostCount {
		limits = limits[1:] // 0 is not known
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

// walk goes from probe to probe until the answer is another one, and then back to the boundary. If even the first value, with the other
// changes, gives another answer, then this one is needless.
func (s *search) walk(base Relation, also Flip, set func(float64) Change, probes []float64, between func(a, b float64) float64, farther float64) {
	at := func(v float64) (answer, bool) {
		there, err := set(v).Apply(base)
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

// wholeStep is a whole number between two, or one of them.
func wholeStep(a, b float64) float64 {
	return float64(int64(a) + (int64(b)-int64(a))/2)
}

// floatStep is a number between two that are at least 0: half as far by their bits, whose order is theirs.
func floatStep(a, b float64) float64 {
	x, y := math.Float64bits(a), math.Float64bits(b)
	if x > y {
		x, y = y, x
	}
	return math.Float64frombits(x + (y-x)/2)
}

// distance is how far a field is from another value: a share by its difference, other numbers by how many times one is the other.
func distance(field string, from, to float64) float64 {
	d := 0.0
	if isShare(field) {
		d = 5 * math.Abs(from-to)
	} else {
		d = apart(max(from, to/100), max(to, from/100))
	}
	if strings.HasSuffix(field, ".Has.Max") && from <= 1 {
		d += 6 // that documents come to be shared is farther away than any figure
	}
	return d
}

// apart is how many times one number is the other, as a logarithm; at most 7.
func apart(a, b float64) float64 { return min(7, math.Abs(math.Log(a/b))) }
