package graph

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// beginRank stores each vertex with its edges, and counts those that have none.
func (s *Supersteps) beginRank() model.Plan {
	none := mql.Op("$sum", mql.Op("$cond", mql.Op("$eq", mql.Op("$size", "$to"), 0), 1, 0))
	share := mql.Op("$cond", mql.Op("$gt", found("n"), 0), mql.Op("$divide", found("none"), mql.Op("$max", found("n"), 1)), 0)
	return model.NewPlan(s.g.snapshot(), s.record(0, s.g.States,
		mongo.Pipeline{mql.Match(mql.E("step", 0)), mql.Group(nil, mql.E("n", mql.Op("$sum", 1)), mql.E("none", none))},
		mql.E("changed", found("n")), mql.E("vertices", found("n")), mql.E("dangling", share),
	))
}

// stepRank gives each vertex its new rank: a share of the ranks of those that point to it, of the ranks of those that point
// nowhere, which are everybody's, and of what is everybody's anyway. States that are of this superstep already are read as they were
// before it, and not written.
func (s *Supersteps) stepRank(last Record) model.Plan {
	n, all := last.Step+1, float64(last.Vertices)
	var was any = mql.Literal(1 / all)
	if n > 1 {
		was = mql.Op("$cond", mql.Op("$eq", "$step", n), "$was", "$rank")
	}
	everybody := (1-s.damping)/all + s.damping*last.Dangling/all
	self := bson.D{mql.E("to", "$_id"), mql.E("was", "$was"), mql.E("step", "$step"), mql.E("part", mql.Literal(0))}
	others := mql.Op("$map", bson.D{mql.E("input", "$to"), mql.E("as", "to"), mql.E("in", bson.D{
		mql.E("to", "$$to"), mql.E("part", mql.Op("$divide", "$was", mql.Op("$size", "$to"))),
	})})
	return model.NewPlan(merging(s.g.States,
		mql.Project(mql.E("to", 1), mql.E("step", 1), mql.E("was", was)),
		mql.Project(mql.E("told", mql.Op("$concatArrays", bson.A{self}, others))),
		mql.Unwind("$told"),
		mql.Group("$told.to", mql.E("part", mql.Op("$sum", "$told.part")), mql.E("was", mql.Op("$max", "$told.was")), mql.E("step", mql.Op("$max", "$told.step"))),
		mql.Match(mql.E("step", n-1)),
		mql.Project(mql.E("step", mql.Literal(n)), mql.E("was", 1), mql.E("rank", mql.Op("$add", everybody, mql.Op("$multiply", s.damping, "$part")))),
		stageMerge(s.g.States, "merge", "discard"),
	), s.recordRank(n, last.Vertices))
}

// recordRank records how much the ranks changed, and how much of them the vertices have that point nowhere.
func (s *Supersteps) recordRank(n, all int64) model.MergeInto {
	current := mql.Op("$eq", "$step", n)
	return s.record(n, s.g.States, mongo.Pipeline{mql.Group(nil,
		mql.E("n", mql.Op("$sum", mql.Op("$cond", current, 1, 0))),
		mql.E("delta", mql.Op("$sum", mql.Op("$abs", mql.Op("$subtract", "$rank", "$was")))),
		mql.E("dangling", mql.Op("$sum", mql.Op("$cond", mql.Op("$eq", mql.Op("$size", "$to"), 0), "$rank", 0))),
	)}, mql.E("changed", found("n")), mql.E("vertices", mql.Literal(all)), mql.E("delta", found("delta")), mql.E("dangling", found("dangling")),
		mql.E("lost", mql.Op("$subtract", all, found("n"))))
}
