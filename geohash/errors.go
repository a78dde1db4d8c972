package geohash

import (
	"errors"
	"fmt"
	"math"
)

var (
	// ErrCoordinate is what a [*CoordinateError] wraps: [Encode], [AppendEncode], [Point.Validate], [Circle.Validate] and
	// [Box.Validate] return it.
	ErrCoordinate = errors.New("geohash: not a coordinate")
	// ErrSyntax is what a [*SyntaxError] wraps: [Parse] returns it, and [AppendEncode] for a number of characters that isn't 1 to 12.
	ErrSyntax = errors.New("geohash: not a geohash")
)

// CoordinateError says which number is no coordinate, or no size of a circle or box.
type CoordinateError struct {
	Field  string // Lat, Lng, Meters, South, West, North or East
	Value  float64
	Reason string // what it must be
}

// Error names the field, and says its value and the reason.
func (e *CoordinateError) Error() string {
	return fmt.Sprintf("geohash: %s is %v: %s", e.Field, e.Value, e.Reason)
}

// Unwrap returns [ErrCoordinate].
func (e *CoordinateError) Unwrap() error { return ErrCoordinate }

// SyntaxError says where a text stops being a geohash.
type SyntaxError struct {
	Input  string // at most its first 32 bytes
	Offset int    // in bytes, of what is wrong
	Reason string
}

// Error quotes the input, and says the place and the reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("geohash: %q, at byte %d: %s", e.Input, e.Offset, e.Reason)
}

// Unwrap returns [ErrSyntax].
func (e *SyntaxError) Unwrap() error { return ErrSyntax }

// check returns a *CoordinateError for a number that isn't within -limit to limit, with the name of its field.
func check(field string, value, limit float64) error {
	if math.Abs(value) <= limit { // not so for a NaN
		return nil
	}
	return &CoordinateError{Field: field, Value: value, Reason: fmt.Sprintf("must be within -%v to %v", limit, limit)}
}
