package graph

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// errBatch ends the inner job of the vertices after one batch.
var errBatch = errors.New("docmodel: a batch is finished")

// computeVertices computes the next batch of a program's vertices. through is true if the
// superstep has no more of them. b.After remembers the superstep and the last vertex.
func (s *Supersteps) computeVertices(ctx context.Context, b *model.Batch, last Record) (through bool, err error) {
	if s.kind != program {
		return true, nil
	}
	o := model.JobOptions{DryRun: b.DryRun, BatchSize: b.Size}
	if at, ok := b.After.DocumentOK(); ok {
		if n, _ := at.Lookup("step").AsInt64OK(); n == last.Step+1 {
			o.From.After = at.Lookup("vertex")
		}
	}
	o.Progress = func(p model.Progress) error {
		if p.Done || b.DryRun {
			return nil
		}
		return errBatch
	}
	p, err := s.MakeVertexJob(last.Step+1).Run(ctx, b.DB, o)
	b.Documents, b.Writes, b.Modified = p.Documents, p.Writes, p.Modified
	if !errors.Is(err, errBatch) {
		return err == nil, err
	}
	b.After, err = core.RawValue(bson.D{mql.E("step", last.Step+1), mql.E("vertex", p.After)})
	return false, err
}

// MakeVertexJob is the job that calls the function for each vertex, and writes states and
// messages. After the superstep's record it finds no vertex.
func (s *Supersteps) MakeVertexJob(n int64) model.Job {
	return model.Job{Name: fmt.Sprintf("superstep %d of %s", n, s.g.States), Stages: []model.Stage{{
		Collection: s.g.Vertices, Pipeline: s.g.makeVertexStages(n),
		Plan: func(docs []bson.Raw) (model.Plan, error) { return s.planVertices(n, docs) },
	}}}
}

// makeVertexStages returns what the function sees: vertex (null if the function isn't
// called), was (the state before the superstep) and inbox (the messages).
func (g *Graph) makeVertexStages(n int64) mongo.Pipeline {
	ours := mql.Op("$eq", "$state.step", n)
	stages := mongo.Pipeline{
		mql.Project(mql.E("vertex", "$$ROOT")),
		mql.Lookup(g.States, "_id", "_id", "state"),
		mql.Op("$unwind", bson.D{mql.E("path", "$state"), mql.E("preserveNullAndEmptyArrays", true)}),
		mql.Op("$lookup", bson.D{
			mql.E("from", g.Messages), mql.E("localField", "_id"), mql.E("foreignField", "_id.t"),
			mql.E("pipeline", mongo.Pipeline{mql.Match(mql.E("_id.s", n)), mql.Op("$sort", bson.D{mql.E("_id", 1)})}),
			mql.E("as", "inbox"),
		}),
		mql.Project(mql.E("vertex", 1), mql.E("inbox", 1), mql.E("was", mql.Op("$cond", ours, "$state.was",
			bson.D{mql.E("value", "$state.value"), mql.E("halted", "$state.halted")}))),
		mql.Project(mql.E("inbox", 1), mql.E("was", 1), mql.E("vertex", mql.Op("$cond",
			mql.Op("$and", mql.Op("$eq", "$inbox", bson.A{}), mql.Op("$eq", "$was.halted", true)), nil, "$vertex"))),
	}
	return append(stages, g.skipIfRecorded(n)...)
}

// planVertices calls the function for a batch of vertices. A message's _id has the
// superstep, the receiver and the sender, so that a second run overwrites it.
func (s *Supersteps) planVertices(n int64, docs []bson.Raw) (model.Plan, error) {
	var states, messages []model.Step
	for _, doc := range docs {
		if v := doc.Lookup("vertex"); v.Type != bson.TypeEmbeddedDocument {
			continue
		}
		id := doc.Lookup("_id")
		out, err := s.compute(n, doc)
		if err != nil {
			return model.Plan{}, fmt.Errorf("docmodel: vertex %s: %w", model.Shell(id), err)
		}
		was := bson.Raw{5, 0, 0, 0, 0}
		if d, ok := doc.Lookup("was").DocumentOK(); ok {
			was = d
		}
		state := bson.D{mql.E("$set", bson.D{
			mql.E("step", n), mql.E("halted", out.Halted), mql.E("value", out.Value), mql.E("sent", len(out.to)),
			mql.E("was", was),
		})}
		states = append(states, upsertByID(s.g.States, bson.D{mql.E("_id", id)}, &mongo.UpdateOneModel{Update: state}))
		for i, to := range out.to {
			key := bson.D{mql.E("_id", bson.D{mql.E("s", n+1), mql.E("t", to), mql.E("f", id)})}
			messages = append(
				messages,
				upsertByID(
					s.g.Messages, key,
					&mongo.UpdateOneModel{Update: bson.D{mql.E("$set", bson.D{mql.E("m", out.told[i])})}},
				),
			)
		}
	}
	p := model.NewPlan(append(states, messages...)...)
	if len(p.Steps) > 1 {
		p.Leaves = "some vertices computed; the next run computes the others"
	}
	return p, nil
}

// upsertByID is an upsert of the document with a key.
func upsertByID(collection string, key bson.D, m *mongo.UpdateOneModel) model.Write {
	upsert := true
	m.Filter, m.Upsert = key, &upsert
	return model.Write{Collection: collection, Index: model.IDIndex, Model: m}
}

// beginProgram counts the vertices. All of them are active.
func (s *Supersteps) beginProgram() model.Plan {
	return model.NewPlan(
		s.recordStep(
			0, s.g.Vertices, mongo.Pipeline{countResults("n")}, mql.E("vertices", readFoundField("n")),
			mql.E("active", readFoundField("n")),
		),
	)
}

// endProgram deletes the messages of earlier supersteps and counts what this one did. The
// record comes last: after it, nobody would delete the messages.
func (s *Supersteps) endProgram(n int64) model.Plan {
	return model.NewPlan(model.Write{Collection: s.g.Messages, Index: model.IDIndex, Model: &mongo.DeleteManyModel{
		Filter: bson.D{
			mql.E("_id", bson.D{mql.E("$gte", bson.D{mql.E("s", int64(0))}), mql.E("$lt", bson.D{mql.E("s", n)})}),
		},
	}}, s.recordStep(n, s.g.States, mongo.Pipeline{mql.Match(mql.E("step", n)), mql.Group(nil,
		mql.E("n", mql.Op("$sum", 1)), mql.E("active", mql.Op("$sum", mql.Op("$cond", "$halted", 0, 1))),
		mql.E("sent", mql.Op("$sum", "$sent")),
	)}, mql.E("changed", readFoundField("n")), mql.E("active", readFoundField("active")),
		mql.E("sent", readFoundField("sent"))))
}
