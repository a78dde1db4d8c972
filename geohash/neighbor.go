package geohash

// The eight neighbours of a cell, clockwise: indexes of what [Cell.Neighbors] returns.
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

// Neighbors returns the next cells of the same size, from [North] on clockwise. The bit 1<<d of ok says that there is a cell at
// index d. Beyond a pole there is no cell, and the zero value stands there. East of 180 comes the cell at -180; east and west of the
// world is the world. Cells of few bits can be a neighbour in two directions.
func (c Cell) Neighbors() (cells [8]Cell, ok uint8) {
	n := min(c.Bits, MaxBits)
	columns, rows := columnMask&sizes[n].mask, rowMask&sizes[n].mask
	column, row := c.Key&columns, c.Key&rows
	// One more on every second bit: with the bits between set, a carry passes through them, and -columns is those and one. One
	// less: with the bits between clear, a borrow does.
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

// atPole returns the neighbours of a cell in the first or the last row, or both.
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
	columnMask Key = 0x0aaaaaaaaaaaaaaa // of a key, the bits of the column
	rowMask    Key = 0x0555555555555555
)
