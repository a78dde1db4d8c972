package geohash

import "slices"

// merger takes ranges in ascending order, and keeps at most max of them, by filling the narrowest gaps. What remains are the
// max-1 widest gaps: no other choice leaves fewer keys over, since the keys in gaps add up.
type merger struct {
	out  []Range // from base on, what was taken so far
	base int
	max  int
	gap  Key // with max ranges: the narrowest gap, between at and at+1
	at   int
}

func newMerger(dst []Range, limit int) merger {
	limit = max(limit, 1)
	if len(dst) == cap(dst) {
		dst = slices.Grow(dst, min(limit, 16))
	}
	return merger{out: dst, base: len(dst), max: limit, gap: 1<<63 - 1}
}

// add takes the next range, which begins where the last one ends or later.
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

// narrowest finds the narrowest gap; there is none, so none is narrower, with a single range.
func (m *merger) narrowest() {
	m.gap = 1<<63 - 1
	for i := m.base; i+1 < len(m.out); i++ {
		if g := m.out[i+1].Lo - m.out[i].Hi; g < m.gap {
			m.gap, m.at = g, i
		}
	}
}
