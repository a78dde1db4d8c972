package graph

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// beginRank stores each vertex with its edges, and counts the vertices without edges.
func (s *Supersteps) beginRank() model.Plan {
	none := mql.Op("$sum", mql.Op("$cond", mql.Op("$eq", mql.Op("$size", "$to"), 0), 1, 0))
	share := mql.Op(
		"$cond", mql.Op("$gt", readFoundField("n"), 0),
		mql.Op("$divide", readFoundField("none"), mql.Op("$max", readFoundField("n"), 1)), 0,
	)
	return model.NewPlan(s.g.storeSnapshot(), s.recordStep(0, s.g.States,
		mongo.Pipeline{mql.Match(mql.E("step", 0)), mql.Group(nil, mql.E("n", mql.Op("$sum", 1)), mql.E("none", none))},
		mql.E("changed", readFoundField("n")), mql.E("vertices", readFoundField("n")), mql.E("dangling", share),
	))
}

// stepRank computes the new rank of each vertex: its share of the ranks of the vertices
// with edges to it, its share of the ranks of vertices without edges, and a constant
// share. States that this superstep has written are read as they were before (was), and
// not written again.
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
	return model.NewPlan(makeMergeStep(s.g.States,
		mql.Project(mql.E("to", 1), mql.E("step", 1), mql.E("was", was)),
		mql.Project(mql.E("told", mql.Op("$concatArrays", bson.A{self}, others))),
		mql.Unwind("$told"),
		mql.Group(
			"$told.to", mql.E("part", mql.Op("$sum", "$told.part")), mql.E("was", mql.Op("$max", "$told.was")),
			mql.E("step", mql.Op("$max", "$told.step")),
		),
		mql.Match(mql.E("step", n-1)),
		mql.Project(
			mql.E("step", mql.Literal(n)), mql.E("was", 1),
			mql.E("rank", mql.Op("$add", everybody, mql.Op("$multiply", s.damping, "$part"))),
		),
		mergeInto(s.g.States, "merge", "discard"),
	), s.recordRank(n, last.Vertices))
}

// recordRank records how much the ranks changed, and the ranks of vertices without edges.
func (s *Supersteps) recordRank(n, all int64) model.MergeInto {
	current := mql.Op("$eq", "$step", n)
	return s.recordStep(n, s.g.States, mongo.Pipeline{mql.Group(nil,
		mql.E("n", mql.Op("$sum", mql.Op("$cond", current, 1, 0))),
		mql.E("delta", mql.Op("$sum", mql.Op("$abs", mql.Op("$subtract", "$rank", "$was")))),
		mql.E("dangling", mql.Op("$sum", mql.Op("$cond", mql.Op("$eq", mql.Op("$size", "$to"), 0), "$rank", 0))),
	)}, mql.E("changed", readFoundField("n")), mql.E("vertices", mql.Literal(all)),
		mql.E("delta", readFoundField("delta")), mql.E("dangling", readFoundField("dangling")),
		mql.E("lost", mql.Op("$subtract", all, readFoundField("n"))))
}
