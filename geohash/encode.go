package geohash

import (
	"encoding/binary"
	"fmt"
	"math"
)

const (
	axisBits = MaxBits / 2   // bits of a key for each of longitude and latitude
	axis     = 1 << axisBits // columns, and rows, of 60-bit cells
)

// Encode returns the key of a point: the number of its 60-bit cell, 1.9 cm high and up to 3.7 cm wide, in the order of geohashes.
//
// It is what bisection gives, bit for bit, on every architecture: a point on the edge of two cells belongs to the upper or
// eastern one, and 90 and 180 to the last. A coordinate that is NaN, infinite or out of range is a [*CoordinateError].
func Encode(p Point) (Key, error) {
	x, y := scaled(p)
	if !exact(x, y) {
		return encodeSlowly(p)
	}
	return interleave(x>>fractionBits, y>>fractionBits), nil
}

// AppendEncode appends the geohash of a point, of 1 to 12 characters, to dst: that of the key, cut. It allocates only what dst
// lacks. With an error (of [Encode]; a [*SyntaxError] for another number of characters), dst is returned as it was.
func AppendEncode(dst []byte, p Point, chars int) ([]byte, error) {
	x, y := scaled(p)
	if !exact(x, y) {
		column, row, err := locate(p)
		if err != nil {
			return dst, err
		}
		x, y = column<<fractionBits, row<<fractionBits
	}
	if n := len(dst); chars == MaxChars && cap(dst)-n >= MaxChars {
		dst = dst[:n+MaxChars]
		putChars((*[MaxChars]byte)(dst[n:]), x, y)
		return dst, nil
	}
	if chars < 1 || chars > MaxChars {
		return dst, &SyntaxError{Reason: fmt.Sprintf("%d characters, must be 1 to %d", chars, MaxChars)}
	}
	var text [MaxChars]byte
	putChars(&text, x, y)
	return append(dst, text[:chars]...), nil
}

// fractionBits are those of a float64's mantissa that remain below a cell's number.
const fractionBits = 52 - axisBits

// scaled maps -180 to 180, and -90 to 90, to 1 to 2, and returns the mantissas: the upper 30 bits of 52 are the number of the
// column and the row. Out of that range, and for NaN, bits above the 52 are set, some of them at least.
//
// The product is rounded once (its factor too), to at most 2^-53 in all, the sum to 2^-53: a mantissa is off by one at most.
// The conversions keep compilers from fusing product and sum.
func scaled(p Point) (x, y uint64) {
	const one = 0x3ff << 52
	return math.Float64bits(float64(p.Lng*(1.0/360))+1.5) - one, math.Float64bits(float64(p.Lat*(1.0/180))+1.5) - one
}

// exact reports whether the number of a cell is certain: the mantissas are in range, and two or more away from an edge.
func exact(x, y uint64) bool {
	const fraction = 1<<fractionBits - 4
	return (x|y)>>52 == 0 && (x+2)&fraction != 0 && (y+2)&fraction != 0
}

func encodeSlowly(p Point) (Key, error) {
	column, row, err := locate(p)
	if err != nil {
		return 0, err
	}
	return interleave(column, row), nil
}

// locate returns the column and the row of any point.
func locate(p Point) (column, row uint64, err error) {
	if err := p.Validate(); err != nil {
		return 0, 0, err
	}
	return index(p.Lng * (1 << 27)), index(p.Lat * (1 << 28)), nil
}

// index returns the number of a row, or a column, whose edges are the multiples of 45: the factors of locate, powers of two, make
// them that without rounding. The quotient isn't rounded onto an edge either: a float64 next to 45n is farther from it, in
// proportion, than 2^-53, and half the distance of the float64s around n is no more than that.
func index(d float64) uint64 {
	return min(uint64(int64(math.Floor(d/45))+axis/2), axis-1)
}

// spread has a number's bits on the even places.
var spread = func() (t [1 << spreadBits]uint32) {
	for n := range t {
		for b := range spreadBits {
			t[n] |= uint32(n>>b&1) << (2 * b)
		}
	}
	return t
}()

const spreadBits = 11

// interleave makes a key of a column's and a row's number.
func interleave(column, row uint64) Key {
	const low = 1<<spreadBits - 1
	first := uint64(spread[column>>(2*spreadBits)&low])<<1 | uint64(spread[row>>(2*spreadBits)&low])
	middle := uint64(spread[column>>spreadBits&low])<<1 | uint64(spread[row>>spreadBits&low])
	last := uint64(spread[column&low])<<1 | uint64(spread[row&low])
	return Key(first<<(4*spreadBits) | middle<<(2*spreadBits) | last)
}

const alphabet = "0123456789bcdefghjkmnpqrstuvwxyz"

// pairs has two characters for five bits of a column and five of a row, the first one in the low byte.
var pairs = func() (t [1 << 10]uint16) {
	for n := range t {
		k := interleave(uint64(n>>5), uint64(n&31))
		t[n] = uint16(alphabet[k>>5]) | uint16(alphabet[k&31])<<8
	}
	return t
}()

// putChars writes the geohash of two mantissas.
func putChars(dst *[MaxChars]byte, x, y uint64) {
	const columns, rows = 31 << 5, 31
	first := uint64(pairs[x>>42&columns|y>>47&rows]) | uint64(pairs[x>>37&columns|y>>42&rows])<<16 |
		uint64(pairs[x>>32&columns|y>>37&rows])<<32 | uint64(pairs[x>>27&columns|y>>32&rows])<<48
	last := uint32(pairs[x>>22&columns|y>>27&rows]) | uint32(pairs[x>>17&columns|y>>22&rows])<<16
	binary.LittleEndian.PutUint64(dst[:8], first)
	binary.LittleEndian.PutUint32(dst[8:], last)
}
