package expr

import (
	"github.com/docmodel/docmodel/internal/bsonval"
)

// Show renders a value for a message.
func Show(v any) string { return bsonval.Show(v) }

// Whole reads a whole number, or says what is wrong with the field of that name.
func Whole(name string, v any) (n int64, problem string) {
	n, ok := bsonval.Int64(v)
	switch {
	case !bsonval.IsNumber(v):
		return 0, "Expected a number in: " + name + ": " + Show(v)
	case !ok:
		return 0, "Expected an integer: " + name + ": " + Show(v)
	}
	return n, ""
}

// NonNegative reads a whole number that isn't negative, or says what is wrong with the field of that name.
func NonNegative(name string, v any) (n int64, problem string) {
	n, ok := bsonval.Int64(v)
	switch {
	case !bsonval.IsNumber(v):
		problem = "Expected a number in: "
	case !ok:
		problem = "Expected an integer: "
	case n < 0:
		problem = "Expected a non-negative number in: "
	default:
		return n, ""
	}
	return 0, problem + name + ": " + Show(v)
}
