package graph

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// beginComponents gives each vertex its own _id as its label.
func (s *Supersteps) beginComponents() model.Plan {
	return model.NewPlan(s.g.storeSnapshot(mql.E("component", "$_id")), s.recordChanged(0))
}

// stepComponents tells the labels that changed in the step before along edges, both ways;
// a vertex takes the least that it is told if that is less than its own.
//
// A label that this very superstep has changed keeps what it was beside it. So when the
// superstep was cut and is run again, each vertex tells what it told before, and one that
// took the least of that already is told nothing less.
func (s *Supersteps) stepComponents(n int64) model.Plan {
	g := s.g
	senders := mongo.Pipeline{
		mql.Match(mql.E("$or", bson.A{bson.D{mql.E("step", n-1)}, bson.D{mql.E("step", n), mql.E("was.step", n-1)}})),
		mql.Project(
			mql.E("component", mql.Op("$cond", mql.Op("$eq", "$step", n), "$was.component", "$component")),
			mql.E("to", 1),
		),
	}
	against := append(append(mongo.Pipeline{}, senders...),
		mql.Project(mql.E("component", 1)),
		mql.Lookup(g.States, "_id", "to", "v", mql.E("_id", 1), mql.E("to", 1)),
		mql.Unwind("$v"),
		mql.Project(mql.E("to", "$v._id"), mql.E("component", 1)),
	)
	stages := append(senders,
		mql.Unwind("$to"),
		mql.Op("$unionWith", bson.D{mql.E("coll", g.States), mql.E("pipeline", against)}),
		mql.Group("$to", mql.E("component", mql.Op("$min", "$component"))),
		mql.Lookup(g.States, "_id", "_id", "old", mql.E("_id", 1), mql.E("component", 1), mql.E("step", 1)),
		mql.Unwind("$old"),
		mql.Match(mql.E("$expr", mql.Op("$lt", "$component", "$old.component"))),
		mql.Project(
			mql.E("component", 1), mql.E("step", mql.Literal(n)),
			mql.E("was", bson.D{mql.E("component", "$old.component"), mql.E("step", "$old.step")}),
		),
		mergeInto(g.States, "merge", "discard"),
	)
	return model.NewPlan(makeMergeStep(g.States, stages...), s.recordChanged(n))
}
