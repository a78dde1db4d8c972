package geohash

import "math/bits"

const (
	// MaxBits is a key's number of bits, and the maximum of Cell.Bits.
	MaxBits = 60
	// MaxChars is the maximum length of a geohash, with five bits per character.
	MaxChars = 12
)

// Key is the number of a [Cell] of the smallest size, from 0 to 1<<60 - 1. The 60 bits
// halve the longitude and the latitude in turn, highest bit first. Keys sort like
// geohashes of 12 characters. BSON stores a Key as an int64.
type Key int64

// Cell is the rectangle of all keys with the same first bits. The field Bits is the
// number of these bits. The zero value is the world. Cells of 5, 10, … 60 bits are
// geohashes of 1 to 12 characters.
//
// In cells that this package returns, Key is the cell's first key. These cells can be
// compared by ==.
type Cell struct {
	Key  Key
	Bits uint8
}

// Cell returns the cell with this many bits that contains the key. A number below 0 means
// 0, above 60 means 60.
func (k Key) Cell(bits int) Cell {
	bits = max(0, min(bits, MaxBits))
	return Cell{Key: k & keyMask &^ (1<<(MaxBits-bits) - 1), Bits: uint8(bits)}
}

const keyMask = 1<<MaxBits - 1

// clean returns the cell without extra bits in Key.
func (c Cell) clean() Cell { return c.Key.Cell(int(c.Bits)) }

// Range returns the range of the keys in the cell.
func (c Cell) Range() Range {
	c = c.clean()
	return Range{Lo: c.Key, Hi: c.Key + 1<<(MaxBits-c.Bits)}
}

// CommonCell returns the smallest cell that contains both keys. The keys' places are at
// most the cell's [Cell.Diameter] apart. But near places can have a large common cell.
// For two places on opposite sides of the prime meridian, it is the whole world.
func CommonCell(a, b Key) Cell {
	return a.Cell(bits.LeadingZeros64(uint64((a^b)&keyMask)) - (64 - MaxBits))
}
