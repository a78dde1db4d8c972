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
	n := len(dst)
	if chars != MaxChars || cap(dst)-n < MaxChars || !exact(x, y) {
		return appendSlowly(dst, p, chars)
	}
	dst = dst[:n+MaxChars]
	odd, even := paired(x, y)
	at := (*[MaxChars]byte)(dst[n:])
	binary.LittleEndian.PutUint64(at[:8], firstEight(odd, even))
	binary.LittleEndian.PutUint32(at[8:], lastFour(odd, even))
	return dst, nil
}

func appendSlowly(dst []byte, p Point, chars int) ([]byte, error) {
	column, row, err := locate(p)
	if err != nil {
		return dst, err
	}
	if chars < 1 || chars > MaxChars {
		return dst, &SyntaxError{Reason: fmt.Sprintf("%d characters, must be 1 to %d", chars, MaxChars)}
	}
	var all [MaxChars]byte
	odd, even := paired(column<<fractionBits, row<<fractionBits)
	binary.LittleEndian.PutUint64(all[:8], firstEight(odd, even))
	binary.LittleEndian.PutUint32(all[8:], lastFour(odd, even))
	return append(dst, all[:chars]...), nil
}

// fractionBits are those of a float64's mantissa that remain below a cell's number.
const fractionBits = 52 - axisBits

// scaled maps -180 to 180, and -90 to 90, to 1 to 2, adds 2^-51, and returns the floats' bits: the upper 30 of the 52 of a mantissa
// are the number of the column and the row. In range, the bits above are those of 1.
//
// The product is rounded once (its factor too), to at most 2^-53 in all, the sum to 2^-53: a mantissa is off by one at most.
// The conversions keep compilers from fusing product and sum.
func scaled(p Point) (x, y uint64) {
	const middle = 1.5 + 1.0/(1<<51)
	return math.Float64bits(float64(p.Lng*(1.0/360)) + middle), math.Float64bits(float64(p.Lat*(1.0/180)) + middle)
}

// exact reports whether the number of a cell is certain: the floats are in range, and their mantissas, less the 2 that scaled adds,
// two or more away from an edge. Each condition that fails sets bits above the mantissa, so that one comparison finds them
// all: next to an edge the fraction is 0, and one less than that has all bits.
func exact(x, y uint64) bool {
	const one, fraction = 0x3ff << 52, 1<<fractionBits - 4
	return ((x&fraction-1)|(y&fraction-1)|(x^y)|(x^one))>>52 == 0
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
		t[n] = t[n>>1]<<2 | uint32(n&1)
	}
	return t
}()

const spreadBits = axisBits / 3

// interleave makes a key of the lower 30 bits of each, a column's and a row's number.
func interleave(column, row uint64) Key {
	const low = 1<<spreadBits - 1
	first := uint64(spread[column>>(2*spreadBits)&low])*2 + uint64(spread[row>>(2*spreadBits)&low])
	middle := uint64(spread[column>>spreadBits&low])*2 + uint64(spread[row>>spreadBits&low])
	last := uint64(spread[column&low])*2 + uint64(spread[row&low])
	return Key(first<<(4*spreadBits) + middle<<(2*spreadBits) + last)
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

// Characters of a column and a row, the upper 30 bits of mantissas, come from pairs of five bits of the column and five of the row:
// odd has the first, third and fifth pair, even those between. The first character is in the low byte.

func paired(x, y uint64) (odd, even uint64) {
	const columns, rows = 0xf83e0f8 << 24, 0xf83e0f8 << 19 // every other five of these bits
	return x&columns | y>>5&rows, x<<5&columns | y&rows
}

func firstEight(odd, even uint64) uint64 {
	return uint64(pairs[odd>>42&1023]) | uint64(pairs[even>>42&1023])<<16 | uint64(pairs[odd>>32&1023])<<32 | uint64(pairs[even>>32&1023])<<48
}

func lastFour(odd, even uint64) uint32 {
	return uint32(pairs[odd>>22&1023]) | uint32(pairs[even>>22&1023])<<16
}
