package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// arrays are operators that measure arrays, take parts of them, and join them.
//
//	{$size: [[3, 1, 2]]}              →   3
//	{$concatArrays: [[3, 1], [4]]}    →   [3, 1, 4]
//	{$reverseArray: [[3, 1, 2]]}      →   [2, 1, 3]
//	{$isArray: [7]}                   →   false
var arrays = table{
	"$arrayElemAt":  call(2, 2, func(a []any) (any, error) { return elementAt("$arrayElemAt", a[0], a[1]) }),
	"$first":        call(1, 1, func(a []any) (any, error) { return elementAt("$first", a[0], int32(0)) }),
	"$last":         call(1, 1, func(a []any) (any, error) { return elementAt("$last", a[0], int32(-1)) }),
	"$size":         call(1, 1, arraySize),
	"$slice":        call(2, 3, slice),
	"$concatArrays": callToNull(0, -1, concatArrays),
	"$isArray":      call(1, 1, func(a []any) (any, error) { _, ok := a[0].(bson.A); return ok, nil }),
	"$reverseArray": call(1, 1, reverseArray),
}

// elementAt is $arrayElemAt, and also $first and $last, which name a position themselves. A negative position counts
// from the end. Outside of the array the value is Missing, not null:
//
//	{$arrayElemAt: [[5, 6, 7], -1]}   →   7
//	{$arrayElemAt: [[5, 6, 7], 9]}    →   Missing
func elementAt(name string, list, at any) (any, error) {
	if bsonval.IsNullish(list) || bsonval.IsNullish(at) {
		return nil, nil
	}
	a, ok := list.(bson.A)
	if !ok {
		return nil, mongoerr.New(28689, "%s's first argument must be an array, but is %s", name, bsonval.TypeName(list))
	}
	if !bsonval.IsNumber(at) {
		return nil, mongoerr.New(28690,
			"%s's second argument must be a numeric value, but is %s", name, bsonval.TypeName(at))
	}
	i, ok := toInt32(at)
	if !ok {
		return nil, mongoerr.New(28691,
			"%s's second argument must be representable as a 32-bit integer: %s", name, bsonval.Show(at))
	}
	if i < 0 {
		i += int64(len(a))
	}
	if i < 0 || i >= int64(len(a)) {
		return bsonval.Missing, nil
	}
	return a[i], nil
}

// arraySize is {$size: array}. Unlike most operators it refuses null.
func arraySize(args []any) (any, error) {
	a, ok := args[0].(bson.A)
	if !ok {
		return nil, mongoerr.New(17124, "The argument to $size must be an array, but was of type: %s",
			bsonval.TypeName(args[0]))
	}
	return int32(len(a)), nil
}

// slice is {$slice: [array, n]} or {$slice: [array, position, n]}. Of two arguments, a negative n takes the last
// elements. Of three, a negative position counts from the end:
//
//	{$slice: [[5, 6, 7], -2]}      →   [6, 7]
//	{$slice: [[5, 6, 7], -2, 1]}   →   [6]
//
// The result shares the elements with the argument.
func slice(args []any) (any, error) {
	for _, v := range args {
		if bsonval.IsNullish(v) {
			return nil, nil
		}
	}
	a, ok := args[0].(bson.A)
	if !ok {
		return nil, mongoerr.New(28724, "First argument to $slice must be an array, but is of type: %s",
			bsonval.TypeName(args[0]))
	}
	size := int64(len(a))
	// The second argument has the codes 28725 and 28726, the third 28727 and 28728.
	var numbers [2]int64
	for i, v := range args[1:] {
		if !bsonval.IsNumber(v) {
			return nil, mongoerr.New(int32(28725+2*i),
				"argument %d to $slice must be a numeric value, but is of type: %s", i+2, bsonval.TypeName(v))
		}
		if numbers[i], ok = toInt32(v); !ok {
			return nil, mongoerr.New(int32(28726+2*i),
				"argument %d to $slice can't be represented as a 32-bit integer: %s", i+2, bsonval.Show(v))
		}
	}
	from, n := numbers[0], numbers[1]
	if len(args) == 2 {
		// The only number is n, not a position.
		if from >= 0 {
			return a[:min(from, size):min(from, size)], nil
		}
		return a[max(size+from, 0):], nil
	}
	if n <= 0 {
		return nil, mongoerr.New(28729, "Third argument to $slice must be positive: %d", n)
	}
	if from < 0 {
		from = max(size+from, 0)
	}
	from = min(from, size)
	to := min(from+n, size)
	return a[from:to:to], nil
}

// concatArrays is {$concatArrays: [array, …]}. One array may be given many times, so the length is checked before the
// elements are copied.
func concatArrays(args []any) (any, error) {
	out := bson.A{}
	for _, v := range args {
		if bsonval.IsNullish(v) {
			return nil, nil
		}
		a, ok := v.(bson.A)
		if !ok {
			return nil, mongoerr.New(28664, "$concatArrays only supports arrays, not %s", bsonval.TypeName(v))
		}
		if len(out)+len(a) > MaxMemory/elementSize {
			return nil, mongoerr.New(mongoerr.ExceededMemoryLimit,
				"$concatArrays would make %d elements", len(out)+len(a))
		}
		out = append(out, a...)
	}
	return out, nil
}

// reverseArray is {$reverseArray: array}. It copies the array, which may be a stored document's.
func reverseArray(args []any) (any, error) {
	if bsonval.IsNullish(args[0]) {
		return nil, nil
	}
	a, ok := args[0].(bson.A)
	if !ok {
		return nil, mongoerr.New(34435, "The argument to $reverseArray must be an array, but was of type: %s",
			bsonval.TypeName(args[0]))
	}
	out := make(bson.A, len(a))
	for i, v := range a {
		out[len(a)-1-i] = v
	}
	return out, nil
}
