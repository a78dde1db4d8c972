package graph

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// begin stores the vertices that distances are counted from.
func (s *Supersteps) beginDistances() model.Plan {
	g := s.g
	stages := mongo.Pipeline{mql.Match(mql.E("_id", mql.Op("$in", s.from))), mql.Project(mql.E("step", mql.Literal(0)))}
	stages = append(stages, g.unlessRecorded(0)...)
	stages = append(stages, mql.Project(mql.E("step", 1)), stageMerge(g.States, "keepExisting", "insert"))
	return model.NewPlan(merging(g.Vertices, stages...), s.recordChanged(0))
}

// stepDistances reaches what the vertices of the step before lead to and nobody reached before. What was reached is dropped before
// it is looked up and written, though $merge would keep it as it is.
func (s *Supersteps) stepDistances(n int64) model.Plan {
	g := s.g
	return model.NewPlan(merging(g.States,
		mql.Match(mql.E("step", n-1)),
		mql.Lookup(g.Vertices, "_id", "_id", "vertex"),
		mql.Unwind("$vertex"),
		mql.Project(mql.E("to", g.targets("$vertex."))),
		mql.Unwind("$to"),
		mql.Group("$to", mql.E("via", mql.Op("$min", "$_id"))),
		mql.Lookup(g.States, "_id", "_id", "seen", mql.E("_id", 1)),
		mql.Match(mql.E("seen", mql.Op("$size", 0))),
		mql.Lookup(g.Vertices, "_id", "_id", "exists", mql.E("_id", 1)),
		mql.Unwind("$exists"),
		mql.Project(mql.E("_id", "$exists._id"), mql.E("step", mql.Literal(n)), mql.E("via", 1)),
		stageMerge(g.States, "keepExisting", "insert"),
	), s.recordChanged(n))
}

// recordChanged records how many states a superstep wrote.
func (s *Supersteps) recordChanged(n int64) model.MergeInto {
	return s.record(n, s.g.States, mongo.Pipeline{mql.Match(mql.E("step", n)), counting("n")}, mql.E("changed", found("n")))
}
