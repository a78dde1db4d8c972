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

// Encode returns the key of a point: the number of the point's cell. A cell is 1.9 cm
// high and up to 3.7 cm wide. A point on an edge belongs to the northern or eastern cell.
// A coordinate that is NaN, infinite or out of range gives a [*CoordinateError].
func Encode(p Point) (Key, error) {
	x, y := scaled(p)
	if !exact(x, y) {
		return encodeSlowly(p)
	}
	return interleave(x>>fractionBits, y>>fractionBits), nil
}

// AppendEncode appends a point's geohash to dst. The value of chars is the geohash's
// length, 1 to 12. An invalid point gives a [*CoordinateError]. An invalid length gives a
// [*SyntaxError]. On an error, dst is unchanged.
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
		return dst, &SyntaxError{Reason: fmt.Sprintf("%d characters: must be 1 to %d", chars, MaxChars)}
	}
	var all [MaxChars]byte
	odd, even := paired(column<<fractionBits, row<<fractionBits)
	binary.LittleEndian.PutUint64(all[:8], firstEight(odd, even))
	binary.LittleEndian.PutUint32(all[8:], lastFour(odd, even))
	return append(dst, all[:chars]...), nil
}

// fractionBits is how many bits of a float64's mantissa remain below a cell's number.
const fractionBits = 52 - axisBits

// scaled maps -180 to 180, and -90 to 90, to 1 to 2, adds 2^-51, and returns the floats'
// bits. The upper 30 of the 52 mantissa bits are the number of the column and the row. In
// range, the bits above the mantissa are those of 1.
//
// The product, with its factor, is rounded by at most 2^-53, and so is the sum: a
// mantissa is off by at most one. The conversions stop compilers from fusing product and
// sum.
func scaled(p Point) (x, y uint64) {
	const middle = 1.5 + 1.0/(1<<51)
	return math.Float64bits(float64(p.Lng*(1.0/360)) + middle), math.Float64bits(float64(p.Lat*(1.0/180)) + middle)
}

// exact reports whether the cell's number is certain: the floats are in range, and their
// mantissas, minus the 2 that scaled adds, are two or more away from an edge. Each
// condition that fails sets bits above the mantissa, so one comparison finds all
// failures: next to an edge the fraction is 0, and 0 minus one has all bits.
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

func locate(p Point) (column, row uint64, err error) {
	if err := p.Validate(); err != nil {
		return 0, 0, err
	}
	return index(p.Lng * (1 << 27)), index(p.Lat * (1 << 28)), nil
}

// index returns the number of the row or column with edges at multiples of 45. locate
// multiplies by powers of two, so its products aren't rounded. The quotient can't be
// rounded onto an edge: the float64 next to 45n is farther away, in proportion, than
// 2^-53, and half the distance of the float64s around n is at most that.
func index(d float64) uint64 {
	return min(uint64(int64(math.Floor(d/45))+axis/2), axis-1)
}

// spread maps a number to its bits on the even places.
var spread = func() (t [1 << spreadBits]uint32) {
	for n := range t {
		t[n] = t[n>>1]<<2 | uint32(n&1)
	}
	return t
}()

const spreadBits = axisBits / 3

// interleave makes a key of the lower 30 bits of column and row.
func interleave(column, row uint64) Key {
	const low = 1<<spreadBits - 1
	first := uint64(spread[column>>(2*spreadBits)&low])*2 + uint64(spread[row>>(2*spreadBits)&low])
	middle := uint64(spread[column>>spreadBits&low])*2 + uint64(spread[row>>spreadBits&low])
	last := uint64(spread[column&low])*2 + uint64(spread[row&low])
	return Key(first<<(4*spreadBits) + middle<<(2*spreadBits) + last)
}

const alphabet = "0123456789bcdefghjkmnpqrstuvwxyz"

// pairs maps five bits of a column and five bits of a row to two characters, the first in
// the low byte.
var pairs = func() (t [1 << 10]uint16) {
	for n := range t {
		k := interleave(uint64(n>>5), uint64(n&31))
		t[n] = uint16(alphabet[k>>5]) | uint16(alphabet[k&31])<<8
	}
	return t
}()

// paired returns the pairs of five column bits and five row bits that make characters. x
// and y are mantissas with column and row in the upper 30 bits. odd has the first, third
// and fifth pair, even has the pairs between.
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
