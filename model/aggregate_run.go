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

// How a pipeline is run: under the database's scopes, and as a read (read.go), whose methods decode
// the documents. MongoDB refuses $unionWith in a transaction. There splitUnions makes a pipeline of
// each part, and the read opens their cursors one after another.

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

// readPipeline returns the pipeline, ready to run. An error of the pipeline is the read's, and nothing
// is sent.
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
		collection: a.Collection, filter: firstMatch(of.Pipeline),
		open: a.opener(db, a.Collection, pipeline), used: a.used,
	}
	for _, u := range unions {
		if a.Options.Collation == nil { // the default collation of each collection counts
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

// rewriteFor returns the pipeline as it is sent on a database. [handle.UnderScopes] calls it, for tests.
func (a *Aggregation) rewriteFor(db DB) interface{ Command() bson.D } { return scopedPipeline(db, a) }
