package grammar

// This file has the grammar of updates: operators with paths that suit them, array filters, and pipelines.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// update makes an update by operators and the array filters that it needs. An operator that is picked twice gets a
// second path.
func (g *gen) update() (bson.D, bson.A) {
	var out bson.D
	for range 1 + g.IntN(5)/3 {
		name := pickKey(g, updateOps)
		at := -1
		for i, e := range out {
			if e.Key == name {
				at = i
			}
		}
		path := g.updatePath(name)
		field := bson.E{Key: path, Value: updateOps[name](g, path)}
		if at < 0 {
			out = append(out, bson.E{Key: name, Value: bson.D{field}})
		} else if fields := out[at].Value.(bson.D); !tree.HasField(fields, path) {
			out[at].Value = append(fields, field)
		}
	}
	return out, g.arrayFilters(out)
}

// updatePath picks a path that suits an operator: arrays for $push, numbers for $inc, and now and then a positional
// path or _id, which can't be changed.
func (g *gen) updatePath(op string) string {
	switch op {
	// These need an array.
	case "$push", "$addToSet", "$pull", "$pullAll", "$pop":
		if g.chance(75) {
			return "c"
		}
	// These need a number.
	case "$inc", "$mul", "$bit":
		if g.chance(50) {
			return "a"
		}
	}
	if g.chance(30) {
		return "c." + pick(g, "$", "$[]", "$[x]", "$[].a", "$[x].a", "$.b", "$[x].c.$[]")
	}
	// MongoDB refuses to change an _id.
	if g.chance(3) {
		return "_id"
	}
	return g.path()
}

// arrayFilters makes a filter for the identifier x if the update uses it. A filter that no path uses is an error, and
// so is a path without a filter.
func (g *gen) arrayFilters(update bson.D) bson.A {
	for _, e := range update {
		for _, field := range e.Value.(bson.D) {
			if usesIdentifier(field.Key) {
				path := pick(g, "x", "x.a", "x.b")
				return bson.A{bson.D{{Key: path, Value: g.condition("a", 0)}}}
			}
		}
	}
	return nil
}

// usesIdentifier reports whether a path has the identifier x of an array filter.
func usesIdentifier(path string) bool {
	for i := range path {
		if len(path) >= i+4 && path[i:i+4] == "$[x]" {
			return true
		}
	}
	return false
}

// fieldOperand makes a value that the field may hold.
func fieldOperand(g *gen, path string) any { return g.operand(path) }

// numberOperand makes a number, or now and then what isn't one.
func numberOperand(g *gen, _ string) any {
	if g.chance(5) {
		return g.value(0)
	}
	return g.number()
}

// updateOps are the update operators with the operand for a path.
var updateOps = map[string]func(g *gen, path string) any{
	"$set": fieldOperand, "$setOnInsert": fieldOperand, "$min": fieldOperand, "$max": fieldOperand,
	"$inc": numberOperand, "$mul": numberOperand,
	"$unset": func(*gen, string) any { return "" },
	"$rename": func(g *gen, _ string) any {
		return pick(g, "a", "b", "f", "d.f", "d.a", "f.g")
	},
	"$currentDate": func(g *gen, _ string) any {
		return pick[any](g, true, tree.D("$type", "date"), tree.D("$type", "timestamp"))
	},
	"$pop": func(g *gen, _ string) any { return pick[any](g, int32(1), int32(-1), int64(1), -1.0) },
	// The operation and the mask.
	"$bit": func(g *gen, _ string) any {
		return bson.D{{Key: pick(g, "and", "or", "xor"), Value: pick[any](g, int32(1), int32(5), int64(6))}}
	},
	"$push": func(g *gen, _ string) any {
		if g.chance(30) {
			return g.operandIn("a")
		}
		return g.pushModifiers()
	},
	// A value, even an array as one element, or the elements of $each.
	"$addToSet": func(g *gen, _ string) any {
		if g.chance(60) {
			return g.operandIn("c")
		}
		return tree.D("$each", g.array(1))
	},
	"$pullAll": func(g *gen, _ string) any { return list(g, 0, 3, func() any { return g.operandIn("a") }) },
	// A value, operators on elements, or conditions on the fields of elements.
	"$pull": func(g *gen, _ string) any {
		switch g.IntN(3) {
		case 0:
			return g.operandIn("a")
		case 1:
			return g.operator(pick(g, "$gt", "$lte", "$in", "$nin", "$ne", "$exists", "$type", "$elemMatch"), "a", 0)
		}
		return bson.D{g.clause(0)}
	},
}

// pushMods are the modifiers of $push.
var pushMods = map[string]func(g *gen) any{
	"$each":     func(g *gen) any { return g.array(1) },
	"$position": func(g *gen) any { return pick[any](g, int32(0), int32(1), int32(-1), int64(9)) },
	"$slice":    func(g *gen) any { return pick[any](g, int32(0), int32(2), int32(-2), int64(9)) },
	"$sort": func(g *gen) any {
		return pick[any](g, int32(1), int32(-1), tree.D("a", 1), tree.D("a", -1, "b", 1), tree.D("d.a", 1))
	},
}

// pushModifiers makes $each with some of the modifiers beside it.
func (g *gen) pushModifiers() bson.D {
	out := tree.D("$each", pushMods["$each"](g))
	for _, name := range []string{"$position", "$slice", "$sort"} {
		if g.chance(45) {
			out = append(out, bson.E{Key: name, Value: pushMods[name](g)})
		}
	}
	return out
}

// updatePipeline makes an update by aggregation stages.
func (g *gen) updatePipeline() bson.A {
	p := &pipe{gen: g}
	return list(g, 1, 2, func() any {
		name := pick(g, "$set", "$addFields", "$unset", "$project", "$replaceRoot", "$replaceWith")
		return bson.D{{Key: name, Value: stages[name](p)}}
	})
}
