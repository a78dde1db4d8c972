package paths

import "slices"

// orderKeys are order keys for siblings that stand in their order: those that they are to have, if these are in order; else, as
// far as they are, those that they have, and others between them. Either list may be shorter, or hold "", where there are none. The
// siblings after those of wanted come after them.
func orderKeys(wanted, had []string) []string {
	out := make([]string, len(had))
	keep := make([]bool, len(had))
	n := 0
	for n < len(wanted) && checkKey(wanted[n]) == nil && (n == 0 || wanted[n-1] < wanted[n]) {
		n++
	}
	if n == len(wanted) && n > 0 {
		copy(out, wanted)
		last := ""
		for i := range had {
			if i >= n && checkKey(had[i]) == nil && had[i] > last {
				out[i] = had[i]
			}
			if keep[i] = out[i] != ""; keep[i] {
				last = out[i]
			}
		}
	} else {
		for _, i := range ascendingKeys(had) {
			out[i], keep[i] = had[i], true
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
		if err != nil || len(key) > longKey {
			return Spread(len(out))
		}
		out[i] = key
	}
	return out
}

// ascendingKeys are the positions of the longest ascending sequence of order keys.
func ascendingKeys(keys []string) []int {
	var ends []int // where the sequences end that are the best of their length
	before := make([]int, len(keys))
	for i, k := range keys {
		if checkKey(k) != nil {
			continue
		}
		n, _ := slices.BinarySearchFunc(ends, k, func(at int, k string) int {
			if keys[at] < k {
				return -1
			}
			return 1
		})
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	var out []int
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			out = append(out, i)
		}
	}
	slices.Reverse(out)
	return out
}
