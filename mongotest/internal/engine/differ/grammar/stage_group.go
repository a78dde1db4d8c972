package grammar

// This file has the stages that group, and accumulators.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// accumulators are the accumulators of $group, with their operands. $top and $bottom sort by _id at last.
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
	"$firstN": makeN, "$lastN": makeN, "$minN": makeN, "$maxN": makeN,
	"$top":    func(g *gen) any { return tree.D("sortBy", g.totalSort(), "output", g.exprTo(anyKind, 1)) },
	"$bottom": func(g *gen) any { return tree.D("sortBy", g.totalSort(), "output", g.exprTo(anyKind, 1)) },
	"$topN": func(g *gen) any {
		return tree.D("sortBy", g.totalSort(), "output", g.exprTo(anyKind, 1), "n", g.pickN())
	},
	"$bottomN": func(g *gen) any {
		return tree.D("sortBy", g.totalSort(), "output", g.exprTo(anyKind, 1), "n", g.pickN())
	},
}

// makeN makes the operand of an accumulator that takes n values.
func makeN(g *gen) any { return tree.D("input", g.exprTo(anyKind, 1), "n", g.pickN()) }

// pickN picks how many values an accumulator takes.
func (g *gen) pickN() any { return pick[any](g, int32(1), int32(2), int64(3)) }

// makeAccumulators makes one or two fields for $group.
func (g *gen) makeAccumulators() bson.D {
	var out bson.D
	for _, key := range []string{"x", "y"}[:1+g.IntN(2)] {
		name := pickKey(g, accumulators)
		out = append(out, bson.E{Key: key, Value: bson.D{{Key: name, Value: accumulators[name](g)}}})
	}
	return out
}

// groupStage groups by null, a path, an expression or a document.
func groupStage(p *pipe) any {
	p.ordered, p.uniqueID = false, true
	var id any
	switch p.IntN(8) {
	case 0, 1:
		// One group of all documents.
		id = nil
	case 2:
		id = tree.D("p", p.exprTo(anyKind, 1), "q", p.exprTo(anyKind, 0))
	case 3:
		id = "$" + p.path()
	default:
		id = p.exprTo(anyKind, 1)
	}
	return append(bson.D{{Key: "_id", Value: id}}, p.makeAccumulators()...)
}

// bucketStage groups by numbers between boundaries.
func bucketStage(p *pipe) any {
	p.ordered, p.uniqueID = false, true
	out := tree.D("groupBy", p.exprTo(num, 1), "boundaries", pick(p.gen,
		bson.A{int32(0), int32(2), int32(5)}, bson.A{int32(-10), int64(0), 1.5, int32(1000)}))
	// Without a default, a document outside of the boundaries is an error.
	if p.chance(85) {
		out = append(out, bson.E{Key: "default", Value: pick[any](p.gen, "other", int32(1000), nil)})
	}
	if p.chance(50) {
		out = append(out, bson.E{Key: "output", Value: p.makeAccumulators()})
	}
	return out
}

// bucketAuto divides the documents into buckets.
func bucketAuto(p *pipe) any {
	p.ordered, p.uniqueID = true, true
	out := tree.D("groupBy", pick[any](p.gen, "$_id", "$a"), "buckets", pick(p.gen, 1, 2, 3))
	if p.chance(50) {
		out = append(out, bson.E{Key: "output", Value: tree.D("n", tree.D("$sum", 1))})
	}
	return out
}

// facetStage runs one or two pipelines, and gives one document.
func facetStage(p *pipe) any {
	p.ordered, p.uniqueID = true, false
	out := bson.D{}
	for _, key := range []string{"p", "q"}[:1+p.IntN(2)] {
		out = append(out, bson.E{Key: key, Value: p.makeNested(2, plainStages...)})
	}
	return out
}
