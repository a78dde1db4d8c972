package core

import (
	"encoding/json"
	"reflect"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A typeSet is a set of BSON types, as far apart as comparisons of queries tell them: a number
// of any type can equal a number of another type, a string and a symbol too. A field's set has
// the types that it can contain, a value's set the types of the fields that it can match. If
// the two sets have no type in common, the condition matches nothing, and is refused.
type typeSet uint16

const (
	numbers typeSet = 1 << iota // int, long, double, decimal
	strs                        // and symbols
	bools
	dates
	objectIDs
	binaries
	documents
	arrays
	others                      // all other types, such as timestamps and JavaScript
	anyType typeSet = 1<<16 - 1 // not known: nothing is refused
)

// typesByType has the types of Go types that the driver doesn't store by their kind.
var typesByType = map[reflect.Type]typeSet{
	reflect.TypeFor[time.Time](): dates, reflect.TypeFor[bson.DateTime](): dates,
	reflect.TypeFor[bson.ObjectID](): objectIDs, reflect.TypeFor[bson.Decimal128](): numbers,
	reflect.TypeFor[json.Number](): numbers, reflect.TypeFor[bson.JavaScript](): others,
	reflect.TypeFor[bson.Binary](): binaries, reflect.TypeFor[bson.Vector](): binaries,
}

// typesOf returns the BSON types of a Go type's field. A type that the driver stores by
// its own rule may have any.
func typesOf(t reflect.Type, k kind) typeSet {
	if held, ok := typesByType[t]; ok {
		return held
	}
	switch {
	case k == document:
		return documents
	case k == open, scalarTypes[t]:
		return anyType
	}
	switch t.Kind() {
	case reflect.String:
		return strs
	case reflect.Bool:
		return bools
	case reflect.Slice, reflect.Array: // of bytes
		return binaries
	}
	// From Int to Float64 the constants of package reflect are all integers and floats.
	if t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64 {
		return numbers
	}
	return anyType
}

// typeOf returns the type of a value that a Codec copied, as a set. It is anyType for null,
// because a query for null may search any field, and for values of which the type isn't known.
func typeOf(v any) typeSet {
	switch v := v.(type) {
	case string, bson.Symbol:
		return strs
	case bool:
		return bools
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64, bson.Decimal128:
		return numbers
	case bson.ObjectID:
		return objectIDs
	case time.Time, bson.DateTime:
		return dates
	case bson.Binary, []byte:
		return binaries
	case bson.D:
		return documents
	case bson.A, []string, []bson.ObjectID, []bson.D:
		return arrays
	case bson.Regex: // matches strings, and equals a stored pattern
		return strs | others
	case bson.Timestamp, bson.JavaScript, bson.DBPointer, bson.CodeWithScope:
		return others
	case bson.RawValue:
		return typeOfRaw(v.Type)
	}
	// A plain struct and types such as time.Duration reach this: a Codec returns them as they are.
	if t := reflect.TypeOf(v); t != nil && !openTypes[t] {
		if k, base := kindOf(t); k != open {
			return pickTypes(k == array, arrays, typesOf(base, k))
		}
	}
	return anyType
}

// pickTypes returns a if first is true, else b.
func pickTypes(first bool, a, b typeSet) typeSet {
	if first {
		return a
	}
	return b
}

// typeOfRaw is typeOf for an encoded value.
func typeOfRaw(t bson.Type) typeSet {
	switch t {
	case bson.TypeString, bson.TypeSymbol:
		return strs
	case bson.TypeBoolean:
		return bools
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return numbers
	case bson.TypeObjectID:
		return objectIDs
	case bson.TypeDateTime:
		return dates
	case bson.TypeBinary:
		return binaries
	case bson.TypeEmbeddedDocument:
		return documents
	case bson.TypeArray:
		return arrays
	case bson.TypeRegex:
		return strs | others
	case bson.TypeTimestamp, bson.TypeJavaScript, bson.TypeDBPointer, bson.TypeCodeWithScope:
		return others
	}
	return anyType
}
