package paths

import (
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
)

// begin stores the vertices that distances are counted from.
func (s *Supersteps) beginDistances() model.Plan {
	g := s.g
	stages := mongo.Pipeline{stageMatch(e("_id", op("$in", s.from))), stageProject(e("step", literal(0)))}
	stages = append(stages, g.unlessRecorded(0)...)
	stages = append(stages, stageProject(e("step", 1)), stageMerge(g.states, "keepExisting", "insert"))
	return model.NewPlan(merging(g.vertices, stages...), s.recordChanged(0))
}

// stepDistances reaches what the vertices of the step before lead to and nobody reached before. What was reached is dropped before
// it is looked up and written, though $merge would keep it as it is.
func (s *Supersteps) stepDistances(n int64) model.Plan {
	g := s.g
	return model.NewPlan(merging(g.states,
		stageMatch(e("step", n-1)),
		stageLookup(g.vertices, "_id", "_id", "vertex"),
		stageUnwind("$vertex"),
		stageProject(e("to", g.targets("$vertex."))),
		stageUnwind("$to"),
		stageGroup("$to", e("via", op("$min", "$_id"))),
		stageLookup(g.states, "_id", "_id", "seen", e("_id", 1)),
		stageMatch(e("seen", op("$size", 0))),
		stageLookup(g.vertices, "_id", "_id", "exists", e("_id", 1)),
		stageUnwind("$exists"),
		stageProject(e("_id", "$exists._id"), e("step", literal(n)), e("via", 1)),
		stageMerge(g.states, "keepExisting", "insert"),
	), s.recordChanged(n))
}

// recordChanged records how many states a superstep wrote.
func (s *Supersteps) recordChanged(n int64) model.MergeInto {
	return s.record(n, s.g.states, mongo.Pipeline{stageMatch(e("step", n)), counting("n")}, e("changed", found("n")))
}
