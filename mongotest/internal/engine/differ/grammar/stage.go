package grammar

// This file has the grammar of pipelines: what a stage does to the order of documents, and the table of stages.

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
)

// pipe is a pipeline under construction. It knows whether the order of its documents is determined, for many stages
// say something only then. Each stage's maker keeps these facts true.
type pipe struct {
	*gen
	ordered  bool
	uniqueID bool // no two documents have the same _id
	inner    bool // part of another stage, where some stages can't stand
}

// NeedsOrder are the stages whose result depends on the order of their input.
var NeedsOrder = map[string]bool{
	"$limit": true, "$skip": true, "$group": true, "$bucket": true, "$bucketAuto": true, "$facet": true,
	"$setWindowFields": true, "$fill": true, "$sample": true, "$densify": true,
}

// onlyFirst and onlyLast are the stages that can stand at one end only, and $count, after which there is
// nothing to say.
var (
	onlyFirst = map[string]bool{"$documents": true, "$geoNear": true, "$collStats": true, "$indexStats": true}
	onlyLast  = map[string]bool{"$out": true, "$merge": true, "$count": true}
)

// StableFields are the fields of stages about a collection that two servers agree on; of $collStats there are none.
var StableFields = map[string]bson.D{
	"$collStats":  tree.D("_id", 0, "a", 1),
	"$indexStats": tree.D("_id", 0, "name", 1, "key", 1),
}

// stages are the stages of a pipeline, with their operands.
var stages = map[string]func(p *pipe) any{}

// fillStages fills the tables of stages, accumulators and window functions. Each stage says what becomes of the order
// of the documents, and whether their _ids are still unique.
func fillStages() {
	maps.Copy(stages, map[string]func(p *pipe) any{
		"$match":     func(p *pipe) any { return p.filter() },
		"$addFields": func(p *pipe) any { return p.newFields() },
		"$set":       func(p *pipe) any { return p.newFields() },
		// One path, or a list of paths that don't lead into each other.
		"$unset": func(p *pipe) any {
			if p.chance(50) {
				return p.path()
			}
			return bson.A{pick(p.gen, "a", "b"), pick(p.gen, "c", "d.a")}
		},
		"$project": func(p *pipe) any {
			out := p.aggProjection()
			p.uniqueID = p.uniqueID && tree.Lookup(out, "_id") != int32(0)
			return out
		},
		"$replaceRoot": func(p *pipe) any { p.uniqueID = false; return tree.D("newRoot", p.newRoot()) },
		"$replaceWith": func(p *pipe) any { p.uniqueID = false; return p.newRoot() },
		"$redact": func(p *pipe) any {
			return tree.D("$cond", bson.A{
				p.boolExpr(1), pick(p.gen, "$$DESCEND", "$$KEEP"), pick(p.gen, "$$PRUNE", "$$KEEP"),
			})
		},
		"$sort":  sortStage,
		"$limit": func(p *pipe) any { return pick[any](p.gen, int32(1), int32(2), int64(3)) },
		"$skip":  func(p *pipe) any { return pick[any](p.gen, int32(0), int32(1), int64(2)) },
		// More than there are documents, so all of them are taken, in any order.
		"$sample": func(p *pipe) any {
			p.ordered = false
			return tree.D("size", 100)
		},
		// One document, which has no _id.
		"$count": func(p *pipe) any {
			p.ordered, p.uniqueID = true, false
			return pick(p.gen, "n", "count")
		},
		"$unwind":      unwindStage,
		"$group":       groupStage,
		"$bucket":      bucketStage,
		"$bucketAuto":  func(p *pipe) any { return bucketAuto(p) },
		"$sortByCount": func(p *pipe) any { p.ordered, p.uniqueID = false, true; return p.exprTo(anyKind, 1) },
		"$facet":       facetStage,
		"$lookup":      lookupStage,
		"$graphLookup": graphLookupStage,
		"$unionWith":   unionStage,
		// The documents may share their _id.
		"$documents": func(p *pipe) any {
			return list(p.gen, 0, 3, func() any { return tree.D("_id", p.IntN(9), "a", p.exprTo(num, 1)) })
		},
		"$setWindowFields": windowStage,
		"$densify":         densifyStage,
		"$collStats":       func(p *pipe) any { p.uniqueID = false; return tree.D("count", bson.D{}) },
		"$indexStats":      func(p *pipe) any { p.ordered, p.uniqueID = false, false; return bson.D{} },
		"$fill":            fillStage,
		"$out":             func(p *pipe) any { return "out" },
		"$merge":           mergeStage,
	})
	restrict(stages, pipeline.Stages())
	restrict(accumulators, expr.Accumulators())
	fillWindows()
}

// pipeline makes a pipeline of one to four stages, and says whether the order of its result is determined. A stage
// that can stand first only is replaced by a $match elsewhere.
func (g *gen) pipeline() (bson.A, bool) {
	p := &pipe{gen: g, uniqueID: true}
	out := bson.A{}
	for i := range 1 + g.IntN(4) {
		name := pickKey(g, stages)
		// MongoDB refuses these stages anywhere else.
		if i > 0 && onlyFirst[name] {
			name = "$match"
		}
		out = append(out, p.stage(name)...)
		// Nothing may follow, or nothing is left to tell.
		if onlyLast[name] {
			break
		}
	}
	return out, p.ordered
}

// stage makes a stage, and before it a sort if its result would depend on chance otherwise. What a stage tells of a
// collection is cut down to what two servers agree on.
func (p *pipe) stage(name string) bson.A {
	out := bson.A{}
	// A sort makes the answer a matter of the stage alone.
	if NeedsOrder[name] && !p.ordered {
		if !p.uniqueID {
			// Without unique _ids, no sort determines the order. Groups of whole documents have unique ones.
			// Documents that are equal in every field are the only ones whose order can't matter.
			out = append(out, tree.D("$group", tree.D("_id", "$$ROOT")))
			p.uniqueID = true
		}
		out = append(out, tree.D("$sort", tree.D("_id", 1)))
		p.ordered = true
	}
	out = append(out, bson.D{{Key: name, Value: stages[name](p)}})
	if told, ok := StableFields[name]; ok {
		out = append(out, tree.D("$project", told))
	}
	return out
}

// makeNested makes a pipeline inside a stage; its result is in a determined order.
func (p *pipe) makeNested(high int, names ...string) bson.A {
	in := &pipe{gen: p.gen, uniqueID: true, inner: true}
	out := bson.A{tree.D("$sort", tree.D("_id", 1))}
	in.ordered = true
	for range p.IntN(high + 1) {
		name := pick(p.gen, names...)
		out = append(out, in.stage(name)...)
		if onlyLast[name] {
			break
		}
	}
	// What a nested pipeline gives becomes an array, whose order counts.
	if !in.ordered {
		out = append(out, tree.D("$sort", tree.D("_id", 1)))
	}
	return out
}

// plainStages are the stages of pipelines inside of other stages.
var plainStages = []string{"$match", "$addFields", "$project", "$unset", "$limit", "$skip", "$count", "$replaceRoot"}

// newFields makes the operand of $addFields.
func (g *gen) newFields() bson.D {
	var out bson.D
	for range 1 + g.IntN(2) {
		key := pick(g, "a", "b", "c", "f", "g", "d.a", "d.f", "c.f", "f.g")
		if tree.Lookup(out, key) == nil && !conflicts(out, key) {
			out = append(out, bson.E{Key: key, Value: g.makeComputed()})
		}
	}
	return out
}

// makeComputed makes an expression for a new field: an operator, or now and then a document or an array of
// expressions.
func (g *gen) makeComputed() any {
	switch g.IntN(12) {
	case 0:
		return tree.D(pick(g, "f", "g"), g.exprTo(anyKind, 1), "h", g.exprTo(anyKind, 1))
	case 1:
		return bson.A{g.exprTo(anyKind, 1), g.exprTo(anyKind, 0)}
	}
	return g.operatorExpr(2)
}

// conflicts reports whether one of the two paths leads into the other.
func conflicts(doc bson.D, path string) bool {
	return slices.ContainsFunc(doc, func(e bson.E) bool {
		return leadsBelow(e.Key, path) || leadsBelow(path, e.Key)
	})
}

// leadsBelow reports whether a path is the outer one, or leads below it.
func leadsBelow(path, outer string) bool {
	return path == outer || len(path) > len(outer) && path[:len(outer)] == outer && path[len(outer)] == '.'
}

// aggProjection makes a projection for $project: an inclusion, with computed fields, or an exclusion.
func (g *gen) aggProjection() bson.D {
	var out bson.D
	exclude := g.chance(25)
	if g.chance(25) {
		out = tree.D("_id", pick(g, 0, 1))
	}
	for range 1 + g.IntN(3) {
		key := g.path()
		if tree.Lookup(out, key) != nil || conflicts(out, key) {
			continue
		}
		v := any(int32(1))
		switch {
		// An exclusion has no computed fields.
		case exclude:
			v = pick[any](g, int32(0), false)
		case g.chance(35):
			v = g.makeComputed()
		case g.chance(10):
			v = true
		}
		out = append(out, bson.E{Key: key, Value: v})
	}
	// An exclusion of _id alone gets a field beside it.
	if tree.Lookup(out, "_id") == int32(0) && len(out) == 1 {
		out = append(out, bson.E{Key: "a", Value: int32(0)})
	}
	return out
}

// newRoot makes a document for $replaceRoot.
func (g *gen) newRoot() any {
	if g.chance(50) {
		return tree.D("$mergeObjects", bson.A{g.exprTo(obj, 1), tree.D("f", g.exprTo(anyKind, 1))})
	}
	return g.exprTo(obj, 1)
}

// sortStage sorts. The order is determined if _id, the last key, is unique: a stage before may have removed or
// changed it.
func sortStage(p *pipe) any {
	p.ordered = p.uniqueID
	if p.ordered {
		return p.totalSort()
	}
	return p.sortKeys()
}

// totalSort makes keys of which the last is _id, so that no two documents are equal.
func (g *gen) totalSort() bson.D {
	out := g.sortKeys()
	if tree.Lookup(out, "_id") == nil {
		out = append(out, bson.E{Key: "_id", Value: int32(1)})
	}
	return out
}

// sortKeys makes one or two keys.
func (g *gen) sortKeys() bson.D {
	var out bson.D
	for range 1 + g.IntN(2) {
		key := g.path()
		if g.chance(10) {
			key = "_id"
		}
		if tree.Lookup(out, key) == nil {
			out = append(out, bson.E{Key: key, Value: pick[any](g, int32(1), int32(-1))})
		}
	}
	return out
}

// unwindStage unwinds mostly the array c. Its documents share their _id.
func unwindStage(p *pipe) any {
	p.uniqueID = false
	path := "$" + pick(p.gen, "c", "c", "c", "a", "d.c", "d")
	if p.chance(40) {
		return path
	}
	out := tree.D("path", path)
	if p.chance(50) {
		out = append(out, bson.E{Key: "preserveNullAndEmptyArrays", Value: p.chance(70)})
	}
	if p.chance(50) {
		out = append(out, bson.E{Key: "includeArrayIndex", Value: pick(p.gen, "i", "d.i")})
	}
	return out
}

// mergeStage writes to the collection "out", which is empty before.
func mergeStage(p *pipe) any {
	if p.chance(40) {
		return tree.D("into", "out")
	}
	return tree.D("into", "out", "on", "_id", "whenMatched", pick(p.gen, "replace", "merge", "keepExisting", "fail"),
		"whenNotMatched", pick(p.gen, "insert", "discard", "fail"))
}
