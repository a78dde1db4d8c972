package graph

// The stages and writes that all computations share.

import (
	"fmt"
	"math"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// clearingID is the _id of the mark of an unfinished Clear. It sorts after all others.
const clearingID = int64(math.MaxInt64)

// claimID is the _id of the claim. It sorts before all records.
const claimID = int64(-1)

// mergeInto is the $merge stage that ends a pipeline. Its actions decide what a second
// run of the pipeline does:
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/merge/.
func mergeInto(into, matched, notMatched string) bson.D {
	return mql.Op(
		"$merge", bson.D{mql.E("into", into), mql.E("whenMatched", matched), mql.E("whenNotMatched", notMatched)},
	)
}

// makeMergeStep makes a step of a pipeline that can run again.
func makeMergeStep(from string, stages ...bson.D) model.MergeInto {
	return model.MergeInto{Collection: from, Pipeline: stages, Idempotent: true}
}

// skipIfRecorded lets no document through if a superstep's record exists: a late run of
// the pipeline doesn't touch the states of later supersteps.
func (g *Graph) skipIfRecorded(step int64) mongo.Pipeline {
	return mongo.Pipeline{
		mql.Op("$set", bson.D{mql.E("record", mql.Literal(step))}),
		mql.Lookup(g.Steps, "record", "_id", "done", mql.E("_id", 1)),
		mql.Match(mql.E("done", mql.Op("$size", 0))),
	}
}

// readTargets is the expression of the _ids in a vertex's edges.
func (g *Graph) readTargets(prefix string) bson.D {
	path := prefix + g.Edges
	return mql.Op("$cond", mql.Op("$isArray", path), path, bson.A{})
}

// keepExistingTargets replaces the field to by those of its _ids that are vertices, each
// once.
func (g *Graph) keepExistingTargets(more ...bson.E) mongo.Pipeline {
	fields := append(bson.D{mql.E("to", "$found._id"), mql.E("step", mql.Literal(0))}, more...)
	return mongo.Pipeline{
		mql.Lookup(g.Vertices, "to", "_id", "found", mql.E("_id", 1)),
		mql.Project(fields...),
	}
}

// storeSnapshot stores each vertex with its edges as a state of step 0. Later supersteps
// don't read the vertices, which can change meanwhile.
func (g *Graph) storeSnapshot(more ...bson.E) model.MergeInto {
	stages := mongo.Pipeline{mql.Project(mql.E("to", g.readTargets("$")))}
	stages = append(stages, g.skipIfRecorded(0)...)
	stages = append(stages, g.keepExistingTargets(more...)...)
	return makeMergeStep(g.Vertices, append(stages, mergeInto(g.States, "keepExisting", "insert"))...)
}

// recordStep stores a superstep's record: fields of the one result of a $group. If there
// is no result, the fields are 0. $facet makes a document even then.
func (s *Supersteps) recordStep(step int64, from string, stages mongo.Pipeline, fields ...bson.E) model.MergeInto {
	out := append(
		bson.D{
			mql.E("_id", mql.Literal(step)), mql.E("kind", mql.Literal(s.kind)), mql.E("asked", mql.Literal(s.asked)),
		},
		fields...,
	)
	all := append(mongo.Pipeline{}, stages...)
	all = append(all,
		mql.Op("$facet", bson.D{mql.E("found", mongo.Pipeline{mql.Op("$limit", 1)})}),
		mql.Project(out...),
		mergeInto(s.g.Steps, "keepExisting", "insert"),
	)
	return makeMergeStep(from, all...)
}

// claimStates claims the collections for this computation, or fails with [ErrState]. It
// also creates the collection of records: DocumentDB refuses a $lookup into a missing
// collection.
func (s *Supersteps) claimStates() model.Write {
	w := upsertByID(
		s.g.Steps, bson.D{mql.E("_id", claimID), mql.E("kind", s.kind), mql.E("asked", s.asked)},
		&mongo.UpdateOneModel{Update: bson.D{mql.E("$setOnInsert", bson.D{mql.E("claim", true)})}},
	)
	w.Expect, w.Idempotent = model.One, true
	w.Reasons = []model.Reason{{If: bson.D{mql.E("_id", claimID)}, Err: fmt.Errorf("%w: %s", ErrState, s.g.States)}}
	return w
}

// recordEmptyBegin stores the record of a superstep 0 that found nothing. On a collection
// that doesn't exist, a pipeline may return no document at all, not even from $facet.
func (s *Supersteps) recordEmptyBegin() model.Write {
	return upsertByID(s.g.Steps, bson.D{
		mql.E("_id", int64(0)),
	}, &mongo.UpdateOneModel{Update: bson.D{mql.E("$setOnInsert", bson.D{
		mql.E("kind", s.kind), mql.E("asked", s.asked), mql.E("changed", 0), mql.E("vertices", 0), mql.E("active", 0),
	})}})
}

// readFoundField is the expression of a field of the $group's result, or 0.
func readFoundField(field string) bson.D {
	return mql.Op("$ifNull", mql.Op("$arrayElemAt", "$found."+field, 0), 0)
}

// countResults is a $group stage that counts.
func countResults(as string) bson.D { return mql.Group(nil, mql.E(as, mql.Op("$sum", 1))) }

// PlanClear deletes states, messages and records, under a mark that remains if it is cut.
func (g *Graph) PlanClear() model.Plan {
	mark := bson.D{mql.E("_id", clearingID)}
	all := func(name string, filter ...bson.E) model.Write {
		return model.Write{Collection: name, Model: &mongo.DeleteManyModel{Filter: append(bson.D{}, filter...)}}
	}
	p := model.NewPlan(
		upsertByID(
			g.Steps, mark, &mongo.UpdateOneModel{Update: bson.D{mql.E("$set", bson.D{mql.E("kind", clearing)})}},
		),
		all(g.States), all(g.Messages), all(g.Steps, mql.E("_id", mql.Op("$lt", clearingID))), all(g.Steps, mark...),
	)
	p.Leaves = "some states and messages, and the record of an unfinished Clear; run Clear again"
	return p
}
