package geohash

import (
	"fmt"
	"math"
)

// CoordinateError says which number is no coordinate, or no size of a circle or box. [Encode], [AppendEncode] and the Validate methods
// return it.
type CoordinateError struct {
	Field  string // Lat, Lng, Meters, South, West, North or East
	Value  float64
	Reason string // what it must be
}

// Error names the field, and says its value and the reason.
func (e *CoordinateError) Error() string {
	return fmt.Sprintf("geohash: %s is %v: %s", e.Field, e.Value, e.Reason)
}

// SyntaxError says where a text stops being a geohash: the error of [Parse], and of [AppendEncode] for a number of characters that
// isn't 1 to 12.
type SyntaxError struct {
	Input  string // at most its first 32 bytes
	Offset int    // in bytes, of what is wrong
	Reason string
}

// Error quotes the input, and says the place and the reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("geohash: %q, at byte %d: %s", e.Input, e.Offset, e.Reason)
}

// check returns a *CoordinateError for a number that isn't within -limit to limit, with the name of its field.
func check(field string, value, limit float64) error {
	if math.Abs(value) <= limit { // not so for a NaN
		return nil
	}
	return &CoordinateError{Field: field, Value: value, Reason: fmt.Sprintf("must be within -%v to %v", limit, limit)}
}
