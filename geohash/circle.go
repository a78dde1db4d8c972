package geohash

// Circle is the area up to Meters (metres) from Center, by [Distance]. If Meters is 0,
// the circle is only the center. If Meters is at least half the Earth's circumference,
// the circle is the world. An invalid circle (see Validate) contains nothing and has an
// empty cover.
type Circle struct {
	Center Point
	Meters float64
}

// Validate returns a [*CoordinateError] for an invalid center, or for Meters that are
// negative or NaN.
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

// Contains reports whether a point is in the circle or on its rim.
func (c Circle) Contains(p Point) bool {
	return c.valid() && p.valid() && Distance(c.Center, p) <= c.Meters
}
