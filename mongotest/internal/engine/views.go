package engine

// This file has commands on views. A read of a view is run as an aggregate command: find, count and distinct make one
// of themselves, to which aggregate adds the stages of the view. Package forms resolves views of views.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/changestream"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// isView reports whether the command's collection is a view.
func (r *request) isView() bool {
	name, _ := r.body[0].Value.(string)
	c := r.state().Collection(store.Namespace{DB: r.db, Coll: name})
	return c != nil && c.View != nil
}

// readView reads the options viewOn and pipeline of create or collMod, nil if the command has neither. Errors are a's.
func readView(r *request, a *args.Reader, ns store.Namespace) *store.View {
	if !a.HasField("viewOn") && !a.HasField("pipeline") {
		return nil
	}
	v := &store.View{On: a.Text("viewOn"), Pipeline: a.Array("pipeline")}
	switch {
	case a.Err != nil:
		return v
	case !a.HasField("viewOn"):
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "'pipeline' requires 'viewOn' to also be specified"))
		return v
	case v.On == "":
		a.Fail(mongoerr.New(mongoerr.BadValue, "'viewOn' cannot be empty"))
		return v
	case r.txn != nil:
		a.Fail(mongoerr.New(mongoerr.OperationNotSupportedInTransaction,
			"Cannot create a view in a multi-document transaction."))
	}
	if v.Pipeline == nil {
		v.Pipeline = bson.A{}
	}
	_, err := checkNamespace(ns.DB, v.On)
	a.Fail(err)
	a.Fail(checkViewPipeline(r, v))
	return v
}

// checkViewPipeline refuses stages that a view can't have: $changeStream, and stages that write.
func checkViewPipeline(r *request, v *store.View) error {
	p, err := pipeline.Parse(v.Pipeline, &environment{request: r, state: r.state(), watch: r.watch})
	if changestream.IsOpenedBy(v.Pipeline) {
		return mongoerr.New(mongoerr.OptionNotSupportedOnView, "$changeStream cannot be used in a view definition")
	}
	if err == nil && p.Writes() {
		last := v.Pipeline[len(v.Pipeline)-1].(bson.D)[0].Key
		return mongoerr.New(mongoerr.OptionNotSupportedOnView,
			"The aggregation stage %s in location %d of the pipeline cannot be used in the view definition",
			last, len(v.Pipeline)-1)
	}
	return err
}

// makeAggregate returns the request as an aggregate command on its view, with these stages, the fields more, and the
// fields of the request that aggregate has too. The session and the generic fields stay.
func (r *request) makeAggregate(stages bson.A, more ...bson.E) *request {
	next := *r
	next.command = r.engine.commands["aggregate"]
	next.body = append(bson.D{{Key: "aggregate", Value: r.body[0].Value}, {Key: "pipeline", Value: stages}}, more...)
	for _, name := range []string{"hint", "let", "allowDiskUse", "collation"} {
		if v, ok := bsonval.Get(r.body, name); ok {
			next.body = append(next.body, bson.E{Key: name, Value: v})
		}
	}
	if bsonval.Index(next.body, "cursor") < 0 {
		next.body = append(next.body, bson.E{Key: "cursor", Value: bson.D{}})
	}
	return &next
}

// makeFindAggregate returns a find command on a view as an aggregate command. Options that aggregate doesn't have are
// errors, with MongoDB's texts:
//
//	{find: "v", filter: {n: 1}, sort: {n: 1}, limit: 5}
//	{aggregate: "v", pipeline: [{$match: {n: 1}}, {$sort: {n: 1}}, {$limit: 5}], cursor: {}}
func makeFindAggregate(r *request) (*request, error) {
	a := r.args()
	for _, name := range []string{
		"returnKey", "showRecordId", "tailable", "awaitData", "noCursorTimeout", "oplogReplay", "min", "max",
	} {
		if v, ok := a.Get(name); ok && !bsonval.Equal(v, false) && !bsonval.Equal(v, bson.D{}) {
			return nil, mongoerr.New(mongoerr.InvalidPipelineOperator, "Option %s not supported in aggregation.", name)
		}
	}
	a.Boolean("allowPartialResults", false)
	limit := a.Integer("limit", 0)
	if a.Boolean("singleBatch", false) && limit != 1 {
		return nil, mongoerr.New(mongoerr.InvalidPipelineOperator, "Option singleBatch not supported in aggregation.")
	}
	// The order of a find: filter, sort, skip, limit, projection.
	var stages bson.A
	add := func(stage string, v any) { stages = append(stages, bson.D{{Key: stage, Value: v}}) }
	if filter := a.Document("filter"); len(filter) > 0 {
		add("$match", filter)
	}
	if sort := a.Document("sort"); len(sort) > 0 {
		if bsonval.Index(sort, "$natural") >= 0 {
			return nil, mongoerr.New(mongoerr.InvalidPipelineOperator,
				"Sort option $natural not supported in aggregation")
		}
		add("$sort", sort)
	}
	if skip := a.Natural("skip", 0); skip > 0 {
		add("$skip", skip)
	}
	if limit != 0 {
		add("$limit", max(limit, -limit))
	}
	if fields := a.Document("projection"); len(fields) > 0 {
		add("$project", fields)
	}
	batch := bson.D{}
	if v, ok := a.Get("batchSize"); ok {
		batch = bson.D{{Key: "batchSize", Value: v}}
	}
	return r.makeAggregate(stages, bson.E{Key: "cursor", Value: batch}), a.Err
}

// makeCountAggregate returns a count command on a view as an aggregate command. Its result is one document with the
// number, or no document.
func makeCountAggregate(r *request) (*request, error) {
	a := r.args()
	stages := bson.A{bson.D{{Key: "$match", Value: append(bson.D{}, a.Document("query")...)}}}
	if skip := a.Natural("skip", 0); skip > 0 {
		stages = append(stages, bson.D{{Key: "$skip", Value: skip}})
	}
	if limit := a.Integer("limit", 0); limit != 0 {
		stages = append(stages, bson.D{{Key: "$limit", Value: max(limit, -limit)}})
	}
	a.Refuse("fields", bson.D{})
	return r.makeAggregate(append(stages, bson.D{{Key: "$count", Value: "count"}})), a.Err
}

// makeDistinctAggregate returns a distinct command on a view as an aggregate command for the documents with the values.
func makeDistinctAggregate(r *request) (*request, error) {
	a := r.args()
	return r.makeAggregate(bson.A{bson.D{{Key: "$match", Value: append(bson.D{}, a.Document("query")...)}}}), a.Err
}

// runAggregate returns the documents of an aggregate command, without batches. It takes the result of a function named
// make…Aggregate, and an error becomes the only element of the sequence.
func runAggregate(r *request, err error) pipeline.Docs {
	var x *aggregation
	if err == nil {
		x, err = readAggregate(r)
	}
	if err != nil {
		return func(yield func(bson.D, error) bool) { yield(nil, err) }
	}
	return x.rest.Run(runPlan(x.plan))
}
