package geohash

// Point returns the centre of the key's cell, without rounding. Encode gives the key back.
func (k Key) Point() Point {
	const (
		low   = 1<<halvedBits - 1
		row   = 1<<32 - 1
		first = maxLat - degrees/2 // the centre of the lowest row, to the south
	)
	both := halved[k>>50&low]<<25 + halved[k>>40&low]<<20 + halved[k>>30&low]<<15 +
		halved[k>>20&low]<<10 + halved[k>>10&low]<<5 + halved[k&low]
	return Point{float64(both&row)*degrees - first, float64(both>>32)*(2*degrees) - 2*first}
}

// degrees is the height of a row. A column is twice as wide. Edges and centres are multiples of the half of it, of 37 bits at
// most: products and sums of them aren't rounded, so that compilers may fuse them.
const degrees = 180.0 / axis

// halved has the bits on the odd places of a number, a column's, in the upper half, and those on the even places in the lower half.
var halved = func() (t [1 << halvedBits]int64) {
	for n := range int64(len(t)) {
		t[n] = t[n>>2]<<1 | n>>1&1<<32 | n&1
	}
	return t
}()

const halvedBits = MaxBits / 6

// Box returns the cell's edges, without rounding. As a [Box] it holds all four of them; of the cell itself the northern and the
// eastern edge are part of the next cell, except those at 90 and 180.
func (c Cell) Box() Box {
	s := &sizes[min(c.Bits, MaxBits)]
	p := (c.Key & s.mask).Point() // the centre of the smallest cell in the corner
	south, west := p.Lat-degrees/2, p.Lng-degrees
	return Box{South: south, West: west, North: south + s.height, East: west + s.width}
}

// sizes has for each number of bits the bits of a key that a cell has, and how high and wide it is.
var sizes = func() (t [MaxBits + 1]struct {
	mask          Key
	height, width float64
}) {
	for n := range t {
		t[n].mask = keyMask &^ (1<<(MaxBits-n) - 1)
		t[n].height, t[n].width = 180/float64(int64(1)<<(n/2)), 360/float64(int64(1)<<((n+1)/2))
	}
	return t
}()

// Center returns the middle of the cell's box, without rounding.
func (c Cell) Center() Point {
	b := c.Box()
	return Point{Lat: (b.South + b.North) / 2, Lng: (b.West + b.East) / 2}
}
