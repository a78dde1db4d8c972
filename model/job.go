package model

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A Job works through a collection in batches, in the order of _id: for migrations, backfills and repairs of live
// collections. It is stopped by its context or by its Progress function, and goes on where it was when it is run with
// the last progress's After, or with a Checkpoint. Documents inserted while it runs are seen if they sort after the
// batch in hand; a job that must see all is run again.
type Job struct {
	Name       string // what it is called in a checkpoint and in errors
	Collection string
	Filter     bson.D // which documents; nil means all
	Projection bson.D // which fields Plan needs; _id comes in any case
	BatchSize  int    // 0 means 500

	// Stages are applied to each batch by the server before Plan sees it: for what a $lookup tells. They must keep each
	// document's _id, and neither drop nor multiply documents.
	Stages mongo.Pipeline

	// Plan computes what to write for a batch of documents, purely. Its plans must not be transactional, for a batch that
	// was cut is planned and run again. ErrStale makes the job read the batch again, up to 8 times in all.
	Plan func(docs []bson.Raw) (Plan, error)

	// Err is bad input: Run returns it, and nothing is read.
	Err error

	check *Check // finds and mends, instead of Plan
	under []Policy
}

// JobOptions say how to run a job. The zero value runs it from the start to the end.
type JobOptions struct {
	DryRun bool          // plan everything, write nothing
	After  bson.RawValue // begin after this _id; the zero value begins at the start

	// Checkpoint names a collection in which the job keeps its progress under its name, so that a stopped job goes on by
	// itself. "" keeps none. A finished job's checkpoint is deleted. A dry run reads it, and leaves it. It costs a command per batch,
	// one to begin and one to end.
	Checkpoint string

	// Progress is told of each batch after it is written. An error from it stops the job, which returns it.
	Progress func(Progress) error
}

// Progress is how far a job has come.
type Progress struct {
	Batches   int
	Documents int64         // read
	Writes    int64         // planned steps
	Modified  int64         // documents inserted, changed or deleted; 0 in a dry run
	After     bson.RawValue // the last _id that is done: JobOptions.After of a run that goes on from here
	Done      bool
}

// errJobName is returned for a checkpoint of a job that has no name.
var errJobName = errors.New("docmodel: a job needs a name to keep a checkpoint")

// Run runs the job. It returns how far it came, on an error too.
//
// Cost: for each batch one command that reads it, served by the index on _id as far as Filter lets it, and those of its plan; two more
// to find the end, of which the second sees to _ids of another type.
func (j Job) Run(ctx context.Context, db *mongo.Database, o JobOptions) (Progress, error) {
	p := Progress{After: o.After}
	ctx = runctx.Deciding(contextUnder(ctx, j.under))
	switch {
	case j.Err != nil:
		return p, j.Err
	case j.Plan == nil && j.check == nil || j.Collection == "":
		return p, &ValueError{Collection: j.Collection, Field: "Job", Reason: "needs a Collection and a Plan"}
	case o.Checkpoint != "" && j.Name == "":
		return p, errJobName
	}
	if err := CheckRun(ctx, db); err != nil {
		return p, err
	}
	if o.Checkpoint != "" && o.After.Type == 0 {
		if err := j.load(ctx, db, o, &p); err != nil {
			return p, err
		}
	}
	batch := j.batch
	if j.check != nil {
		m := &mending{job: j, after: p.After}
		if batch = m.batch; j.check.MendAll != nil {
			batch = m.all
		}
	}
	for !p.Done {
		if err := batch(ctx, db, o, &p); err != nil {
			return p, fmt.Errorf("docmodel: job %s: %w", j.Name, err)
		}
		if o.Progress != nil {
			if err := o.Progress(p); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// batch does one batch, and again while its plan is stale.
func (j Job) batch(ctx context.Context, db *mongo.Database, o JobOptions, p *Progress) error {
	type read struct {
		docs []bson.Raw
		plan Plan
	}
	change := Change[read]{
		Read: func(ctx context.Context, db *mongo.Database) (read, error) {
			docs, err := j.read(ctx, db, p.After)
			if err != nil || len(docs) == 0 {
				return read{}, err
			}
			plan, err := j.Plan(docs)
			if err == nil {
				err = plan.Err()
			}
			if err == nil && plan.Guarantee() == Transactional && !plan.Options.AllowPartial {
				err = ErrTransactional
			}
			return read{docs, plan}, err
		},
		Decide: func(r read) (Plan, error) {
			if o.DryRun {
				return Plan{}, nil
			}
			return r.plan, nil
		},
	}
	got, result, err := change.Run(ctx, db)
	p.Modified += result.Modified()
	if err != nil {
		return err
	}
	p.Documents += int64(len(got.docs))
	p.Writes += int64(len(got.plan.Steps))
	if len(got.docs) == 0 {
		p.Done = true
		return j.forget(ctx, db, o)
	}
	p.Batches++
	p.After = got.docs[len(got.docs)-1].Lookup("_id")
	return j.save(ctx, db, o, *p)
}

// read reads the next batch: first by the comparison that the _id index bounds, which stays within one BSON type; when
// that has no more, by one across types, so that a collection with _ids of several types is worked through whole.
func (j Job) read(ctx context.Context, db *mongo.Database, after bson.RawValue) ([]bson.Raw, error) {
	if after.Type == 0 {
		return j.find(ctx, db, j.Filter)
	}
	docs, err := j.find(ctx, db, And(j.Filter, bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}}}}))
	if err != nil || len(docs) > 0 {
		return docs, err
	}
	literal := bson.D{{Key: "$literal", Value: after}}
	return j.find(ctx, db, And(j.Filter, bson.D{{Key: "$expr", Value: bson.D{{Key: "$gt", Value: bson.A{"$_id", literal}}}}}))
}

func (j Job) find(ctx context.Context, db *mongo.Database, filter bson.D) ([]bson.Raw, error) {
	if len(j.Stages) > 0 {
		return Aggregate[bson.Raw]{j.aggregation(filter)}.All(ctx, db)
	}
	return Find[bson.Raw]{j.query(filter)}.All(ctx, db)
}

func (j Job) size() int64 {
	if j.BatchSize <= 0 {
		return 500
	}
	return int64(j.BatchSize)
}

// query reads a batch.
func (j Job) query(filter bson.D) Query {
	return Query{
		Collection: j.Collection, Filter: filter, Projection: j.Projection, Limit: j.size(),
		Sort: bson.D{{Key: "_id", Value: 1}}, Options: ReadOptions{BatchSize: int32(j.size())}, Err: j.Err,
	}
}

// aggregation reads a batch through the stages.
func (j Job) aggregation(filter bson.D) Aggregation {
	if filter == nil {
		filter = bson.D{}
	}
	pipeline := mongo.Pipeline{
		{{Key: "$match", Value: filter}}, {{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}}, {{Key: "$limit", Value: j.size()}},
	}
	if len(j.Projection) > 0 {
		pipeline = append(pipeline, bson.D{{Key: "$project", Value: j.Projection}})
	}
	return Aggregation{
		Collection: j.Collection, Pipeline: append(pipeline, j.Stages...), Err: j.Err,
		Options: ReadOptions{BatchSize: int32(j.size() + 1)}, // so that the reply to a full batch is its last
	}
}

// String is the command that reads the first batch, as in mongosh; a refused job is a comment that says why.
func (j Job) String() string {
	if len(j.Stages) > 0 {
		a := j.aggregation(j.Filter)
		for _, p := range j.under {
			pipelineUnder(&a, &p)
		}
		return a.String()
	}
	q := j.query(j.Filter)
	for _, p := range j.under {
		queryUnder(&q, &p)
	}
	return q.String()
}

// checkpoint opens the collection of a checkpoint, and is the filter of the job's document.
func (j Job) checkpoint(ctx context.Context, db *mongo.Database, o JobOptions) (*mongo.Collection, bson.D) {
	return collectionOf(runctx.Deciding(ctx), db, nil, o.Checkpoint), bson.D{{Key: "_id", Value: runctx.Name(ctx, j.Name)}}
}

func (j Job) load(ctx context.Context, db *mongo.Database, o JobOptions, p *Progress) error {
	coll, mine := j.checkpoint(ctx, db, o)
	raw, err := coll.FindOne(ctx, mine).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil
	}
	if err == nil {
		p.After = raw.Lookup("after")
	}
	return err
}

func (j Job) save(ctx context.Context, db *mongo.Database, o JobOptions, p Progress) error {
	if o.Checkpoint == "" || o.DryRun {
		return nil
	}
	coll, mine := j.checkpoint(ctx, db, o)
	_, err := coll.UpdateOne(ctx, mine, bson.D{{Key: "$set", Value: bson.D{{Key: "after", Value: p.After}}}}, options.UpdateOne().SetUpsert(true))
	return err
}

func (j Job) forget(ctx context.Context, db *mongo.Database, o JobOptions) error {
	if o.Checkpoint == "" || o.DryRun {
		return nil
	}
	coll, mine := j.checkpoint(ctx, db, o)
	_, err := coll.DeleteOne(ctx, mine)
	return err
}
