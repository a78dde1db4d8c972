package geohash

import (
	"math/bits"
)

// A grid is a region, drawn with cells of one size: each row stores the columns that
// touch the region. The grid visits blocks of 8 by 8 cells in the order of keys. A
// block's part of the region is a word of 64 bits in key order, so runs of bits are
// ranges and gaps.
type grid struct {
	bits  int // of a row's or column's number: 3 to 30
	first int64
	count int
	wraps bool // some row has columns below 0 or above the last
	alike bool // all rows equal rows[0]
	rows  [maxRows]span
	merger
}

// span is the columns of one row, from lo to hi. Column numbers continue across the
// antimeridian. hi < lo is an empty span.
type span struct{ lo, hi int64 }

const (
	maxRows   = 128
	blockBits = 3
	block     = 1 << blockBits
)

// fit chooses the cell size, as small as it pays for limit ranges, and the rows. low and
// high are the lowest and highest row of 60-bit cells, columns is about how many columns
// of such cells there are.
func (g *grid) fit(low, high, columns int64, limit int) {
	finest := int64(40)
	switch { // the more ranges, the more smaller cells save
	case limit > 16:
		finest = maxRows
	case limit > 8:
		finest = maxRows / 2
	}
	longest := max(2*finest, min(20*int64(limit), 1<<12)) // of a long and narrow region
	highest := longest
	if !g.alike {
		highest = finest
	}
	for g.bits = axisBits; g.bits > blockBits; g.bits-- {
		rest := axisBits - g.bits
		rows, columns := (high-low)>>rest+2, columns>>rest+2
		if rows <= highest && columns <= longest && rows*columns <= 2*finest*finest {
			break
		}
	}
	g.first = low >> (axisBits - g.bits)
	g.count = int(high>>(axisBits-g.bits)-g.first) + 1
}

func (g *grid) run(dst []Range, limit int) []Range {
	columns := int64(1) << g.bits
	lo, hi := columns, -columns
	spans := g.rows[:1]
	if !g.alike {
		spans = g.rows[:g.count]
	}
	for _, r := range spans {
		if r.lo <= r.hi {
			lo, hi = min(lo, r.lo), max(hi, r.hi)
		}
	}
	if lo > hi {
		return dst
	}
	g.wraps = lo < 0 || hi >= columns
	g.merger = newMerger(dst, limit)
	area := blocks{lo >> blockBits, hi >> blockBits, g.first >> blockBits, (g.first + int64(g.count) - 1) >> blockBits}
	if g.wraps {
		g.visit(area, 0, 0, g.bits-blockBits)
	} else { // from the smallest square that holds all of them
		size := bits.Len64(uint64((area.west ^ area.east) | (area.south ^ area.north)))
		g.visit(area, area.west>>size<<size, area.south>>size<<size, size)
	}
	rest := 2 * (axisBits - g.bits)
	for i := len(dst); i < len(g.out); i++ {
		g.out[i].Lo, g.out[i].Hi = g.out[i].Lo<<rest, g.out[i].Hi<<rest
	}
	return g.out
}

type blocks struct{ west, east, south, north int64 }

// visit visits the blocks of the square at (x, y), 1<<size blocks wide, that are in the
// area.
func (g *grid) visit(area blocks, x, y int64, size int) {
	if size == 0 {
		g.draw(x, y)
		return
	}
	size--
	half := int64(1) << size
	for quarter := range int64(4) {
		x, y := x+quarter>>1<<size, y+quarter&1<<size
		if y > area.north || y+half <= area.south {
			continue
		}
		turn := int64(1) << (g.bits - blockBits)
		if x <= area.east && x+half > area.west || g.wraps && (x <= area.east-turn || x+half > area.west+turn) {
			g.visit(area, x, y, size)
		}
	}
}

func (g *grid) draw(x, y int64) {
	var cells uint64
	x, y = x<<blockBits, y<<blockBits
	first, last := max(y, g.first), min(y+block, g.first+int64(g.count))
	for row := first; row < last; row++ {
		r := &g.rows[0]
		if !g.alike {
			r = &g.rows[row-g.first]
		}
		columns := columnsOf(r.lo-x, r.hi-x)
		if g.wraps {
			turn := int64(1) << g.bits
			columns |= columnsOf(r.lo-x-turn, r.hi-x-turn) | columnsOf(r.lo-x+turn, r.hi-x+turn)
		}
		cells |= drawn[columns] << spread[row-y]
	}
	lo := interleave(uint64(x), uint64(y))
	for cells != 0 {
		gap := bits.TrailingZeros64(cells)
		cells >>= gap
		n := bits.TrailingZeros64(^cells)
		lo += Key(gap)
		g.add(lo, lo+Key(n))
		lo += Key(n)
		cells >>= n // 0 for 64
	}
}

// columnsOf returns eight bits: 1 for each column from lo to hi.
func columnsOf(lo, hi int64) uint8 {
	if hi < 0 || lo >= block || hi < lo {
		return 0
	}
	return 0xff << max(lo, 0) & (0xff >> (block - 1 - min(hi, block-1)))
}

// drawn maps the bits of eight columns to their places in the lowest row of a block, in
// key order.
var drawn = func() (t [1 << block]uint64) {
	for columns := range t {
		for x := range uint64(block) {
			t[columns] |= uint64(columns) >> x & 1 << interleave(x, 0)
		}
	}
	return t
}()
