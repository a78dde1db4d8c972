// Package direction reads the directions of sorts and indexes.
package direction

import "reflect"

// Of returns 1 or -1, of whatever type of number it is written as, and 0 for any other value.
func Of(v any) int {
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
