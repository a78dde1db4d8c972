package paths

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
)

// beginComponents gives each vertex its own label.
func (s *Supersteps) beginComponents() model.Plan {
	return model.NewPlan(s.g.snapshot(e("component", "$_id")), s.recordChanged(0))
}

// stepComponents tells the labels that changed in the step before along edges, both ways; a vertex takes the least that it is told
// if that is less than its own.
//
// A label that this very superstep has changed keeps what it was beside it. So when the superstep was cut and is run again, each
// vertex tells what it told before, and one that took the least of that already is told nothing less.
func (s *Supersteps) stepComponents(n int64) model.Plan {
	g := s.g
	senders := mongo.Pipeline{
		stageMatch(e("$or", bson.A{bson.D{e("step", n-1)}, bson.D{e("step", n), e("was.step", n-1)}})),
		stageProject(
			e("component", op("$cond", op("$eq", "$step", n), "$was.component", "$component")), e("to", 1),
		),
	}
	against := append(append(mongo.Pipeline{}, senders...),
		stageProject(e("component", 1)),
		stageLookup(g.states, "_id", "to", "v", e("_id", 1), e("to", 1)),
		stageUnwind("$v"),
		stageProject(e("to", "$v._id"), e("component", 1)),
	)
	stages := append(senders,
		stageUnwind("$to"),
		op("$unionWith", bson.D{e("coll", g.states), e("pipeline", against)}),
		stageGroup("$to", e("component", op("$min", "$component"))),
		stageLookup(g.states, "_id", "_id", "old", e("_id", 1), e("component", 1), e("step", 1)),
		stageUnwind("$old"),
		stageMatch(e("$expr", op("$lt", "$component", "$old.component"))),
		stageProject(e("component", 1), e("step", literal(n)), e("was", bson.D{e("component", "$old.component"), e("step", "$old.step")})),
		stageMerge(g.states, "merge", "discard"),
	)
	return model.NewPlan(merging(g.states, stages...), s.recordChanged(n))
}
