package geohash

// Circle is the places at most Meters away from Center, by [Distance]. With 0 metres it is the center alone; with half the
// Earth's circumference, or infinitely many, it is the world. A circle around no valid point, or of negative or NaN metres, is
// none: it contains nothing and its cover is empty; [Circle.Validate] says so.
type Circle struct {
	Center Point
	Meters float64
}

// Validate returns a [*CoordinateError] for a circle that is none.
func (c Circle) Validate() error {
	if err := c.Center.Validate(); err != nil {
		return err
	}
	if !(c.Meters >= 0) {
		return &CoordinateError{Field: "Meters", Value: c.Meters, Reason: "must be 0 or more"}
	}
	return nil
}

func (c Circle) valid() bool { return c.Center.valid() && c.Meters >= 0 }

// Contains reports whether a point is in the circle, the rim included. A point that [Encode] refuses is in none.
func (c Circle) Contains(p Point) bool {
	return c.valid() && p.valid() && Distance(c.Center, p) <= c.Meters
}
