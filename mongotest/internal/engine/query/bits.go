package query

// This file has the operators on bits: $bitsAllSet, $bitsAllClear, $bitsAnySet and $bitsAnyClear.
// https://www.mongodb.com/docs/manual/reference/operator/query-bitwise/

import (
	"fmt"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// bits is the predicate of all four. It passes for whole numbers that fit a long, and for binary data, by their bits at
// some positions. A number has the bit of its sign at every position from 64 on. Binary data has no bits set after its
// end.
type bits struct {
	positions []int64 // 0 is the lowest bit
	set       bool    // the bits must be set, not clear
	all       bool    // all of them, not any
}

// parseBits returns the parser of one of the operators.
func parseBits(op string, set, all bool) func(p *parser, arg any, _ bson.D) (cond, error) {
	return func(p *parser, arg any, _ bson.D) (cond, error) {
		positions, err := readPositions(p.path, op, arg)
		if err != nil {
			return nil, err
		}
		return leaf{bits{positions: positions, set: set, all: all}}, nil
	}
}

// readPositions reads a mask, which three kinds of values may have: a number, binary data or an array of positions. 50,
// BinData(0, "Mg==") and [1, 4, 5] are the same mask. path and op are for the error.
func readPositions(path, op string, arg any) ([]int64, error) {
	switch x := arg.(type) {
	case bson.A:
		positions := make([]int64, len(x))
		for i, v := range x {
			n, problem := readWhole(fmt.Sprint(i), v, math.MaxInt32)
			if problem != "" {
				return nil, mongoerr.New(mongoerr.BadValue, "Failed to parse bit position. %s", problem)
			}
			positions[i] = n
		}
		return positions, nil
	case bson.Binary:
		return listPositions(x.Data), nil
	}
	if !bsonval.IsNumber(arg) {
		return nil, mongoerr.New(mongoerr.BadValue, "%s takes an Array, a number, or a BinData but received: %s: %s",
			path, op, bsonval.Show(arg))
	}
	n, problem := readWhole(op, arg, math.MaxInt64)
	if problem != "" {
		return nil, mongoerr.New(mongoerr.FailedToParse, "%s", problem)
	}
	var positions []int64
	// The number isn't negative, so its highest bit isn't set.
	for i := range int64(63) {
		if n>>i&1 == 1 {
			positions = append(positions, i)
		}
	}
	return positions, nil
}

// listPositions returns the positions of the bits that are set. Position 0 is the lowest bit of the first byte.
func listPositions(data []byte) (positions []int64) {
	for i, b := range data {
		for k := range 8 {
			if b>>k&1 == 1 {
				positions = append(positions, int64(8*i+k))
			}
		}
	}
	return positions
}

// readWhole reads a whole number that isn't negative and at most limit. problem is MongoDB's text for a wrong value,
// with name in it: the operator, or a position in the array.
func readWhole(name string, v any, limit int64) (n int64, problem string) {
	shown := name + ": " + bsonval.Show(v)
	n, ok := bsonval.Int64(v)
	switch {
	case !bsonval.IsNumber(v):
		return 0, "Expected a number in: " + shown
	case bsonval.IsNaN(v):
		return 0, "Expected an integer, but found NaN in: " + shown
	case !ok && fitsLong(v):
		return 0, "Expected an integer: " + shown
	case !ok:
		return 0, "Cannot represent as a 64-bit integer: " + shown
	case n < 0:
		return 0, "Expected a non-negative number in: " + shown
	case n > limit:
		return 0, "Cannot represent " + shown + " in an int"
	}
	return n, ""
}

// fitsLong reports whether the number's whole part fits a long.
func fitsLong(v any) bool { _, ok := bsonval.TruncInt64(v); return ok }

func (b bits) test(v any, _ *int) bool {
	has, ok := readBits(v)
	if !ok {
		return false
	}
	// One bit decides: a wrong bit if all are asked for, a right one if any is. Without positions all are right.
	for _, at := range b.positions {
		if (has(at) == b.set) != b.all {
			return !b.all
		}
	}
	return b.all
}

func (bits) takesArrays() bool { return false }

// readBits returns a function that reports whether the bit at a position is set. ok is false for a value without bits.
func readBits(v any) (has func(at int64) bool, ok bool) {
	if x, isBinary := v.(bson.Binary); isBinary {
		return func(at int64) bool { return at/8 < int64(len(x.Data)) && x.Data[at/8]>>(at%8)&1 == 1 }, true
	}
	n, ok := bsonval.Int64(v)
	return func(at int64) bool { return n>>min(at, 63)&1 == 1 }, ok
}
