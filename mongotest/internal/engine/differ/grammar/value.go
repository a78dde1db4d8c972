package grammar

// This file has documents and their values. They are few and small, so that values meet as equals.

import (
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// docs makes the documents of a case, with the ids 1, 2, 3, …, from low to high documents.
func (g *gen) docs(low, high int) []bson.D {
	n := low + g.IntN(high-low+1)
	out := make([]bson.D, n)
	for i := range out {
		out[i] = append(tree.D("_id", i+1), g.fields(5, 2)...)
	}
	return out
}

// fields makes the fields of a document: each key of the alphabet in turn, or not.
func (g *gen) fields(most, depth int) bson.D {
	var out bson.D
	for _, i := range g.Perm(len(keys)) {
		// Fields are missing often enough to test what operators make of that.
		if len(out) < most && g.chance(65) {
			out = append(out, bson.E{Key: keys[i], Value: g.fieldValue(keys[i], depth)})
		}
	}
	return out
}

// fieldValue makes a value for a field: mostly of the kind that its name stands for.
func (g *gen) fieldValue(key string, depth int) any {
	if g.chance(82) {
		return g.valueOf(kindOf[key], depth)
	}
	return g.value(depth)
}

// value is a value of any type.
func (g *gen) value(depth int) any {
	if g.chance(60) {
		return g.valueOf(kind(1+g.IntN(int(kinds)-1)), depth)
	}
	return g.rareValue()
}

// valueOf makes a value of a kind. Constants are few, so that values of different documents are often equal.
func (g *gen) valueOf(k kind, depth int) any {
	switch k {
	case num:
		return g.number()
	case str:
		return pick(g, "", "a", "b", "ab", "A", "aé", "b c", "10", "a.b", "x,y")
	case arr:
		return g.array(depth)
	case obj:
		// No deeper documents: cases stay small enough to be read.
		if depth <= 0 {
			return bson.D{}
		}
		// A point of GeoJSON, which geospatial operators find without an index too.
		if g.chance(6) {
			return tree.D("type", "Point", "coordinates", g.point())
		}
		return append(bson.D{}, g.fields(3, depth-1)...)
	case date:
		return pick(g, bson.DateTime(0), bson.DateTime(1_000_000_000_000), bson.DateTime(1_700_000_000_123),
			bson.DateTime(-1_000), bson.DateTime(951_782_400_000))
	case boolean:
		return g.chance(50)
	}
	return g.value(depth)
}

// number is mostly a small integer of any numeric type, so that different types meet as equals. The others are the
// ends of types, fractions, and what isn't finite.
func (g *gen) number() any {
	if g.chance(70) {
		n := g.IntN(6) - 1
		switch g.IntN(8) {
		case 0:
			return int64(n)
		case 1, 2:
			return float64(n)
		case 3:
			return tree.ParseDecimal(strconv.Itoa(n))
		}
		return int32(n)
	}
	return pick[any](g, 1.5, -2.5, 0.1, math.Copysign(0, -1), int32(100), int32(math.MaxInt32), int32(math.MinInt32),
		int64(1)<<53+1, float64(1<<53), int64(math.MaxInt64), math.NaN(), math.Inf(1), tree.ParseDecimal("1.5"),
		tree.ParseDecimal("1.50"),
		tree.ParseDecimal("0.1"), tree.ParseDecimal("NaN"), 1e10, int64(1e10), 2.5)
}

// array holds numbers, strings, documents or a mixture. Some are points, for geospatial operators.
func (g *gen) array(depth int) bson.A {
	if depth <= 0 {
		return list(g, 0, 3, g.number)
	}
	switch g.IntN(5) {
	case 0, 1:
		if g.chance(15) {
			return g.point()
		}
		return list(g, 0, 4, g.number)
	case 2:
		return list(g, 0, 4, func() any { return g.valueOf(str, 0) })
	case 3:
		return list(g, 0, 3, func() any { return append(bson.D{}, g.fields(2, depth-1)...) })
	}
	return list(g, 0, 4, func() any { return g.value(depth - 1) })
}

// rareValue is a value of one of the types that operators treat alike. Null is the most frequent.
func (g *gen) rareValue() any {
	return pick[any](g, nil, nil, nil, bson.MinKey{}, bson.MaxKey{},
		bson.ObjectID{0: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, bson.ObjectID{0x20}, bson.Timestamp{T: 5, I: 1},
		bson.Timestamp{T: 5, I: 2}, bson.Binary{Data: []byte{1, 2}}, bson.Binary{Subtype: 4, Data: make([]byte, 16)},
		bson.Binary{Data: []byte{3}}, bson.Regex{Pattern: "^a"}, bson.Regex{Pattern: "B", Options: "i"},
		bson.JavaScript("f()"))
}
