package geohash

import (
	"iter"
	"math/bits"
)

// A Range contains the keys k with Lo ≤ k < Hi. It is empty if Hi ≤ Lo.
type Range struct{ Lo, Hi Key }

// Contains reports whether a key is in the range.
func (r Range) Contains(k Key) bool { return r.Lo <= k && k < r.Hi }

// Cells yields the range as cells, in order. There are as few cells as possible, at most
// 118. Keys below 0 or above 1<<60 - 1 are ignored.
func (r Range) Cells() iter.Seq[Cell] {
	return func(yield func(Cell) bool) {
		for lo, hi := max(r.Lo, 0), min(r.Hi, 1<<MaxBits); lo < hi; {
			// As many low bits as are zero in lo and fit below hi.
			rest := min(bits.TrailingZeros64(uint64(lo|1<<MaxBits)), bits.Len64(uint64(hi-lo))-1)
			if !yield(Cell{Key: lo, Bits: uint8(MaxBits - rest)}) {
				return
			}
			lo += 1 << rest
		}
	}
}

// Subtract appends to dst the keys in slice a that aren't in slice b. The appended ranges
// are sorted and disjoint, at most len(a)+len(b) of them. Within a, and within b, the
// ranges must be sorted and disjoint. dst must not share memory with a or b.
func Subtract(dst, a, b []Range) []Range {
	for _, r := range a {
		for len(b) > 0 && b[0].Hi <= r.Lo {
			b = b[1:]
		}
		for i := 0; i < len(b) && b[i].Lo < r.Hi && r.Lo < r.Hi; i++ {
			if b[i].Hi <= b[i].Lo {
				continue
			}
			if r.Lo < b[i].Lo {
				dst = append(dst, Range{r.Lo, b[i].Lo})
			}
			r.Lo = b[i].Hi
		}
		if r.Lo < r.Hi {
			dst = append(dst, r)
		}
	}
	return dst
}
