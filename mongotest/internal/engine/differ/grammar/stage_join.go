package grammar

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// lookupStage joins with the collection "o", by fields, by a pipeline or by both. What a join by fields
// finds has no order, so it is sorted by a stage of its own pipeline, or reduced to its size.
func lookupStage(p *pipe) any {
	out := tree.D("from", "o")
	switch p.IntN(3) {
	case 0:
		out = append(out, p.joinFields()...)
		out = append(out, bson.E{Key: "pipeline", Value: p.nested(1, plainStages...)})
	case 1:
		saved := p.vars
		out = append(out, bson.E{Key: "let", Value: tree.D("v", p.exprTo(anyKind, 1))})
		p.vars = []string{"v"}
		match := tree.D("$match",
			tree.D("$expr", bson.D{{Key: pick(p.gen, "$eq", "$gte", "$ne"), Value: bson.A{"$" + p.path(), "$$v"}}}))
		out = append(out, bson.E{Key: "pipeline", Value: append(bson.A{match}, p.nested(1, plainStages...)...)})
		p.vars = saved
	case 2:
		out = append(out, p.joinFields()...)
		out = append(out, tree.D("let", tree.D("v", "$a"), "pipeline", append(bson.A{tree.D("$match", tree.D("$expr",
			tree.D("$lt", bson.A{"$$v", "$_id"})))}, p.nested(0)...))...)
	}
	return append(out, bson.E{Key: "as", Value: pick(p.gen, "j", "c", "d.j")})
}

func (g *gen) joinFields() bson.D {
	return tree.D("localField", g.path(), "foreignField", pick(g, "_id", "a", "b", "c", g.path()))
}

// graphLookupStage walks the collection "o". Its result has no order either: a stage after it takes the
// size, or it finds at most one document.
func graphLookupStage(p *pipe) any {
	out := tree.D("from", "o", "startWith", pick[any](p.gen, "$a", "$c", p.exprTo(num, 1)),
		"connectFromField", pick(p.gen, "a", "c", "d.a"), "connectToField", "_id", "as", "walk")
	if p.chance(40) {
		out = append(out, bson.E{Key: "maxDepth", Value: pick[any](p.gen, int32(0), int32(1), int64(2))})
	}
	if p.chance(40) {
		out = append(out, bson.E{Key: "depthField", Value: "depth"})
	}
	if p.chance(30) {
		out = append(out, bson.E{Key: "restrictSearchWithMatch", Value: p.filter()})
	}
	return out
}

func unionStage(p *pipe) any {
	p.ordered, p.uniqueID = false, false
	if p.chance(30) {
		return "o"
	}
	return tree.D("coll", "o", "pipeline", p.nested(1, plainStages...))
}
