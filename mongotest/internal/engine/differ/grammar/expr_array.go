package grammar

// This file has the tables of operators on arrays, sets and documents.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// arrayOps are the operators on arrays.
func arrayOps() map[string]form {
	return map[string]form{
		// A position may lie before the array's beginning or beyond its end: $arrayElemAt gives nothing then, and
		// no error.
		"$arrayElemAt":  {anyKind, func(g *gen) any { return bson.A{g.expr(arr), g.smallNumber()} }},
		"$concatArrays": {arr, makeSome(arr, 0, 3)},
		"$filter": {arr, func(g *gen) any {
			out := tree.D("input", g.expr(arr))
			name := "this"
			if g.chance(50) {
				name = "y"
				out = append(out, bson.E{Key: "as", Value: name})
			}
			out = append(out, bson.E{Key: "cond", Value: g.exprWithVars(boolean, name)})
			if g.chance(25) {
				out = append(out, bson.E{Key: "limit", Value: pick[any](g, int32(1), int32(2))})
			}
			return out
		}},
		"$map": {arr, func(g *gen) any {
			if g.chance(50) {
				return tree.D("input", g.expr(arr), "in", g.exprWithVars(anyKind, "this"))
			}
			return tree.D("input", g.expr(arr), "as", "y", "in", g.exprWithVars(anyKind, "y"))
		}},
		// The initial value and the expression are of one kind, so that the sum, say, of an array is found more
		// often than an error.
		"$reduce": {anyKind, func(g *gen) any {
			k := pick(g, num, arr, str)
			return tree.D("input", g.expr(arr), "initialValue", g.constant(k), "in", g.exprWithVars(k, "this", "value"))
		}},
		"$first": {anyKind, makeOne(arr)}, "$last": {anyKind, makeOne(arr)},
		"$firstN": {arr, arrayN}, "$lastN": {arr, arrayN}, "$minN": {arr, arrayN}, "$maxN": {arr, arrayN},
		// The second operand must be an array.
		"$in": {boolean, makeArgs(anyKind, arr)},
		// Up to two more operands say from where to where to look.
		"$indexOfArray": {num, func(g *gen) any {
			out := bson.A{g.expr(arr), g.expr(num)}
			for range g.IntN(3) {
				out = append(out, pick[any](g, int32(0), int32(1), int32(3)))
			}
			return out
		}},
		"$reverseArray": {arr, makeSingle(arr)},
		"$size":         {num, makeSingle(arr)},
		// Two operands take elements from one end, three from a position on.
		"$slice": {arr, func(g *gen) any {
			if g.chance(60) {
				return bson.A{g.expr(arr), g.smallNumber()}
			}
			return bson.A{g.expr(arr), g.smallNumber(), pick[any](g, int32(1), int32(2))}
		}},
		"$sortArray": {arr, func(g *gen) any {
			return tree.D("input", g.expr(arr), "sortBy",
				pick[any](g, int32(1), int32(-1), tree.D("a", 1), tree.D("b", -1, "a", 1)))
		}},
		// Defaults stand only beside useLongestLength, and are as many as the arrays.
		"$zip": {arr, func(g *gen) any {
			out := tree.D("inputs", list(g, 1, 2, func() any { return g.expr(arr) }))
			if g.chance(40) {
				out = append(out, bson.E{Key: "useLongestLength", Value: true})
				if g.chance(40) {
					out = append(out, bson.E{
						Key:   "defaults",
						Value: list(g, len(out[0].Value.(bson.A)), len(out[0].Value.(bson.A)), g.number),
					})
				}
			}
			return out
		}},
		// Both forms of pairs, one name given twice, and no pairs at all.
		"$arrayToObject": {obj, func(g *gen) any {
			return tree.D("$literal", pick(g,
				bson.A{bson.A{"a", g.number()}, bson.A{"b", g.value(0)}},
				bson.A{tree.D("k", "a", "v", g.value(0)), tree.D("k", "a", "v", 2)},
				bson.A{}))
		}},
	}
}

// arrayN makes the operand of an operator that takes n elements.
func arrayN(g *gen) any {
	return tree.D("input", g.expr(arr), "n", pick[any](g, int32(1), int32(2), int64(5), 1.0))
}

// setOps are the operators on arrays as sets.
func setOps() map[string]form {
	return map[string]form{
		"$setUnion":        {arr, makeSome(arr, 0, 3)},
		"$setIntersection": {arr, makeSome(arr, 1, 3)},
		"$setDifference":   {arr, makeArgs(arr, arr)},
		"$setEquals":       {boolean, makeSome(arr, 2, 3)},
		"$setIsSubset":     {boolean, makeArgs(arr, arr)},
		"$anyElementTrue":  {boolean, func(g *gen) any { return bson.A{g.expr(arr)} }},
		"$allElementsTrue": {boolean, func(g *gen) any { return bson.A{g.expr(arr)} }},
	}
}

// objectOps are the operators on documents and their fields. Names that begin with $ or have dots need $literal.
func objectOps() map[string]form {
	key := func(g *gen) any { return pick(g, "a", "b", "f", "a.b", "$x") }
	return map[string]form{
		"$mergeObjects": {obj, func(g *gen) any {
			if g.chance(15) {
				return g.expr(obj)
			}
			return makeSome(obj, 1, 3)(g)
		}},
		"$objectToArray": {arr, makeSingle(obj)},
		"$getField": {anyKind, func(g *gen) any {
			if g.chance(40) {
				return pick(g, "a", "b", "f", "a.b")
			}
			return tree.D("field", tree.D("$literal", key(g)), "input", g.expr(obj))
		}},
		"$setField": {obj, func(g *gen) any {
			return tree.D("field", tree.D("$literal", key(g)), "input", g.expr(obj), "value", g.expr(anyKind))
		}},
		"$unsetField": {
			out:     obj,
			operand: func(g *gen) any { return tree.D("field", tree.D("$literal", key(g)), "input", g.expr(obj)) },
		},
	}
}
