package expr

import (
	"encoding/hex"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// binaries are operators on binary data, and on timestamps, the type of the oplog's times: {t: seconds, i: number}.
//
//	{$binarySize: "Héllo"}                     →   6
//	{$tsSecond: Timestamp({t: 5, i: 7})}       →   5
//	{$tsIncrement: Timestamp({t: 5, i: 7})}    →   7
var binaries = table{
	"$binarySize":  call(1, 1, binarySize),
	"$subtype":     call(1, 1, subtype),
	"$toUUID":      call(1, 1, toUUID),
	"$tsSecond":    call(1, 1, takeTimestamp("$tsSecond", 5687301, func(t bson.Timestamp) uint32 { return t.T })),
	"$tsIncrement": call(1, 1, takeTimestamp("$tsIncrement", 5687302, func(t bson.Timestamp) uint32 { return t.I })),
}

// binarySize is {$binarySize: string or binary data}: the number of bytes.
func binarySize(args []any) (any, error) {
	switch x := args[0].(type) {
	case string:
		return int32(len(x)), nil
	case bson.Binary:
		return int32(len(x.Data)), nil
	}
	if bsonval.IsNullish(args[0]) {
		return nil, nil
	}
	return nil, mongoerr.New(51276, "$binarySize requires a string or BinData argument, found: %s",
		bsonval.TypeName(args[0]))
}

// takeTimestamp returns the function of an operator that returns a part of a timestamp. code is for a value of another
// type. The text of the error begins with a space, as MongoDB's does.
func takeTimestamp(name string, code int32, part func(t bson.Timestamp) uint32) values {
	return func(args []any) (any, error) {
		if bsonval.IsNullish(args[0]) {
			return nil, nil
		}
		t, ok := args[0].(bson.Timestamp)
		if !ok {
			return nil, mongoerr.New(code,
				" Argument to %s must be a timestamp, but is %s", name, bsonval.TypeName(args[0]))
		}
		return int64(part(t)), nil
	}
}

// subtype is {$subtype: binary data}: the number of its subtype, such as 4 for a UUID.
func subtype(args []any) (any, error) {
	switch x := args[0].(type) {
	case bson.Binary:
		return int32(x.Subtype), nil
	default:
		if bsonval.IsNullish(x) {
			return nil, nil
		}
		return nil, mongoerr.New(10389300, "$subtype requires a BinData argument, found: %s", bsonval.TypeName(x))
	}
}

// toUUID is {$toUUID: string}: binary data of the subtype 4. The manual calls it a short form of $convert, and so the
// errors are the same as of $convert.
func toUUID(args []any) (any, error) {
	switch x := args[0].(type) {
	case string:
		id, ok := parseUUID(x)
		if !ok {
			return nil, mongoerr.New(mongoerr.ConversionFailure,
				"Failed to parse BinData '%s' in $convert with no onError value: Invalid UUID string: %s", x, x)
		}
		return id, nil
	case bson.Binary:
		if x.Subtype == bson.TypeBinaryUUID {
			return x, nil
		}
		return nil, newConversionError("Conversions between different binary subtypes are not supported")
	}
	if bsonval.IsNullish(args[0]) {
		return nil, nil
	}
	return nil, newUnsupportedError(args[0], bson.TypeBinary)
}

// parseUUID reads the 32 hexadecimal digits of a UUID, in groups of 8, 4, 4, 4 and 12.
func parseUUID(s string) (bson.Binary, bool) {
	groups := strings.Split(s, "-")
	if len(groups) != 5 {
		return bson.Binary{}, false
	}
	for i, n := range []int{8, 4, 4, 4, 12} {
		if len(groups[i]) != n {
			return bson.Binary{}, false
		}
	}
	data, err := hex.DecodeString(strings.Join(groups, ""))
	return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: data}, err == nil
}
