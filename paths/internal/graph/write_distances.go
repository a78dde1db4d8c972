package graph

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// beginDistances stores the sources, at distance 0.
func (s *Supersteps) beginDistances() model.Plan {
	g := s.g
	stages := mongo.Pipeline{mql.Match(mql.E("_id", mql.Op("$in", s.from))), mql.Project(mql.E("step", mql.Literal(0)))}
	stages = append(stages, g.skipIfRecorded(0)...)
	stages = append(stages, mql.Project(mql.E("step", 1)), mergeInto(g.States, "keepExisting", "insert"))
	return model.NewPlan(makeMergeStep(g.Vertices, stages...), s.recordChanged(0))
}

// stepDistances stores the vertices that an edge leads to from the last superstep's
// vertices, and that have no state. $merge would keep the states of other vertices, but
// they are dropped before, which saves their second $lookup and write.
func (s *Supersteps) stepDistances(n int64) model.Plan {
	g := s.g
	return model.NewPlan(makeMergeStep(g.States,
		mql.Match(mql.E("step", n-1)),
		mql.Lookup(g.Vertices, "_id", "_id", "vertex"),
		mql.Unwind("$vertex"),
		mql.Project(mql.E("to", g.readTargets("$vertex."))),
		mql.Unwind("$to"),
		mql.Group("$to", mql.E("via", mql.Op("$min", "$_id"))),
		mql.Lookup(g.States, "_id", "_id", "seen", mql.E("_id", 1)),
		mql.Match(mql.E("seen", mql.Op("$size", 0))),
		mql.Lookup(g.Vertices, "_id", "_id", "exists", mql.E("_id", 1)),
		mql.Unwind("$exists"),
		mql.Project(mql.E("_id", "$exists._id"), mql.E("step", mql.Literal(n)), mql.E("via", 1)),
		mergeInto(g.States, "keepExisting", "insert"),
	), s.recordChanged(n))
}

// recordChanged records how many states a superstep wrote.
func (s *Supersteps) recordChanged(n int64) model.MergeInto {
	return s.recordStep(
		n, s.g.States, mongo.Pipeline{mql.Match(mql.E("step", n)), countResults("n")},
		mql.E("changed", readFoundField("n")),
	)
}
