package geohash

// Point returns the exact center of the key's cell. [Encode] of the point returns the
// key.
func (k Key) Point() Point {
	const (
		low   = 1<<halvedBits - 1
		row   = 1<<32 - 1
		first = maxLat - degrees/2 // minus the latitude of the lowest row's center
	)
	both := halved[k>>50&low]<<25 + halved[k>>40&low]<<20 + halved[k>>30&low]<<15 +
		halved[k>>20&low]<<10 + halved[k>>10&low]<<5 + halved[k&low]
	return Point{float64(both&row)*degrees - first, float64(both>>32)*(2*degrees) - 2*first}
}

// degrees is the height of a row. A column is twice as wide. Edges and centers are
// multiples of half of it, with at most 37 bits: products and sums aren't rounded, so
// compilers may fuse them.
const degrees = 180.0 / axis

// halved maps a number to its odd bits (a column) in the upper half and its even bits in
// the lower half.
var halved = func() (t [1 << halvedBits]int64) {
	for n := range int64(len(t)) {
		t[n] = t[n>>2]<<1 | n>>1&1<<32 | n&1
	}
	return t
}()

const halvedBits = MaxBits / 6

// Box returns the cell's edges, exactly. The box contains all four edges. The cell
// contains only its southern and western edges, and edges at latitude 90 or longitude
// 180.
func (c Cell) Box() Box {
	s := &sizes[min(c.Bits, MaxBits)]
	p := (c.Key & s.mask).Point() // center of the smallest cell in the corner
	south, west := p.Lat-degrees/2, p.Lng-degrees
	return Box{South: south, West: west, North: south + s.height, East: west + s.width}
}

// sizes contains, per number of bits, a cell's key bits, height and width.
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

// Center returns the center of the cell, exactly.
func (c Cell) Center() Point {
	b := c.Box()
	return Point{Lat: (b.South + b.North) / 2, Lng: (b.West + b.East) / 2}
}
