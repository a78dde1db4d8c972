// Package direction reads the value of a field in a sort, in an index's keys or in a spec's Order. It has one function:
//
//	direction.Parse(1)        1    ascending
//	direction.Parse(-1.0)    -1    descending
//	direction.Parse(2)        0    not a direction
//	direction.Parse("2d")     0    a special index
//
// # Callers
//
//   - Package model sorts, pages and compares indexes by it: an index {a: 1} also serves the sort {a: -1}.
//   - Constructors of techniques check the Order or By of a spec with it, and panic if the result is 0. Some then store
//     the result as an int32, so that {n: 1} and {n: 1.0} make the same command.
//
// # What is accepted
//
// A server accepts 1 and -1 in a sort, as a number of any type. So a caller may write an int, an int64, a float64, or a
// type of its own such as
//
//	type order int8
//
// A bson.Decimal128 isn't accepted, because nobody writes a direction as a decimal. In an index's keys a server also
// accepts other numbers, such as 2. Parse returns 0 for them, and its caller decides whether that is an error.
//
// The package is beside internal/mql, which writes sorts. It reads values of the caller, so it must accept any value
// without a panic: nil, NaN, a nil pointer.
package direction

import "reflect"

// Parse returns 1 or -1 if v is this number, of any integer or floating-point type. For any other value it returns 0.
func Parse(v any) int {
	// By kind and not by type, because a caller's own types of numbers are encoded as numbers too.
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		switch r.Int() {
		case 1:
			return 1
		case -1:
			return -1
		}
	case r.CanUint():
		if r.Uint() == 1 {
			return 1
		}
	case r.CanFloat():
		switch r.Float() {
		case 1:
			return 1
		case -1:
			return -1
		}
	}
	return 0
}
