package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// pass does one batch of a pass, again while its plan is stale.
func (s Stage) pass(ctx context.Context, b *Batch) error {
	type read struct {
		docs []bson.Raw
		plan Plan
		left []Finding
	}
	change := ChangeOf[read]{
		Name:     cmp.Or(s.Name, s.Collection),
		Attempts: maxTurns,
		Read: func(ctx context.Context, db DB) (read, error) {
			docs, err := s.read(ctx, db, b.After)
			if err != nil || len(docs) == 0 {
				return read{}, err
			}
			one := &Batch{DB: db, Docs: docs, DryRun: b.DryRun, After: b.After}
			plan, err := s.plan(ctx, one)
			if err == nil {
				err = jobPlan(plan)
			}
			return read{docs, plan, one.left}, err
		},
		Decide: func(r read) (Plan, error) {
			if b.DryRun {
				return Plan{}, nil
			}
			return r.plan, nil
		},
	}
	got, result, err := change.Run(ctx, b.DB)
	b.Modified = result.Modified()
	if err != nil {
		return err
	}
	b.Documents, b.Writes, b.left = int64(len(got.docs)), int64(len(got.plan.Steps)), got.left
	if b.Done = len(got.docs) == 0; !b.Done {
		b.After = got.docs[len(got.docs)-1].Lookup("_id")
	}
	return nil
}

func (s Stage) plan(ctx context.Context, b *Batch) (Plan, error) {
	if s.Work != nil {
		return s.Work(ctx, b)
	}
	return s.Plan(b.Docs)
}

// jobPlan says why a job can't run a plan.
func jobPlan(plan Plan) error {
	err := plan.Err()
	if err == nil && plan.Guarantee() == Transactional && !plan.Options.AllowPartial {
		return plan.needsTx()
	}
	return err
}

// read reads the next batch. It first compares _id within the BSON type of after, which
// uses the _id index. If no document is left, it compares across types, for collections
// with _ids of several types.
func (s Stage) read(ctx context.Context, db DB, after bson.RawValue) ([]bson.Raw, error) {
	if after.Type == 0 {
		return s.find(ctx, db, s.Filter)
	}
	rest := bsondoc.JoinFilters(s.Filter, bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}}}})
	docs, err := s.find(ctx, db, rest)
	if err != nil || len(docs) > 0 {
		return docs, err
	}
	literal := bson.D{{Key: "$literal", Value: after}}
	return s.find(ctx, db,
		bsondoc.JoinFilters(s.Filter,
			bson.D{{Key: "$expr", Value: bson.D{{Key: "$gt", Value: bson.A{"$_id", literal}}}}}))
}

func (s Stage) find(ctx context.Context, db DB, filter bson.D) ([]bson.Raw, error) {
	if len(s.Pipeline) > 0 {
		return (&Aggregate[bson.Raw]{s.aggregation(filter)}).All(ctx, db)
	}
	return (&Find[bson.Raw]{s.query(filter)}).All(ctx, db)
}

func (s Stage) size() int64 {
	if s.BatchSize <= 0 {
		return 500
	}
	return int64(s.BatchSize)
}

func (s Stage) query(filter bson.D) Query {
	return Query{
		Collection: s.Collection, Filter: filter, Projection: s.Projection, Limit: s.size(),
		Sort: bson.D{{Key: "_id", Value: 1}}, Options: ReadOptions{BatchSize: int32(s.size())},
		Keyed: slices.Contains(s.Keyed, s.Collection), Deleted: s.stored, stored: s.stored,
	}
}

func (s Stage) aggregation(filter bson.D) Aggregation {
	if filter == nil {
		filter = bson.D{}
	}
	pipeline := mongo.Pipeline{
		{{Key: "$match", Value: filter}}, {{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$limit", Value: s.size()}},
	}
	if len(s.Projection) > 0 {
		pipeline = append(pipeline, bson.D{{Key: "$project", Value: s.Projection}})
	}
	return Aggregation{
		Collection: s.Collection, Pipeline: append(pipeline, s.Pipeline...), Keyed: s.Keyed,
		Options: ReadOptions{BatchSize: int32(s.size() + 1)}, // so a full batch needs no second reply
	}
}

// command returns the mongosh command that reads the first batch.
func (s Stage) command() string {
	if len(s.Pipeline) > 0 {
		a := s.aggregation(s.Filter)
		return a.String()
	}
	q := s.query(s.Filter)
	return q.String()
}

// checkpoint returns the checkpoint's collection and the filter of the job's document.
func (j Job) checkpoint(ctx context.Context, db DB, o JobOptions) (*mongo.Collection, bson.D) {
	return collectionOf(runctx.Deciding(ctx), db, nil, o.Checkpoint), bson.D{{Key: "_id", Value: tenantName(db, j.Name)}}
}

func (j Job) load(ctx context.Context, db DB, o JobOptions, p *Progress) error {
	coll, mine := j.checkpoint(ctx, db, o)
	raw, err := coll.FindOne(ctx, mine).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil
	}
	if err != nil {
		return err
	}
	stage, _ := raw.Lookup("stage").StringValueOK()
	if p.Stage = slices.Index(j.places(), stage); p.Stage < 0 {
		return &ValueError{
			Collection: o.Checkpoint, Field: "stage", Value: raw.Lookup("stage"),
			Reason: fmt.Sprintf("isn't a stage of the job %s any more: delete the document %s to start the job again, or give JobOptions.From", j.Name, shell(mine)),
		}
	}
	p.After = raw.Lookup("after")
	return nil
}

// places returns the stages' names in a checkpoint, which stay valid when the job gains
// or loses a stage. The check of an audit has its technique before its name. A repeated
// name has a number after it.
func (j Job) places() []string {
	out, times := make([]string, len(j.Stages)), map[string]int{}
	for i, s := range j.Stages {
		out[i] = s.Name
		if s.check != nil && s.check.technique != "" {
			out[i] = s.check.technique + ": " + s.Name
		}
		times[out[i]]++
		if n := times[out[i]]; n > 1 {
			out[i] += fmt.Sprintf(" (%d)", n)
		}
	}
	return out
}

func (j Job) save(ctx context.Context, db DB, o JobOptions, p Progress) error {
	if o.Checkpoint == "" || o.DryRun {
		return nil
	}
	coll, mine := j.checkpoint(ctx, db, o)
	place := bson.D{{Key: "stage", Value: j.places()[p.Stage]}}
	if p.After.Type != 0 {
		place = append(place, bson.E{Key: "after", Value: p.After})
	}
	_, err := coll.ReplaceOne(ctx, mine, place, options.Replace().SetUpsert(true))
	return err
}

func (j Job) forget(ctx context.Context, db DB, o JobOptions) error {
	if o.Checkpoint == "" || o.DryRun {
		return nil
	}
	coll, mine := j.checkpoint(ctx, db, o)
	_, err := coll.DeleteOne(ctx, mine)
	return err
}
