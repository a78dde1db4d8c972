package core

import (
	"reflect"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

var plainTypes sync.Map // reflect.Type → bool, a cache of findPlain

// isPlain reports whether copies of a type's values are immutable, have no user-defined
// names, and are written by the driver's rules: structs of numbers, strings, times and
// ids, with valid names. They needn't be encoded to be kept, needn't be searched for refused
// names, and are encoded without the driver (structs.go). Slices, maps, pointers and
// interfaces aren't plain, because the caller could change what they refer to.
func isPlain(t reflect.Type) bool {
	if t == nil {
		return false
	}
	if known, ok := plainTypes.Load(t); ok {
		return known.(bool)
	}
	plain := findPlain(t)
	plainTypes.Store(t, plain)
	return plain
}

// immutableTypes are scalars that hold no pointer to what can change.
var immutableTypes = map[reflect.Type]bool{
	reflect.TypeFor[bson.ObjectID](): true, reflect.TypeFor[bson.Decimal128](): true,
	reflect.TypeFor[bson.DateTime](): true, reflect.TypeFor[bson.Timestamp](): true, reflect.TypeFor[time.Time](): true,
}

// isPlainStruct reports whether a type is plain, and stored as a document.
func isPlainStruct(t reflect.Type) bool {
	return t != nil && t.Kind() == reflect.Struct && isPlain(t) && !immutableTypes[t]
}

// findPlain is isPlain without the cache. A type that contains itself has a pointer, a slice
// or a map on the way, so it ends.
func findPlain(t reflect.Type) bool {
	switch k, _ := kindOf(t); {
	case immutableTypes[t]:
		return true
	case k == open, scalarTypes[t]:
		return false
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return true
	case reflect.Struct:
	default: // with uint and uint64, which may not fit BSON's integers: only encoding finds out
		return false
	}
	// The nil Codec: isPlain matters only where a value is encoded without options.
	l, err := LayoutOf(t, nil)
	if err != nil || l.Open {
		return false
	}
	for _, m := range l.fields {
		if CheckKey(m.name) != nil || !isPlain(m.typ) || crossesPointer(t, m.index) {
			return false
		}
	}
	return true
}

// crossesPointer reports whether a field is inlined through a pointer. If the pointer is
// nil, the field isn't stored.
func crossesPointer(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if t = t.Field(i).Type; t.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}
