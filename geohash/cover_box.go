package geohash

// Cover appends to dst at most max ranges of keys, sorted and disjoint. The ranges
// contain the keys of all points in the box ([Box.Contains]), and of some points around
// the box. A max below 1 means 1. An invalid box appends nothing.
func (b Box) Cover(dst []Range, max int) []Range {
	if !b.valid() {
		return dst
	}
	south, north := int64(index(b.South*(1<<28))), int64(index(b.North*(1<<28)))
	west, east := int64(index(b.West*(1<<27))), int64(index(b.East*(1<<27)))
	switch {
	case b.West > b.East:
		east += axis
	case b.West == -maxLng: // the meridian of 180
		west--
	}
	if b.East == maxLng {
		east++
	}
	g := grid{alike: true}
	g.fit(south, north, east-west, max)
	rest := axisBits - g.bits
	g.rows[0] = span{west >> rest, east >> rest}
	return g.run(dst, max)
}
