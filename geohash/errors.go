package geohash

import (
	"fmt"
	"math"
)

// CoordinateError says that a coordinate, a box or a circle's radius is invalid.
type CoordinateError struct {
	Field  string // Lat, Lng, Meters, South, West, North or East
	Value  float64
	Reason string // what the value must be
}

// Error returns field, value and reason.
func (e *CoordinateError) Error() string {
	return fmt.Sprintf("geohash: %s is %v: %s", e.Field, e.Value, e.Reason)
}

// SyntaxError says where a text isn't a geohash. [Parse] returns a SyntaxError.
// [AppendEncode] returns one for a wrong number of characters.
type SyntaxError struct {
	Input  string // the text's first 32 bytes
	Offset int    // where the error is, in bytes
	Reason string
}

// Error returns input, offset and reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("geohash: %q, at byte %d: %s", e.Input, e.Offset, e.Reason)
}

// check returns a *CoordinateError, with the name of the field, unless value is from
// -limit to limit.
func check(field string, value, limit float64) error {
	if math.Abs(value) <= limit { // false for NaN
		return nil
	}
	return &CoordinateError{Field: field, Value: value, Reason: fmt.Sprintf("must be within -%v to %v", limit, limit)}
}
