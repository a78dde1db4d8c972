package paths

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
)

// beginRank stores each vertex with its edges, and counts those that have none.
func (s *Supersteps) beginRank() model.Plan {
	none := op("$sum", op("$cond", op("$eq", op("$size", "$to"), 0), 1, 0))
	share := op("$cond", op("$gt", found("n"), 0), op("$divide", found("none"), op("$max", bson.A{found("n"), 1})), 0)
	return model.NewPlan(s.g.snapshot(), s.record(0, s.g.states,
		mongo.Pipeline{stageMatch(e("step", 0)), stageGroup(nil, e("n", op("$sum", 1)), e("none", none))},
		e("changed", found("n")), e("vertices", found("n")), e("dangling", share),
	))
}

// stepRank gives each vertex its new rank: a share of the ranks of those that point to it, of the ranks of those that point
// nowhere, which are everybody's, and of what is everybody's anyway. States that are of this superstep already are read as they were
// before it, and not written.
func (s *Supersteps) stepRank(last GraphStep) model.Plan {
	n, all := last.Step+1, float64(last.Vertices)
	var was any = literal(1 / all)
	if n > 1 {
		was = op("$cond", op("$eq", "$step", n), "$was", "$rank")
	}
	everybody := (1-s.damping)/all + s.damping*last.Dangling/all
	self := bson.D{e("to", "$_id"), e("was", "$was"), e("step", "$step"), e("part", literal(0))}
	others := op("$map", bson.D{e("input", "$to"), e("as", "to"), e("in", bson.D{
		e("to", "$$to"), e("part", op("$divide", "$was", op("$size", "$to"))),
	})})
	return model.NewPlan(merging(s.g.states,
		stageProject(e("to", 1), e("step", 1), e("was", was)),
		stageProject(e("told", op("$concatArrays", bson.A{self}, others))),
		stageUnwind("$told"),
		stageGroup("$told.to", e("part", op("$sum", "$told.part")), e("was", op("$max", "$told.was")), e("step", op("$max", "$told.step"))),
		stageMatch(e("step", n-1)),
		stageProject(e("step", literal(n)), e("was", 1), e("rank", op("$add", everybody, op("$multiply", s.damping, "$part")))),
		stageMerge(s.g.states, "merge", "discard"),
	), s.recordRank(n, last.Vertices))
}

// recordRank records how much the ranks changed, and how much of them the vertices have that point nowhere.
func (s *Supersteps) recordRank(n, all int64) model.MergeInto {
	current := op("$eq", "$step", n)
	return s.record(n, s.g.states, mongo.Pipeline{stageGroup(nil,
		e("n", op("$sum", op("$cond", current, 1, 0))),
		e("delta", op("$sum", op("$abs", op("$subtract", "$rank", "$was")))),
		e("dangling", op("$sum", op("$cond", op("$eq", op("$size", "$to"), 0), "$rank", 0))),
	)}, e("changed", found("n")), e("vertices", literal(all)), e("delta", found("delta")), e("dangling", found("dangling")),
		e("lost", op("$subtract", all, found("n"))))
}
