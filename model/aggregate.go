package model

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// An Aggregate is a pipeline whose results are values of type R. It sends nothing until
// it is run.
type Aggregate[R any] struct{ Aggregation }

// An Aggregation is an [Aggregate] without the type of its results. You can change its
// fields before you run it.
type Aggregation struct {
	Collection string
	Pipeline   mongo.Pipeline
	Options    ReadOptions
	Index      string // the index that the first stages use; "" means not known
	Err        error  // reports bad input; each run returns it

	// Keyed names the collections, among those that the pipeline reads, whose _ids carry
	// the tenant under a Scope: see [Write].Keyed. Stages after the first $match, $sort,
	// $limit and $skip stages see the _ids without the tenant.
	Keyed []string

	codec *core.Codec
	used  []use
}

// Aggregate returns a pipeline with results of type D. If the first stage is $match, it
// is checked as in [Collection.Find]. Other stages aren't checked. To write with $merge
// or $out, use [MergeInto].
//
// Consistency: a $lookup can see newer data than the first stage.
//
// Cost of a run: one command for each batch. In a transaction, each $unionWith costs one
// more command.
func (c *Collection[D, K]) Aggregate(pipeline mongo.Pipeline) *Aggregate[D] {
	a := new(Aggregate[D])
	declOf(c).aggregation(&a.Aggregation, pipeline)
	return a
}

// AggregateAs is [Collection.Aggregate] with results of type R.
func AggregateAs[R, D, K any](c *Collection[D, K], pipeline mongo.Pipeline) *Aggregate[R] {
	a := new(Aggregate[R])
	declOf(c).aggregation(&a.Aggregation, pipeline)
	return a
}

// All runs the pipeline and returns every result.
func (a *Aggregate[R]) All(ctx context.Context, db DB) ([]R, error) {
	var docs []R
	err := readPipeline(ctx, db, &a.Aggregation).all(&docs)
	return docs, err
}

// Each yields the results batch by batch: see [Find.Each].
func (a *Aggregate[R]) Each(ctx context.Context, db DB) iter.Seq2[R, error] {
	return each[R](readPipeline(ctx, db, &a.Aggregation))
}

// One returns the first result, or [ErrNotFound] if there is none. It adds no $limit to
// the pipeline.
func (a *Aggregate[R]) One(ctx context.Context, db DB) (R, error) {
	var doc R
	err := readPipeline(ctx, db, &a.Aggregation).one(&doc)
	return doc, err
}

// Count counts the results on the server. Cost: one command.
func (a *Aggregation) Count(ctx context.Context, db DB) (int64, error) {
	var found struct{ N int64 }
	counting := *a
	counting.Pipeline = append(slices.Clone(a.Pipeline), bson.D{{Key: "$count", Value: "n"}})
	ctx, op := begin(ctx, db, "count", "", a.Collection, 0)
	defer op.end()
	op.reads(a.Index)
	err := readPipeline(ctx, db, &counting).first(ctx, &found)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	op.settle(err)
	return found.N, err
}

// aggregation fills in a pipeline of the collection. It takes a pointer because a copy
// would be compiled for every document type.
//
//go:noinline
func (c declaration) aggregation(a *Aggregation, pipeline mongo.Pipeline) {
	a.Collection, a.codec = c.Name(), c.Codec()
	if c.Docs.IsKeyed() {
		a.Keyed = []string{c.Name()}
	}
	a.Pipeline, a.Err = c.Codec().CopyPipeline(pipeline)
	if a.Err == nil && len(a.Pipeline) > 0 && len(a.Pipeline[0]) == 1 && a.Pipeline[0][0].Key == "$match" {
		if filter, ok := a.Pipeline[0][0].Value.(bson.D); ok {
			a.Err = c.CheckFilter(filter)
		}
	}
}

// Command returns the aggregate command without the fields that the driver adds.
func (a *Aggregation) Command() bson.D {
	cursor := bson.D{}
	if a.Options.BatchSize != 0 {
		cursor = bson.D{{Key: "batchSize", Value: a.Options.BatchSize}}
	}
	stages := make(bson.A, len(a.Pipeline))
	for i, s := range a.Pipeline {
		stages[i] = s
	}
	cmd := bson.D{
		{Key: "aggregate", Value: a.Collection}, {Key: "pipeline", Value: stages}, {Key: "cursor", Value: cursor},
	}
	return a.Options.appendTo(cmd)
}

// String returns the pipeline as a mongosh command.
func (a *Aggregation) String() string {
	if a.Err != nil {
		return "// refused: " + a.Err.Error()
	}
	if o := a.Options.appendTo(nil); len(o) > 0 {
		return shellCall(a.Collection, "aggregate", a.Pipeline, o)
	}
	return shellCall(a.Collection, "aggregate", a.Pipeline)
}

// Cost returns the price: one command, and one for each further batch.
//
//go:noinline
func (a *Aggregation) Cost() Cost { return readCost(a.Index) }

// scopedPipeline returns the pipeline under the database's scopes.
func scopedPipeline(db DB, a *Aggregation) *Aggregation {
	own := *a
	if w := rewriterOf(db); w != nil {
		w.aggregation(&own)
	}
	return &own
}

// firstMatch returns the filter that a pipeline begins with, or nil.
func firstMatch(pipeline mongo.Pipeline) bson.D {
	if len(pipeline) == 0 || len(pipeline[0]) == 0 || pipeline[0][0].Key != "$match" {
		return nil
	}
	filter, _ := pipeline[0][0].Value.(bson.D)
	return filter
}

// readPipeline returns the pipeline, ready to run.
//
//go:noinline
func readPipeline(ctx context.Context, db DB, of *Aggregation) *read {
	a := scopedPipeline(db, of)
	err := a.Err
	if err == nil && a.Collection == "" {
		err = errNoCollection("a pipeline")
	}
	if err == nil {
		err = core.CheckRun(ctx, db)
	}
	if err == nil {
		err = cmp.Or(core.CheckDepth(a.Pipeline), a.Options.shared().check())
	}
	pipeline, unions := a.Pipeline, []union(nil)
	if err == nil && runctx.InTransaction(ctx) {
		pipeline, unions, err = splitUnions(a.Collection, a.Pipeline)
	}
	r := &read{
		ctx: ctx, db: db, kind: "aggregate", index: a.Index, options: a.Options, codec: a.codec, refused: err,
		collection: a.Collection, filter: firstMatch(of.Pipeline), open: a.opener(db, a.Collection, pipeline), used: a.used,
	}
	for _, u := range unions {
		if a.Options.Collation == nil {
			r.used = alsoFirst(r.used, u.collection)
		}
		part := *a
		part.Options.Hint = nil // it names an index of the first collection
		r.then = append(r.then, part.opener(db, u.collection, u.pipeline))
	}
	return r
}

// opener returns the function that sends a pipeline.
func (a *Aggregation) opener(
	db DB, collection string, pipeline mongo.Pipeline,
) func(context.Context) (*mongo.Cursor, error) {
	return func(ctx context.Context) (*mongo.Cursor, error) {
		o := withReadOptions(options.Aggregate(), a.Options)
		if pipeline == nil {
			pipeline = mongo.Pipeline{}
		}
		return collectionOf(ctx, db, a.codec, collection, a.Options.collectionOptions()).Aggregate(ctx, pipeline, o)
	}
}
