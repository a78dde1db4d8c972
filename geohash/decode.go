package geohash

// Point returns the centre of the key's cell, without rounding. Encode gives the key back.
func (k Key) Point() Point {
	x, y := uint64(k)>>1, uint64(k)
	return Point{Lat: middle(squeeze(y)), Lng: 2 * middle(squeeze(x))}
}

// middle returns the latitude in the middle of a row.
func middle(row uint64) float64 { return float64(2*int64(row)-(axis-1)) * (45.0 / (1 << 29)) }

// edge returns the latitude of the lower edge of a row; that of the row after the last is 90.
func edge(row uint64) float64 { return float64(int64(row)-axis/2) * (45.0 / (1 << 28)) }

// squeeze takes the bits on the even places, of the lower 60, together.
func squeeze(n uint64) uint64 {
	n &= 0x0555555555555555
	n = (n | n>>1) & 0x3333333333333333
	n = (n | n>>2) & 0x0f0f0f0f0f0f0f0f
	n = (n | n>>4) & 0x00ff00ff00ff00ff
	n = (n | n>>8) & 0x0000ffff0000ffff
	return (n | n>>16) & 0x00000000ffffffff
}

// Box returns the cell's edges, without rounding. As a [Box] it holds all four of them; of the cell itself the northern and the
// eastern edge are part of the next cell, except those at 90 and 180.
func (c Cell) Box() Box {
	c = c.clean()
	x, y := squeeze(uint64(c.Key)>>1), squeeze(uint64(c.Key))
	return Box{
		South: edge(y), West: 2 * edge(x),
		North: edge(y + 1<<(axisBits-c.Bits/2)), East: 2 * edge(x+1<<(axisBits-(c.Bits+1)/2)),
	}
}

// Center returns the middle of the cell's box, without rounding.
func (c Cell) Center() Point {
	b := c.Box()
	return Point{Lat: (b.South + b.North) / 2, Lng: (b.West + b.East) / 2}
}
