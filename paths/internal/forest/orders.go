package forest

// New order keys for siblings of which some have keys already.

import (
	"cmp"
	"slices"
)

// ChooseOrders returns ascending order keys for siblings that are in their right order.
// If the keys in wanted are valid and ascending, the first siblings get them. Otherwise
// siblings keep the keys that they had, as many as possible. The others get keys in
// between. Both lists may be shorter than the siblings or contain "". Few keys change, so
// that few documents are written. If a key would become too long, all siblings get new
// keys.
func ChooseOrders(wanted, had []string) []string {
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
		keep = MarkAscending(had, func(key string) bool { return CheckKey(key) == nil })
		for i := range had {
			if keep[i] {
				out[i] = had[i]
			}
		}
	}
	// The index of the next sibling whose key is kept.
	kept := slices.Index(keep, true)
	if kept < 0 {
		return SpreadKeys(len(out))
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
		key, err := MakeKeyBetween(prev, next)
		if err != nil || len(key) > LongKey {
			return SpreadKeys(len(out))
		}
		out[i] = key
	}
	return out
}

// MarkAscending marks the longest ascending subsequence of the values for which can
// returns true. It keeps, for each length, the subsequence that ends with the smallest
// value ("patience sorting"), so it needs n log n comparisons.
func MarkAscending[V cmp.Ordered](values []V, can func(V) bool) []bool {
	// For each length, the index at which the best subsequence ends.
	ends := []int{}
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
