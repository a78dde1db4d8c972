package geohash

import "math/bits"

const (
	// MaxBits is the number of bits of a key, and of the smallest cell.
	MaxBits = 60
	// MaxChars is the number of characters of the longest geohash: five bits each.
	MaxChars = 12
)

// Key is the number of a 60-bit cell, from 0 to 1<<60 - 1: longitude and latitude bisected in turn, beginning with longitude,
// 30 times each. Keys are in the order of the geohashes of 12 characters; as an int64 it is an ordinary BSON number. The
// methods of numbers that are no keys look at their lower 60 bits.
type Key int64

// Cell is the rectangle of all keys that begin with the same Bits bits. The zero value is the whole world; cells of 5, 10, … 60
// bits are geohashes of 1 to 12 characters. Cells are comparable: the functions here return them with all further bits of Key
// zero, so that Key is the first one within. Methods ignore such bits, and take more than 60 bits for 60.
type Cell struct {
	Key  Key
	Bits uint8
}

// Cell returns the cell of so many bits that holds the key; below 0 bits counts as 0, above 60 as 60.
func (k Key) Cell(bits int) Cell {
	bits = max(0, min(bits, MaxBits))
	return Cell{Key: k & keyMask &^ (1<<(MaxBits-bits) - 1), Bits: uint8(bits)}
}

const keyMask = 1<<MaxBits - 1

// clean returns the cell without bits that are not its own.
func (c Cell) clean() Cell { return c.Key.Cell(int(c.Bits)) }

// Range returns the keys of the cell.
func (c Cell) Range() Range {
	c = c.clean()
	return Range{Lo: c.Key, Hi: c.Key + 1<<(MaxBits-c.Bits)}
}

// CommonCell returns the smallest cell that holds both keys: what two geohashes have in common at their beginning, bit by bit.
// Its [Cell.Diameter] is a bound on the distance of the two. The converse doesn't hold: two places next to each other on both
// sides of the equator have only the world in common, or one hemisphere. To find what is near, use [Circle.Cover].
func CommonCell(a, b Key) Cell {
	return a.Cell(bits.LeadingZeros64(uint64((a^b)&keyMask)) - (64 - MaxBits))
}
