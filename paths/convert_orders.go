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
		keep = ascending(had, func(key string) bool { return checkKey(key) == nil })
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
		if err != nil || len(key) > longKey {
			return Spread(len(out))
		}
		out[i] = key
	}
	return out
}
