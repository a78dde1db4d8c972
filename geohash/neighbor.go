package geohash

// These directions, clockwise, are indexes into the result of [Cell.Neighbors].
const (
	North = iota
	NorthEast
	East
	SouthEast
	South
	SouthWest
	West
	NorthWest
)

// Neighbors returns the eight neighbors of the same size, clockwise from [North]. If a
// neighbor exists in direction d, ok contains the bit 1<<d. Beyond a pole, no neighbor
// exists. East of longitude 180 is the cell at -180. A large cell can be its own
// neighbor, or have equal neighbors.
func (c Cell) Neighbors() (cells [8]Cell, ok uint8) {
	n := min(c.Bits, MaxBits)
	columns, rows := columnMask&sizes[n].mask, rowMask&sizes[n].mask
	column, row := c.Key&columns, c.Key&rows
	// Adding one to every second bit: with the bits between set, a carry passes through,
	// and -columns is those bits and one. Subtracting: with the bits between clear, a
	// borrow passes.
	west, east := (column-1)&columns, (column-columns)&columns
	south, north := (row-1)&rows, (row-rows)&rows
	if row == 0 || row == rows {
		return atPole(n, [3]Key{west, column, east}, [3]Key{south, row, north}, row == 0, row == rows)
	}
	return [8]Cell{
		North: {north | column, n}, NorthEast: {north | east, n}, East: {row | east, n}, SouthEast: {south | east, n},
		South: {south | column, n}, SouthWest: {south | west, n}, West: {row | west, n}, NorthWest: {north | west, n},
	}, 0xff
}

// atPole returns the neighbors of a cell in the first or last row, or both.
func atPole(n uint8, columns, rows [3]Key, first, last bool) (cells [8]Cell, ok uint8) {
	for d, step := range [8][2]int{{1, 2}, {2, 2}, {2, 1}, {2, 0}, {1, 0}, {0, 0}, {0, 1}, {0, 2}} {
		if step[1] == 0 && first || step[1] == 2 && last {
			continue
		}
		cells[d], ok = Cell{columns[step[0]] | rows[step[1]], n}, ok|1<<d
	}
	return cells, ok
}

const (
	columnMask Key = 0x0aaaaaaaaaaaaaaa // the bits of the column
	rowMask    Key = 0x0555555555555555
)
