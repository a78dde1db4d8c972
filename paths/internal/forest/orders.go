package forest

import (
	"cmp"
	"slices"
)

// Orders are order keys for siblings that stand in their order: those that they are to have, if these are in order; else, as
// far as they are, those that they have, and others between them. Either list may be shorter, or hold "", where there are none. The
// siblings after those of wanted come after them.
func Orders(wanted, had []string) []string {
	out := make([]string, len(had))
	keep := make([]bool, len(had))
	n := 0
	for n < len(wanted) && CheckKey(wanted[n]) == nil && (n == 0 || wanted[n-1] < wanted[n]) {
		n++
	}
	if n == len(wanted) && n > 0 {
		copy(out, wanted)
		last := ""
		for i := range had {
			if i >= n && CheckKey(had[i]) == nil && had[i] > last {
				out[i] = had[i]
			}
			if keep[i] = out[i] != ""; keep[i] {
				last = out[i]
			}
		}
	} else {
		keep = Ascending(had, func(key string) bool { return CheckKey(key) == nil })
		for i := range had {
			if keep[i] {
				out[i] = had[i]
			}
		}
	}
	kept := slices.Index(keep, true) // the next that is
	if kept < 0 {
		return Spread(len(out))
	}
	for i := range out {
		prev, next := "", ""
		if i > 0 {
			prev = out[i-1]
		}
		for kept < len(keep) && (kept < i || !keep[kept]) {
			kept++
		}
		if kept < len(keep) {
			next = out[kept]
		}
		if keep[i] {
			continue
		}
		key, err := Between(prev, next)
		if err != nil || len(key) > LongKey {
			return Spread(len(out))
		}
		out[i] = key
	}
	return out
}

// Ascending marks the longest Ascending sequence of values that can be kept.
func Ascending[V cmp.Ordered](values []V, can func(V) bool) []bool {
	ends := []int{} // where the sequences end that are the best of their length
	before := make([]int, len(values))
	for i, v := range values {
		if !can(v) {
			continue
		}
		n, _ := slices.BinarySearchFunc(ends, v, func(at int, v V) int {
			if values[at] < v {
				return -1
			}
			return 1
		})
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		switch {
		case n == len(ends):
			ends = append(ends, i)
		case values[ends[n]] != v: // of equal values the first is kept
			ends[n] = i
		}
	}
	keep := make([]bool, len(values))
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			keep[i] = true
		}
	}
	return keep
}
