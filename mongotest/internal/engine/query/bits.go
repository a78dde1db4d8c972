package query

import (
	"fmt"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// bits passes for whole numbers that fit a long, and for binary data, by what they have at some
// positions. A number has the bits of its sign at every position from 64 on; binary data has none
// after its end. https://www.mongodb.com/docs/manual/reference/operator/query-bitwise/
type bits struct {
	positions []int64
	set       bool // the bits must be set, not clear
	all       bool // all of them, not any
}

func parseBits(op string, set, all bool) func(p *parser, arg any, _ bson.D) (cond, error) {
	return func(p *parser, arg any, _ bson.D) (cond, error) {
		positions, err := bitPositions(p.path, op, arg)
		if err != nil {
			return nil, err
		}
		return leaf{bits{positions, set, all}}, nil
	}
}

// bitPositions reads a mask: a number, binary data or an array of positions.
func bitPositions(path, op string, arg any) ([]int64, error) {
	switch x := arg.(type) {
	case bson.A:
		positions := make([]int64, len(x))
		for i, v := range x {
			n, problem := wholeNumber(fmt.Sprint(i), v, math.MaxInt32)
			if problem != "" {
				return nil, mongoerr.New(mongoerr.BadValue, "Failed to parse bit position. %s", problem)
			}
			positions[i] = n
		}
		return positions, nil
	case bson.Binary:
		return positionsOf(x.Data), nil
	}
	if !bsonval.IsNumber(arg) {
		return nil, mongoerr.New(mongoerr.BadValue, "%s takes an Array, a number, or a BinData but received: %s: %s",
			path, op, bsonval.Show(arg))
	}
	n, problem := wholeNumber(op, arg, math.MaxInt64)
	if problem != "" {
		return nil, mongoerr.New(mongoerr.FailedToParse, "%s", problem)
	}
	var positions []int64
	for i := range int64(63) {
		if n>>i&1 == 1 {
			positions = append(positions, i)
		}
	}
	return positions, nil
}

// positionsOf returns where bits are set, from the lowest of the first byte on.
func positionsOf(data []byte) (positions []int64) {
	for i, b := range data {
		for k := range 8 {
			if b>>k&1 == 1 {
				positions = append(positions, int64(8*i+k))
			}
		}
	}
	return positions
}

// wholeNumber reads a number that isn't negative, or says what is wrong with the element of that name.
func wholeNumber(name string, v any, limit int64) (n int64, problem string) {
	shown := name + ": " + bsonval.Show(v)
	n, ok := bsonval.Int64(v)
	switch {
	case !bsonval.IsNumber(v):
		return 0, "Expected a number in: " + shown
	case bsonval.IsNaN(v):
		return 0, "Expected an integer, but found NaN in: " + shown
	case !ok && inLong(v):
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

// inLong reports whether the number's whole part fits a long.
func inLong(v any) bool { _, ok := bsonval.TruncInt64(v); return ok }

func (b bits) test(v any, _ *int) bool {
	has, ok := bitsOf(v)
	if !ok {
		return false
	}
	for _, at := range b.positions {
		if (has(at) == b.set) != b.all {
			return !b.all
		}
	}
	return b.all
}

func (bits) whole() bool { return false }

// bitsOf returns what tells the bit at a position, false for a value that has no bits.
func bitsOf(v any) (has func(at int64) bool, ok bool) {
	if x, isBinary := v.(bson.Binary); isBinary {
		return func(at int64) bool { return at/8 < int64(len(x.Data)) && x.Data[at/8]>>(at%8)&1 == 1 }, true
	}
	n, ok := bsonval.Int64(v)
	return func(at int64) bool { return n>>min(at, 63)&1 == 1 }, ok
}
