package geohash

// Box is the places between two latitudes and two longitudes, in degrees, the edges included. With West > East it crosses the
// antimeridian. The meridian of 180 is that of -180: a box that reaches the one holds what is written as the other. At a pole
// places are told apart by the longitude that they are written with. A box with a number that is no coordinate, or with
// South > North, is none: it contains nothing and its cover is empty; [Box.Validate] says so.
type Box struct{ South, West, North, East float64 }

// Validate returns a [*CoordinateError] for a box that is none.
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

// Contains reports whether a point is in the box. A point that [Encode] refuses is in none.
func (b Box) Contains(p Point) bool {
	if !b.valid() || !p.valid() || p.Lat < b.South || p.Lat > b.North {
		return false
	}
	return b.holds(p.Lng) || p.Lng == maxLng && b.holds(-maxLng) || p.Lng == -maxLng && b.holds(maxLng)
}

// holds reports whether a longitude, as it is written, is in the box.
func (b Box) holds(lng float64) bool {
	if b.West <= b.East {
		return b.West <= lng && lng <= b.East
	}
	return lng >= b.West || lng <= b.East
}
