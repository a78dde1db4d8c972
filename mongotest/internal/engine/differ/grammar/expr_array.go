package grammar

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

func arrayOps() map[string]form {
	return map[string]form{
		"$arrayElemAt":  {anyKind, func(g *gen) any { return bson.A{g.expr(arr), g.small()} }},
		"$concatArrays": {arr, some(arr, 0, 3)},
		"$filter": {arr, func(g *gen) any {
			out := tree.D("input", g.expr(arr))
			name := "this"
			if g.chance(50) {
				name = "y"
				out = append(out, bson.E{Key: "as", Value: name})
			}
			out = append(out, bson.E{Key: "cond", Value: g.with(boolean, name)})
			if g.chance(25) {
				out = append(out, bson.E{Key: "limit", Value: pick[any](g, int32(1), int32(2))})
			}
			return out
		}},
		"$map": {arr, func(g *gen) any {
			if g.chance(50) {
				return tree.D("input", g.expr(arr), "in", g.with(anyKind, "this"))
			}
			return tree.D("input", g.expr(arr), "as", "y", "in", g.with(anyKind, "y"))
		}},
		"$reduce": {anyKind, func(g *gen) any {
			k := pick(g, num, arr, str)
			return tree.D("input", g.expr(arr), "initialValue", g.constant(k), "in", g.with(k, "this", "value"))
		}},
		"$first": {anyKind, one(arr)}, "$last": {anyKind, one(arr)},
		"$firstN": {arr, arrayN}, "$lastN": {arr, arrayN}, "$minN": {arr, arrayN}, "$maxN": {arr, arrayN},
		"$in": {boolean, args(anyKind, arr)},
		"$indexOfArray": {num, func(g *gen) any {
			out := bson.A{g.expr(arr), g.expr(num)}
			for range g.IntN(3) {
				out = append(out, pick[any](g, int32(0), int32(1), int32(3)))
			}
			return out
		}},
		"$reverseArray": {arr, single(arr)},
		"$size":         {num, single(arr)},
		"$slice": {arr, func(g *gen) any {
			if g.chance(60) {
				return bson.A{g.expr(arr), g.small()}
			}
			return bson.A{g.expr(arr), g.small(), pick[any](g, int32(1), int32(2))}
		}},
		"$sortArray": {arr, func(g *gen) any {
			return tree.D("input", g.expr(arr), "sortBy",
				pick[any](g, int32(1), int32(-1), tree.D("a", 1), tree.D("b", -1, "a", 1)))
		}},
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
		"$arrayToObject": {obj, func(g *gen) any {
			return tree.D("$literal", pick(g,
				bson.A{bson.A{"a", g.number()}, bson.A{"b", g.value(0)}},
				bson.A{tree.D("k", "a", "v", g.value(0)), tree.D("k", "a", "v", 2)},
				bson.A{}))
		}},
	}
}

func arrayN(g *gen) any {
	return tree.D("input", g.expr(arr), "n", pick[any](g, int32(1), int32(2), int64(5), 1.0))
}

func setOps() map[string]form {
	return map[string]form{
		"$setUnion":        {arr, some(arr, 0, 3)},
		"$setIntersection": {arr, some(arr, 1, 3)},
		"$setDifference":   {arr, args(arr, arr)},
		"$setEquals":       {boolean, some(arr, 2, 3)},
		"$setIsSubset":     {boolean, args(arr, arr)},
		"$anyElementTrue":  {boolean, func(g *gen) any { return bson.A{g.expr(arr)} }},
		"$allElementsTrue": {boolean, func(g *gen) any { return bson.A{g.expr(arr)} }},
	}
}

func objectOps() map[string]form {
	key := func(g *gen) any { return pick(g, "a", "b", "f", "a.b", "$x") }
	return map[string]form{
		"$mergeObjects": {obj, func(g *gen) any {
			if g.chance(15) {
				return g.expr(obj)
			}
			return some(obj, 1, 3)(g)
		}},
		"$objectToArray": {arr, single(obj)},
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
