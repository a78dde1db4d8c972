package graph

import (
	"fmt"
	"math"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// clearingID is the _id of the record of a Clear that is not over: it sorts after all others.
const clearingID = int64(math.MaxInt64)

// claimID is the _id of what says of which computation the records are.
const claimID = int64(-1)

// stageMerge ends a pipeline.
func stageMerge(into, matched, notMatched string) bson.D {
	return mql.Op("$merge", bson.D{mql.E("into", into), mql.E("whenMatched", matched), mql.E("whenNotMatched", notMatched)})
}

// merging is a step that can be run again.
func merging(from string, stages ...bson.D) model.MergeInto {
	return model.MergeInto{Collection: from, Pipeline: stages, Once: true}
}

// unlessRecorded lets nothing through once a superstep's record is there.
func (g *Graph) unlessRecorded(step int64) mongo.Pipeline {
	return mongo.Pipeline{
		mql.Op("$set", bson.D{mql.E("record", mql.Literal(step))}),
		mql.Lookup(g.Steps, "record", "_id", "done", mql.E("_id", 1)),
		mql.Match(mql.E("done", mql.Op("$size", 0))),
	}
}

// targets is the expression of the _ids that a vertex below a prefix lists.
func (g *Graph) targets(prefix string) bson.D {
	path := prefix + g.Edges
	return mql.Op("$cond", mql.Op("$isArray", path), path, bson.A{})
}

// existing are the stages that leave of the field to those _ids that are vertices, each once.
func (g *Graph) existing(more ...bson.E) mongo.Pipeline {
	fields := append(bson.D{mql.E("to", "$found._id"), mql.E("step", mql.Literal(0))}, more...)
	return mongo.Pipeline{
		mql.Lookup(g.Vertices, "to", "_id", "found", mql.E("_id", 1)),
		mql.Project(fields...),
	}
}

// snapshot stores each vertex with its edges, as the state of step 0.
func (g *Graph) snapshot(more ...bson.E) model.MergeInto {
	stages := mongo.Pipeline{mql.Project(mql.E("to", g.targets("$")))}
	stages = append(stages, g.unlessRecorded(0)...)
	stages = append(stages, g.existing(more...)...)
	return merging(g.Vertices, append(stages, stageMerge(g.States, "keepExisting", "insert"))...)
}

// record is the step that leaves the record of a superstep: of the one result of a $group, or of none, the fields that are given.
func (s *Supersteps) record(step int64, from string, stages mongo.Pipeline, fields ...bson.E) model.MergeInto {
	out := append(bson.D{mql.E("_id", mql.Literal(step)), mql.E("kind", mql.Literal(s.kind)), mql.E("asked", mql.Literal(s.asked))}, fields...)
	all := append(mongo.Pipeline{}, stages...)
	all = append(all,
		mql.Op("$facet", bson.D{mql.E("found", mongo.Pipeline{mql.Op("$limit", 1)})}),
		mql.Project(out...),
		stageMerge(s.g.Steps, "keepExisting", "insert"),
	)
	return merging(from, all...)
}

// claim says of what computation the states are to be, before there are any; it refuses those of another. Its _id is before those of
// records, and it makes their collection, which the pipelines look into (DocumentDB refuses to look into one that doesn't exist).
func (s *Supersteps) claim() model.Write {
	w := put(s.g.Steps, bson.D{mql.E("_id", claimID), mql.E("kind", s.kind), mql.E("asked", s.asked)}, &mongo.UpdateOneModel{Update: bson.D{mql.E("$setOnInsert", bson.D{mql.E("claim", true)})}})
	w.Expect, w.Once = model.One, true
	w.Reasons = []model.Reason{{If: bson.D{mql.E("_id", claimID)}, Err: fmt.Errorf("%w: %s", ErrState, s.g.States)}}
	return w
}

// recordNone is the record of a beginning that found nothing: of a collection that doesn't exist, a pipeline may give no result at
// all.
func (s *Supersteps) recordNone() model.Write {
	return put(s.g.Steps, bson.D{mql.E("_id", int64(0))}, &mongo.UpdateOneModel{Update: bson.D{mql.E("$setOnInsert", bson.D{
		mql.E("kind", s.kind), mql.E("asked", s.asked), mql.E("changed", 0), mql.E("vertices", 0), mql.E("active", 0),
	})}})
}

// found is the expression of a field of that one result, 0 where there is none.
func found(field string) bson.D {
	return mql.Op("$ifNull", mql.Op("$arrayElemAt", "$found."+field, 0), 0)
}

// counting counts what comes.
func counting(as string) bson.D { return mql.Group(nil, mql.E(as, mql.Op("$sum", 1))) }

// Clear deletes all, under the mark that it is being deleted.
func (g *Graph) Clear() model.Plan {
	mark := bson.D{mql.E("_id", clearingID)}
	all := func(name string, filter ...bson.E) model.Write {
		return model.Write{Collection: name, Model: &mongo.DeleteManyModel{Filter: append(bson.D{}, filter...)}}
	}
	p := model.NewPlan(
		put(g.Steps, mark, &mongo.UpdateOneModel{Update: bson.D{mql.E("$set", bson.D{mql.E("kind", clearing)})}}),
		all(g.States), all(g.Messages), all(g.Steps, mql.E("_id", mql.Op("$lt", clearingID))), all(g.Steps, mark...),
	)
	p.Leaves = "some states and messages, and the record of an unfinished Clear; run Clear again"
	return p
}
