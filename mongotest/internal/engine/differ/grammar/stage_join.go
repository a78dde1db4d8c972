package grammar

// This file has the stages that read the other collection.

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
		out = append(out, bson.E{Key: "pipeline", Value: p.makeNested(1, plainStages...)})
	// A pipeline with a variable of the joined document.
	case 1:
		// Only the variable of let is in scope within the pipeline.
		saved := p.vars
		out = append(out, bson.E{Key: "let", Value: tree.D("v", p.exprTo(anyKind, 1))})
		p.vars = []string{"v"}
		match := tree.D("$match",
			tree.D("$expr", bson.D{{Key: pick(p.gen, "$eq", "$gte", "$ne"), Value: bson.A{"$" + p.path(), "$$v"}}}))
		out = append(out, bson.E{Key: "pipeline", Value: append(bson.A{match}, p.makeNested(1, plainStages...)...)})
		p.vars = saved
	// Fields and a pipeline together, which MongoDB allows since 5.0.
	case 2:
		out = append(out, p.joinFields()...)
		out = append(out, tree.D("let", tree.D("v", "$a"), "pipeline", append(bson.A{tree.D("$match", tree.D("$expr",
			tree.D("$lt", bson.A{"$$v", "$_id"})))}, p.makeNested(0)...))...)
	}
	return append(out, bson.E{Key: "as", Value: pick(p.gen, "j", "c", "d.j")})
}

// joinFields makes the two fields of a join.
func (g *gen) joinFields() bson.D {
	return tree.D("localField", g.path(), "foreignField", pick(g, "_id", "a", "b", "c", g.path()))
}

// graphLookupStage walks the collection "o". Its result has no order either: a stage after it takes the
// size, or it finds at most one document.
func graphLookupStage(p *pipe) any {
	out := tree.D("from", "o", "startWith", pick[any](p.gen, "$a", "$c", p.exprTo(num, 1)),
		"connectFromField", pick(p.gen, "a", "c", "d.a"), "connectToField", "_id", "as", "walk")
	// Depths count from 0, the documents that startWith finds.
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

// unionStage adds the documents of the collection "o", whose _ids the others may have too.
func unionStage(p *pipe) any {
	p.ordered, p.uniqueID = false, false
	// A union of the whole collection, written shortly.
	if p.chance(30) {
		return "o"
	}
	return tree.D("coll", "o", "pipeline", p.makeNested(1, plainStages...))
}
