package model

import (
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
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
