package geohash

// Cover appends to dst at most max ranges (at least 1) of keys, sorted and disjoint. They
// contain every point that [Box.Contains] accepts, and few other points.
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
