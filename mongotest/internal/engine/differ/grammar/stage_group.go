package grammar

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// accumulators are the accumulators of $group, with their operands.
var accumulators = map[string]func(g *gen) any{
	"$sum":          func(g *gen) any { return pick(g, g.exprTo(num, 1), any(int32(1))) },
	"$avg":          func(g *gen) any { return g.exprTo(num, 1) },
	"$min":          func(g *gen) any { return g.exprTo(anyKind, 1) },
	"$max":          func(g *gen) any { return g.exprTo(anyKind, 1) },
	"$first":        func(g *gen) any { return g.exprTo(anyKind, 1) },
	"$last":         func(g *gen) any { return g.exprTo(anyKind, 1) },
	"$push":         func(g *gen) any { return g.exprTo(anyKind, 1) },
	"$addToSet":     func(g *gen) any { return g.exprTo(anyKind, 1) },
	"$mergeObjects": func(g *gen) any { return g.exprTo(obj, 1) },
	"$count":        func(*gen) any { return bson.D{} },
	"$stdDevPop":    func(g *gen) any { return g.exprTo(num, 1) },
	"$stdDevSamp":   func(g *gen) any { return g.exprTo(num, 1) },
	"$median":       func(g *gen) any { return tree.D("input", g.exprTo(num, 1), "method", "approximate") },
	"$percentile": func(g *gen) any {
		return tree.D("input", g.exprTo(num, 1), "p", pick(g, bson.A{0.0}, bson.A{1.0, int32(0)}),
			"method", "approximate")
	},
	"$firstN": groupN, "$lastN": groupN, "$minN": groupN, "$maxN": groupN,
	"$top":    func(g *gen) any { return tree.D("sortBy", g.totalSort(), "output", g.exprTo(anyKind, 1)) },
	"$bottom": func(g *gen) any { return tree.D("sortBy", g.totalSort(), "output", g.exprTo(anyKind, 1)) },
	"$topN": func(g *gen) any {
		return tree.D("sortBy", g.totalSort(), "output", g.exprTo(anyKind, 1), "n", g.count())
	},
	"$bottomN": func(g *gen) any {
		return tree.D("sortBy", g.totalSort(), "output", g.exprTo(anyKind, 1), "n", g.count())
	},
}

func groupN(g *gen) any { return tree.D("input", g.exprTo(anyKind, 1), "n", g.count()) }

func (g *gen) count() any { return pick[any](g, int32(1), int32(2), int64(3)) }

// accumulated makes one or two fields for $group.
func (g *gen) accumulated() bson.D {
	var out bson.D
	for _, key := range []string{"x", "y"}[:1+g.IntN(2)] {
		name := pickKey(g, accumulators)
		out = append(out, bson.E{Key: key, Value: bson.D{{Key: name, Value: accumulators[name](g)}}})
	}
	return out
}

func groupStage(p *pipe) any {
	p.ordered, p.uniqueID = false, true
	var id any
	switch p.IntN(8) {
	case 0, 1:
		id = nil
	case 2:
		id = tree.D("p", p.exprTo(anyKind, 1), "q", p.exprTo(anyKind, 0))
	case 3:
		id = "$" + p.path()
	default:
		id = p.exprTo(anyKind, 1)
	}
	return append(bson.D{{Key: "_id", Value: id}}, p.accumulated()...)
}

func bucketStage(p *pipe) any {
	p.ordered, p.uniqueID = false, true
	out := tree.D("groupBy", p.exprTo(num, 1), "boundaries", pick(p.gen,
		bson.A{int32(0), int32(2), int32(5)}, bson.A{int32(-10), int64(0), 1.5, int32(1000)}))
	if p.chance(85) {
		out = append(out, bson.E{Key: "default", Value: pick[any](p.gen, "other", int32(1000), nil)})
	}
	if p.chance(50) {
		out = append(out, bson.E{Key: "output", Value: p.accumulated()})
	}
	return out
}

func bucketAuto(p *pipe) any {
	p.ordered, p.uniqueID = true, true
	out := tree.D("groupBy", pick[any](p.gen, "$_id", "$a"), "buckets", pick(p.gen, 1, 2, 3))
	if p.chance(50) {
		out = append(out, bson.E{Key: "output", Value: tree.D("n", tree.D("$sum", 1))})
	}
	return out
}

func facetStage(p *pipe) any {
	p.ordered, p.uniqueID = true, false
	out := bson.D{}
	for _, key := range []string{"p", "q"}[:1+p.IntN(2)] {
		out = append(out, bson.E{Key: key, Value: p.nested(2, plainStages...)})
	}
	return out
}
