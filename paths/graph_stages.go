package paths

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
)

func e(key string, v any) bson.E { return bson.E{Key: key, Value: v} }

// op is an operator and its arguments: a single one, or a list of several.
func op(name string, args ...any) bson.D {
	if len(args) == 1 {
		return bson.D{e(name, args[0])}
	}
	return bson.D{e(name, bson.A(args))}
}

// literal is a value that no expression is made of; as a number of $project it is no inclusion.
func literal(v any) bson.D { return op("$literal", v) }

func stageMatch(filter ...bson.E) bson.D   { return op("$match", bson.D(filter)) }
func stageProject(fields ...bson.E) bson.D { return op("$project", bson.D(fields)) }
func stageUnwind(path string) bson.D       { return op("$unwind", path) }

// stageGroup groups by an expression.
func stageGroup(id any, fields ...bson.E) bson.D {
	return op("$group", append(bson.D{e("_id", id)}, fields...))
}

// stageLookup adds the documents of another collection; fields are those that are needed of them, the foreign one among them.
func stageLookup(from, local, foreign, as string, fields ...bson.E) bson.D {
	d := bson.D{e("from", from), e("localField", local), e("foreignField", foreign)}
	if len(fields) > 0 {
		d = append(d, e("pipeline", mongo.Pipeline{stageProject(fields...)}))
	}
	return op("$lookup", append(d, e("as", as)))
}

// stageMerge ends a pipeline.
func stageMerge(into, matched, notMatched string) bson.D {
	return op("$merge", bson.D{e("into", into), e("whenMatched", matched), e("whenNotMatched", notMatched)})
}

// merging is a step that can be run again.
func merging(from string, stages ...bson.D) model.MergeInto {
	return model.MergeInto{Collection: from, Pipeline: stages, Once: true}
}

// unlessRecorded lets nothing through once a superstep's record is there.
func (g *graph) unlessRecorded(step int64) mongo.Pipeline {
	return mongo.Pipeline{
		op("$set", bson.D{e("record", literal(step))}),
		stageLookup(g.steps, "record", "_id", "done", e("_id", 1)),
		stageMatch(e("done", op("$size", 0))),
	}
}

// targets is the expression of the _ids that a vertex below a prefix lists.
func (g *graph) targets(prefix string) bson.D {
	path := prefix + g.edges
	return op("$cond", op("$isArray", path), path, bson.A{})
}

// existing are the stages that leave of the field to those _ids that are vertices, each once.
func (g *graph) existing(more ...bson.E) mongo.Pipeline {
	fields := append(bson.D{e("to", "$found._id"), e("step", literal(0))}, more...)
	return mongo.Pipeline{
		stageLookup(g.vertices, "to", "_id", "found", e("_id", 1)),
		stageProject(fields...),
	}
}

// snapshot stores each vertex with its edges, as the state of step 0.
func (g *graph) snapshot(more ...bson.E) model.MergeInto {
	stages := mongo.Pipeline{stageProject(e("to", g.targets("$")))}
	stages = append(stages, g.unlessRecorded(0)...)
	stages = append(stages, g.existing(more...)...)
	return merging(g.vertices, append(stages, stageMerge(g.states, "keepExisting", "insert"))...)
}

// record is the step that leaves the record of a superstep: of the one result of a $group, or of none, the fields that are given.
func (s *Supersteps) record(step int64, from string, stages mongo.Pipeline, fields ...bson.E) model.MergeInto {
	out := append(bson.D{e("_id", literal(step)), e("kind", literal(s.kind)), e("asked", literal(s.asked))}, fields...)
	all := append(mongo.Pipeline{}, stages...)
	all = append(all,
		op("$facet", bson.D{e("found", mongo.Pipeline{op("$limit", 1)})}),
		stageProject(out...),
		stageMerge(s.g.steps, "keepExisting", "insert"),
	)
	return merging(from, all...)
}

// claim says of what computation the states are to be, before there are any; it refuses those of another. Its _id is before those of
// records, and it makes their collection, which the pipelines look into (DocumentDB refuses to look into one that doesn't exist).
func (s *Supersteps) claim() model.Write {
	w := put(s.g.steps, bson.D{e("_id", claimID), e("kind", s.kind), e("asked", s.asked)}, &mongo.UpdateOneModel{Update: bson.D{e("$setOnInsert", bson.D{e("claim", true)})}})
	w.Expect, w.Once = model.One, true
	w.Reasons = []model.Reason{{If: bson.D{e("_id", claimID)}, Err: fmt.Errorf("%w: %s", ErrGraphState, s.g.states)}}
	return w
}

// recordNone is the record of a beginning that found nothing: of a collection that doesn't exist, a pipeline may give no result at
// all.
func (s *Supersteps) recordNone() model.Write {
	return put(s.g.steps, bson.D{e("_id", int64(0))}, &mongo.UpdateOneModel{Update: bson.D{e("$setOnInsert", bson.D{
		e("kind", s.kind), e("asked", s.asked), e("changed", 0), e("vertices", 0), e("active", 0),
	})}})
}

// found is the expression of a field of that one result, 0 where there is none.
func found(field string) bson.D {
	return op("$ifNull", op("$arrayElemAt", "$found."+field, 0), 0)
}

// counting counts what comes.
func counting(as string) bson.D { return stageGroup(nil, e(as, op("$sum", 1))) }
