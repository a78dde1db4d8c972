package geohash

// Box is the area between two latitudes and two longitudes in degrees, edges included.
//
// If West > East, the box crosses the antimeridian. Longitudes 180 and -180 are equal. A
// [Point] at a pole also needs a longitude in the box. An invalid box ([Box.Validate])
// contains no point.
type Box struct{ South, West, North, East float64 }

// Validate returns a [*CoordinateError] if a side is NaN, infinite or out of range, or if
// South > North.
func (b Box) Validate() error {
	for _, side := range [...]struct {
		name         string
		value, limit float64
	}{{"South", b.South, maxLat}, {"West", b.West, maxLng}, {"North", b.North, maxLat}, {"East", b.East, maxLng}} {
		if err := check(side.name, side.value, side.limit); err != nil {
			return err
		}
	}
	if b.South > b.North {
		return &CoordinateError{Field: "South", Value: b.South, Reason: "must not be north of North"}
	}
	return nil
}

func (b Box) valid() bool {
	return Point{b.South, b.West}.valid() && Point{b.North, b.East}.valid() && b.South <= b.North
}

// Contains reports whether a point is in the box.
func (b Box) Contains(p Point) bool {
	if !b.valid() || !p.valid() || p.Lat < b.South || p.Lat > b.North {
		return false
	}
	return b.holds(p.Lng) || p.Lng == maxLng && b.holds(-maxLng) || p.Lng == -maxLng && b.holds(maxLng)
}

// holds reports whether a longitude is in the box. It doesn't equate -180 and 180.
func (b Box) holds(lng float64) bool {
	if b.West <= b.East {
		return b.West <= lng && lng <= b.East
	}
	return lng >= b.West || lng <= b.East
}
