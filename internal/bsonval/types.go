// Types of values: their aliases in $type, and their places in the comparison order.

package bsonval

import (
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Type returns the BSON type of v. It is 0 for Missing and for a Go value that isn't canonical. The cases are in the
// order of the manual's page on BSON types.
func Type(v any) bson.Type {
	switch v.(type) {
	case float64:
		return bson.TypeDouble
	case string:
		return bson.TypeString
	case bson.D:
		return bson.TypeEmbeddedDocument
	case bson.A:
		return bson.TypeArray
	case bson.Binary:
		return bson.TypeBinary
	case bson.Undefined:
		return bson.TypeUndefined
	case bson.ObjectID:
		return bson.TypeObjectID
	case bool:
		return bson.TypeBoolean
	case bson.DateTime:
		return bson.TypeDateTime
	case nil, bson.Null:
		return bson.TypeNull
	case bson.Regex:
		return bson.TypeRegex
	case bson.DBPointer:
		return bson.TypeDBPointer
	case bson.JavaScript:
		return bson.TypeJavaScript
	case bson.Symbol:
		return bson.TypeSymbol
	case bson.CodeWithScope:
		return bson.TypeCodeWithScope
	case int32:
		return bson.TypeInt32
	case bson.Timestamp:
		return bson.TypeTimestamp
	case int64:
		return bson.TypeInt64
	case bson.Decimal128:
		return bson.TypeDecimal128
	case bson.MinKey:
		return bson.TypeMinKey
	case bson.MaxKey:
		return bson.TypeMaxKey
	}
	return 0
}

// TypeName returns the alias of v's type, as $type names it: "int", "objectId",
// "null"; "missing" for Missing.
func TypeName(v any) string {
	if IsMissing(v) {
		return "missing"
	}
	if name, ok := aliases[Type(v)]; ok {
		return name
	}
	return "invalid"
}

// TypeAlias returns the alias of a type, "" for an unknown type.
func TypeAlias(t bson.Type) string { return aliases[t] }

// TypeByAlias returns the type that an alias names. The alias "number" isn't one of them, because it names four types:
// the caller handles it.
func TypeByAlias(alias string) (bson.Type, bool) {
	for t, name := range aliases {
		if name == alias {
			return t, true
		}
	}
	return 0, false
}

// aliases are the names of types for $type, in the order of the manual's page on BSON types.
var aliases = map[bson.Type]string{
	bson.TypeDouble:           "double",
	bson.TypeString:           "string",
	bson.TypeEmbeddedDocument: "object",
	bson.TypeArray:            "array",
	bson.TypeBinary:           "binData",
	bson.TypeUndefined:        "undefined",
	bson.TypeObjectID:         "objectId",
	bson.TypeBoolean:          "bool",
	bson.TypeDateTime:         "date",
	bson.TypeNull:             "null",
	bson.TypeRegex:            "regex",
	bson.TypeDBPointer:        "dbPointer",
	bson.TypeJavaScript:       "javascript",
	bson.TypeSymbol:           "symbol",
	bson.TypeCodeWithScope:    "javascriptWithScope",
	bson.TypeInt32:            "int",
	bson.TypeTimestamp:        "timestamp",
	bson.TypeInt64:            "long",
	bson.TypeDecimal128:       "decimal",
	bson.TypeMinKey:           "minKey",
	bson.TypeMaxKey:           "maxKey",
}

// classes are the places of the types in the comparison order. The numbers are those of MongoDB's source, because the
// hash of a value includes them (hash.go). Types that are compared by their values have the same class: numbers, and
// strings with symbols.
var classes = [256]int8{
	bson.TypeMinKey: -1,
	// Type 0, a missing value, has the class 0 too.
	bson.TypeUndefined: 0, bson.TypeNull: 5,
	bson.TypeInt32: 10, bson.TypeInt64: 10, bson.TypeDouble: 10, bson.TypeDecimal128: 10,
	bson.TypeString: 15, bson.TypeSymbol: 15,
	bson.TypeEmbeddedDocument: 20, bson.TypeArray: 25,
	bson.TypeBinary: 30, bson.TypeObjectID: 35, bson.TypeBoolean: 40,
	// A date is never equal to a timestamp.
	bson.TypeDateTime: 45, bson.TypeTimestamp: 47,
	bson.TypeRegex: 50, bson.TypeDBPointer: 55,
	bson.TypeJavaScript: 60, bson.TypeCodeWithScope: 65,
	bson.TypeMaxKey: 127,
}

// Class returns the place of a type in the comparison order. Type 0, the type of a missing value, has the class of
// undefined.
func Class(t bson.Type) int { return int(classes[t]) }

// Rank returns the class of v's type. A Go value that isn't canonical has a class of its own, before MaxKey.
func Rank(v any) int {
	switch t := Type(v); {
	case t != 0:
		return Class(t)
	case IsMissing(v):
		return 0
	}
	return 126 // appendRawKey uses it too, for bytes that aren't well formed
}
