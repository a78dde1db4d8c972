package geohash

import "slices"

// merger takes ranges in ascending order and keeps at most max ranges, by filling the
// narrowest gaps. The max-1 widest gaps remain, so no other choice has fewer extra keys.
type merger struct {
	out  []Range // the ranges so far, from base on
	base int
	max  int
	gap  Key // the narrowest gap, between at and at+1, once out has max ranges
	at   int
}

func newMerger(dst []Range, limit int) merger {
	limit = max(limit, 1)
	if len(dst) == cap(dst) {
		dst = slices.Grow(dst, min(limit, 16))
	}
	return merger{out: dst, base: len(dst), max: limit, gap: 1<<63 - 1}
}

// add adds the next range, at or after the end of the last range.
func (m *merger) add(lo, hi Key) {
	n := len(m.out)
	if n == m.base {
		m.out = append(m.out, Range{lo, hi})
		return
	}
	last := &m.out[n-1]
	gap := lo - last.Hi
	full := n-m.base == m.max
	if gap == 0 || full && gap <= m.gap {
		last.Hi = hi
		return
	}
	if !full {
		m.out = append(m.out, Range{lo, hi})
		full = n+1-m.base == m.max
	} else {
		m.out[m.at].Hi = m.out[m.at+1].Hi
		copy(m.out[m.at+1:], m.out[m.at+2:])
		m.out[n-1] = Range{lo, hi}
	}
	if full {
		m.narrowest()
	}
}

// narrowest finds the narrowest gap, or the maximum for a single range.
func (m *merger) narrowest() {
	m.gap = 1<<63 - 1
	for i := m.base; i+1 < len(m.out); i++ {
		if g := m.out[i+1].Lo - m.out[i].Hi; g < m.gap {
			m.gap, m.at = g, i
		}
	}
}
