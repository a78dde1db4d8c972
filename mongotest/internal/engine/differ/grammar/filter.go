package grammar

// This file has the grammar of filters: clauses, conditions on a path, and their operators.

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// filter makes a filter of one or two clauses: of one if both have the same key.
func (g *gen) filter() bson.D {
	var out bson.D
	seen := map[string]bool{}
	for range 1 + g.IntN(2) {
		e := g.clause(2)
		if !seen[e.Key] {
			seen[e.Key] = true
			out = append(out, e)
		}
	}
	return out
}

// clause makes one condition: on a path, or a fifth of the time an operator over further clauses.
func (g *gen) clause(depth int) bson.E {
	if depth > 0 && g.chance(20) {
		name := pickKey(g, treeOps)
		return bson.E{Key: name, Value: treeOps[name](g, depth-1)}
	}
	path := g.path()
	return bson.E{Key: path, Value: g.condition(path, depth)}
}

// condition is what a path is compared with: a value, or one or two operators. Geospatial operators mostly stand
// alone, since MongoDB refuses other operators beside $geoWithin.
func (g *gen) condition(path string, depth int) any {
	if g.chance(15) {
		return g.operand(path)
	}
	var out bson.D
	for range 1 + g.IntN(5)/4 {
		name := pickKey(g, fieldOps)
		if slices.Contains(placeOps, name) && !g.chance(10) { // nothing may stand beside it
			return g.operator(name, path, depth)
		}
		if !tree.HasField(out, name) {
			out = append(out, g.operator(name, path, depth)...)
		}
	}
	return out
}

// operator is one operator with its operand, and with what belongs to it: $options needs a $regex before it.
func (g *gen) operator(name, path string, depth int) bson.D {
	if name == "$options" || name == "$regex" {
		out := tree.D("$regex", g.pattern())
		if name == "$options" {
			out = append(out, bson.E{Key: "$options", Value: pick(g, "i", "m", "s", "x", "")})
		}
		return out
	}
	return bson.D{{Key: name, Value: fieldOps[name](g, path, depth)}}
}

// operand is a value that the path may well hold: the kind follows from the last letter of the path, which is the
// name of the field.
func (g *gen) operand(path string) any {
	if g.chance(80) {
		return g.fieldValue(path[len(path)-1:], 1)
	}
	return g.value(1)
}

// pattern picks a regular expression. The last ones need what PCRE has and simpler engines lack.
func (g *gen) pattern() string {
	return pick(g, "^a", "b", "a$", "^A", "", "a|b", "^.", "[ab]", "é", "a.b", "^a?b",
		"a(?=b)", "^(?!a)", "(?>a|ab)b", "a++b", "^(?=.*b)(?!.*é)a")
}

// treeOps are the operators that stand where a path does, and fieldOps those on a path's value.
var (
	treeOps  = map[string]func(g *gen, depth int) any{}
	fieldOps = map[string]func(g *gen, path string, depth int) any{}
)

// fillFilters fills the tables of filters.
func fillFilters() {
	maps.Copy(treeOps, treeTable())
	maps.Copy(fieldOps, fieldTable())
	restrict(treeOps, query.Operators())
	restrict(fieldOps, query.Operators())
}

// treeTable has the operators that stand where a path does.
func treeTable() map[string]func(g *gen, depth int) any {
	return map[string]func(g *gen, depth int) any{
		"$and": func(g *gen, depth int) any { return g.branches(depth) },
		"$or":  func(g *gen, depth int) any { return g.branches(depth) },
		"$nor": func(g *gen, depth int) any { return g.branches(depth) },
		// An expression two operators deep at most.
		"$expr":        func(g *gen, _ int) any { return g.boolExpr(2) },
		"$comment":     func(*gen, int) any { return "a comment" },
		"$sampleRate":  func(g *gen, _ int) any { return pick[any](g, int32(0), 1.0) }, // any other is a matter of luck
		"$alwaysTrue":  func(*gen, int) any { return int32(1) },
		"$alwaysFalse": func(*gen, int) any { return 1.0 },
		"$jsonSchema": func(g *gen, _ int) any {
			key := pick(g, keys...)
			return tree.D("properties",
				tree.D(key, pick(g, tree.D("bsonType", g.typeName()), tree.D("minimum", 1), tree.D("maxLength", 1),
					tree.D("enum", bson.A{g.fieldValue(key, 0)}), tree.D("minItems", 2))), "required",
				bson.A{pick(g, keys...)})
		},
	}
}

// elements is a filter on the elements of an array, where operators on whole documents can't stand. It tries clauses
// until one has none of these.
func (g *gen) elements(depth int) bson.D {
	for {
		clause := bson.D{g.clause(depth)}
		whole := false
		tree.Walk(clause, func(key string, _ any) {
			whole = whole || key == "$expr" || key == "$jsonSchema" || key == "$comment"
		})
		if !whole {
			return clause
		}
	}
}

// branches makes the clauses of $and, $or or $nor.
func (g *gen) branches(depth int) bson.A {
	return list(g, 1, 3, func() any { return bson.D{g.clause(depth)} })
}

// typeName picks the name of a type.
func (g *gen) typeName() string {
	return pick(g, "int", "long", "double", "decimal", "string", "array", "object", "null", "bool", "date", "objectId")
}

// operandOf makes a value to compare with.
func operandOf(g *gen, path string, _ int) any { return g.operand(path) }

// operandsOf makes a list of values to compare with.
func operandsOf(g *gen, path string, _ int) any {
	return list(g, 0, 3, func() any { return g.operand(path) })
}

// bits makes a mask, a list of positions or binary data.
func bits(g *gen, _ string, _ int) any {
	return pick[any](g, int32(1), int32(3), int64(4), bson.A{int32(0)}, bson.A{int32(1), int32(2)},
		bson.Binary{Data: []byte{1}})
}

// fieldTable has the operators on a path's value.
func fieldTable() map[string]func(g *gen, path string, depth int) any {
	return map[string]func(g *gen, path string, depth int) any{
		"$eq": operandOf, "$ne": operandOf, "$gt": operandOf, "$gte": operandOf, "$lt": operandOf, "$lte": operandOf,
		"$in": operandsOf, "$nin": operandsOf, "$all": func(g *gen, path string, depth int) any {
			if g.chance(20) {
				return bson.A{tree.D("$elemMatch", bson.D{g.clause(0)})}
			}
			return list(g, 1, 2, func() any { return g.operandIn(path) })
		},
		// Numbers count as truths here.
		"$exists": func(g *gen, _ string, _ int) any { return pick[any](g, true, false, int32(1), int32(0)) },
		"$type": func(g *gen, _ string, _ int) any {
			return pick[any](g, g.typeName(), "number", int32(2), int32(16), bson.A{g.typeName(), int32(10)})
		},
		// Divisors and remainders of all types, negative ones and fractions, which are cut off.
		"$mod": func(g *gen, _ string, _ int) any {
			return bson.A{pick[any](g, int32(2), int64(3), 2.0, int32(-2)), pick[any](g, int32(0), int32(1), 1.5)}
		},
		"$size":          func(g *gen, _ string, _ int) any { return pick[any](g, int32(0), int32(1), int64(2), 3.0) },
		"$geoWithin":     func(g *gen, _ string, _ int) any { return g.area() },
		"$within":        func(g *gen, _ string, _ int) any { return g.area() },
		"$geoIntersects": func(g *gen, _ string, _ int) any { return g.crossing() },
		"$regex":         nil, // see operator
		"$options":       nil,
		// A regular expression may stand alone below $not.
		"$not": func(g *gen, path string, depth int) any {
			if g.chance(15) {
				return bson.Regex{Pattern: g.pattern()}
			}
			name := pickKey(g, fieldOps)
			return g.operator(name, path, depth-1)
		},
		// Operators on the elements themselves, or conditions on their fields.
		"$elemMatch": func(g *gen, _ string, depth int) any {
			if g.chance(50) || depth <= 0 {
				return g.operator(pick(g, "$gt", "$lte", "$in", "$eq", "$ne", "$exists", "$type", "$mod"), "a", 0)
			}
			return g.elements(depth - 1)
		},
		"$bitsAllSet": bits, "$bitsAllClear": bits, "$bitsAnySet": bits, "$bitsAnyClear": bits,
	}
}

// operandIn is a value that an array under the path may hold.
func (g *gen) operandIn(path string) any {
	if g.chance(60) {
		return g.number()
	}
	return g.operand(path)
}
