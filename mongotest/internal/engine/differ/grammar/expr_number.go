package grammar

// This file has the tables of operators on numbers, truths and types.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// arithmeticOps are the operators on numbers.
func arithmeticOps() map[string]form {
	table := map[string]form{
		// A date and a number of milliseconds are a date.
		"$add": {num, func(g *gen) any {
			if g.chance(10) {
				return bson.A{g.expr(date), g.expr(num)}
			}
			return makeSome(num, 0, 3)(g)
		}},
		// Two dates give milliseconds, a date and a number a date.
		"$subtract": {num, func(g *gen) any {
			if g.chance(20) {
				return bson.A{g.expr(date), pick(g, g.expr(date), g.expr(num))}
			}
			return makeArgs(num, num)(g)
		}},
		"$multiply": {num, makeSome(num, 0, 3)},
		"$divide":   {num, makeArgs(num, num)},
		"$mod":      {num, makeArgs(num, num)},
		"$pow":      {num, func(g *gen) any { return bson.A{g.expr(num), g.smallNumber()} }},
		"$log":      {num, func(g *gen) any { return bson.A{g.expr(num), pick[any](g, int32(2), 10.0)} }},
		"$rand":     {anyKind, func(*gen) any { return bson.D{} }},
		"$bitNot":   {num, makeSingle(num)},
		// Small bounds, since each number is an element.
		"$range": {arr, func(g *gen) any {
			if g.chance(50) {
				return bson.A{g.smallNumber(), g.smallNumber()}
			}
			return bson.A{g.smallNumber(), pick[any](g, int32(5), int32(-3)), g.smallNumber()}
		}},
	}
	for _, name := range []string{"$abs", "$ceil", "$floor", "$exp", "$ln", "$log10", "$sqrt"} {
		table[name] = form{num, makeSingle(num)}
	}
	for _, name := range []string{"$sin", "$cos", "$tan", "$asin", "$acos", "$atan", "$sinh", "$cosh", "$tanh",
		"$asinh", "$acosh", "$atanh", "$degreesToRadians", "$radiansToDegrees"} {
		table[name] = form{num, makeOne(num)}
	}
	table["$atan2"] = form{num, makeArgs(num, num)}
	for _, name := range []string{"$round", "$trunc"} {
		table[name] = form{num, func(g *gen) any {
			if g.chance(40) {
				return g.expr(num)
			}
			return bson.A{g.expr(num), pick[any](g, int32(0), int32(1), int32(2), int32(-1))}
		}}
	}
	for _, name := range []string{"$bitAnd", "$bitOr", "$bitXor"} {
		table[name] = form{num, makeSome(num, 0, 2)}
	}
	table["$median"] = form{num, func(g *gen) any { return tree.D("input", g.expr(arr), "method", "approximate") }}
	table["$percentile"] = form{arr, func(g *gen) any {
		return tree.D("input", g.expr(arr), "p", pick(g, bson.A{0.5}, bson.A{0.0, int32(1)}), "method", "approximate")
	}}
	for _, name := range []string{"$sum", "$avg", "$min", "$max", "$stdDevPop", "$stdDevSamp"} {
		table[name] = form{num, func(g *gen) any {
			if g.chance(50) {
				return g.expr(arr)
			}
			return makeSome(num, 1, 3)(g)
		}}
	}
	return table
}

// logicOps are the operators that compare, decide and combine truths.
func logicOps() map[string]form {
	table := map[string]form{
		"$and": {boolean, makeSome(boolean, 0, 3)},
		"$or":  {boolean, makeSome(boolean, 0, 3)},
		"$not": {boolean, func(g *gen) any { return bson.A{g.expr(boolean)} }},
		"$cmp": {num, makeArgs(anyKind, anyKind)},
		// Both forms: an array of three, and a document.
		"$cond": {anyKind, func(g *gen) any {
			if g.chance(50) {
				return makeArgs(boolean, anyKind, anyKind)(g)
			}
			return tree.D("if", g.expr(boolean), "then", g.expr(anyKind), "else", g.expr(anyKind))
		}},
		"$ifNull": {anyKind, makeSome(anyKind, 2, 3)},
		// Without a default, no branch that applies is an error.
		"$switch": {anyKind, func(g *gen) any {
			out := tree.D("branches",
				list(g, 1, 2, func() any { return tree.D("case", g.expr(boolean), "then", g.expr(anyKind)) }))
			if g.chance(85) {
				out = append(out, bson.E{Key: "default", Value: g.expr(anyKind)})
			}
			return out
		}},
		// The variable is in scope in "in" alone.
		"$let": {anyKind, func(g *gen) any {
			return tree.D("vars", tree.D("x", g.expr(anyKind)), "in", g.exprWithVars(anyKind, "x"))
		}},
		"$literal": {anyKind, func(g *gen) any { return g.value(1) }},
	}
	for _, name := range []string{"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"} {
		table[name] = form{boolean, func(g *gen) any {
			// Both operands are of one kind, or nearly all comparisons would be of types.
			k := pick(g, anyKind, num, num, str, date, arr)
			return bson.A{g.expr(k), g.expr(k)}
		}}
	}
	return table
}

// conversionOps are the operators on types.
func conversionOps() map[string]form {
	table := map[string]form{
		"$type":       {str, makeSingle(anyKind)},
		"$isNumber":   {boolean, makeSingle(anyKind)},
		"$isArray":    {boolean, func(g *gen) any { return bson.A{g.expr(anyKind)} }},
		"$toBool":     {boolean, makeOne(anyKind)},
		"$toDate":     {date, func(g *gen) any { return g.expr(pick(g, date, num)) }},
		"$toString":   {str, func(g *gen) any { return g.expr(pick(g, str, num, boolean, date)) }},
		"$toObjectId": {anyKind, func(g *gen) any { return pick[any](g, "0102030405060708090a0b0c", g.expr(str)) }},
		"$binarySize": {num, func(g *gen) any { return pick[any](g, bson.Binary{Data: []byte{1, 2}}, g.expr(str)) }},
		"$bsonSize":   {num, makeOne(obj)},
		"$subtype": {
			out:     num,
			operand: func(g *gen) any { return pick[any](g, bson.Binary{Subtype: 5, Data: []byte{1, 2}}, g.expr(num)) },
		},
		"$toUUID": {anyKind, func(g *gen) any {
			return pick[any](g, "0e3b9063-8abd-4eb3-9f9f-f4c59fd30a60", "0e3b90638abd4eb39f9ff4c59fd30a60", g.expr(str))
		}},
		// Types by their names and by a number; onError and onNull in some cases, so that failures are seen in the
		// others.
		"$convert": {anyKind, func(g *gen) any {
			out := tree.D("input", g.expr(anyKind), "to",
				pick[any](g, "int", "long", "double", "decimal", "string", "bool", "date", int32(16)))
			if g.chance(60) {
				out = append(out, bson.E{Key: "onError", Value: pick(g, g.expr(anyKind), "bad")})
			}
			if g.chance(50) {
				out = append(out, bson.E{Key: "onNull", Value: pick(g, g.expr(anyKind), "null")})
			}
			return out
		}},
		"$tsSecond":    {num, timestamp},
		"$tsIncrement": {num, timestamp},
	}
	for _, name := range []string{"$toInt", "$toLong", "$toDouble", "$toDecimal"} {
		table[name] = form{num, func(g *gen) any {
			return pick[any](g, g.expr(num), g.expr(boolean), pick(g, "10", "1.5", "x", "-3", "1e3"))
		}}
	}
	return table
}

// timestamp makes a timestamp, or anything else.
func timestamp(g *gen) any { return pick[any](g, bson.Timestamp{T: 5, I: 7}, g.expr(anyKind)) }
