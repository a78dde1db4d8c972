package engine

// This file has the command aggregate (https://www.mongodb.com/docs/manual/reference/command/aggregate/). A command and
// its reply:
//
//	{aggregate: "things", pipeline: [{$match: {n: 1}}, {$group: {_id: "$m", count: {$sum: 1}}}], cursor: {}}
//	{cursor: {firstBatch: [{_id: "a", count: 2}], id: 0, ns: "test.things"}, ok: 1.0}
//
// The first stages become a plan (here $match), the others run on the plan's documents. cmd_watch.go has pipelines that
// begin with $changeStream, cmd_explain_aggregate.go explains pipelines.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/changestream"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var aggregateCommands = []*command{
	{name: "aggregate", txn: true, run: aggregate, fields: []string{
		"pipeline", "cursor", "explain", "allowDiskUse", "bypassDocumentValidation", "collation", "hint", "let",
	}},
}

// aggregation is an aggregate command that has been read: a plan that does the leading $match and $sort, or a $geoNear,
// and the other stages.
type aggregation struct {
	ns    store.Namespace
	plan  *plan.Plan
	rest  *pipeline.Pipeline // the other stages
	tail  bson.A             // the other stages as they were sent, for explain
	near  bool               // the first stage is $geoNear
	batch int64              // how many documents the first batch has
}

// aggregate runs a pipeline as far as the first batch, or to its end if it writes.
func aggregate(r *request) (reply, error) {
	if _, ok := r.args().Get("cursor"); !ok {
		return nil, mongoerr.New(mongoerr.FailedToParse,
			"The 'cursor' option is required, except for aggregate with the explain argument")
	}
	if stages := r.args().Array("pipeline"); changestream.IsOpenedBy(stages) {
		if r.engine.alone {
			return nil, mongoerr.New(40573, "The $changeStream stage is only supported on replica sets")
		}
		return openChangeStream(r, stages)
	}
	a, err := readAggregate(r)
	if err != nil {
		return nil, err
	}
	docs := a.rest.Run(runPlan(a.plan))
	if a.rest.Writes() { // $out or $merge: ranging over its documents writes them, and there are none
		for _, err := range docs {
			if err != nil {
				return nil, err
			}
		}
		return r.openSource(a.ns, cursor.NewDocuments(nil), a.batch, false)
	}
	return r.openSource(a.ns, cursor.Pull(docs), a.batch, false)
}

// readAggregate reads an aggregate command and plans its first stages. Stages of a view come before those of the
// command.
func readAggregate(r *request) (*aggregation, error) {
	a := r.args()
	a.Require("pipeline")
	stages := a.Array("pipeline")
	if changestream.IsOpenedBy(stages) {
		return nil, mongoerr.New(mongoerr.NotImplemented, "explain isn't implemented for $changeStream")
	}
	x := &aggregation{batch: readBatchSize(a)}
	noDisk := !a.Boolean("allowDiskUse", true)
	r.bypass = a.Boolean("bypassDocumentValidation", false)
	a.Refuse("explain", false)
	index := a.Hint()
	if a.Err != nil {
		return nil, a.Err
	}
	// 1. The collection, with the stages of its view.
	var coll *store.Collection // nil if it doesn't exist, and for {aggregate: 1}
	var base store.Namespace   // the collection that a view reads, or the command's own
	var err error
	if n, ok := args.ReadWhole(r.body[0].Value); ok && n == 1 {
		x.ns = store.Namespace{DB: r.db, Coll: collectionless}
	} else {
		if x.ns, err = r.namespace(); err != nil {
			return nil, err
		}
		var view bson.A
		if base, view, err = forms.ResolveView(r.state(), x.ns); err != nil {
			return nil, err
		}
		coll, stages = r.state().Collection(base), slices.Concat(view, stages)
	}
	// 2. The pipeline is parsed, and refused if it can't run here.
	by := a.Collation(coll)
	now := r.engine.now()
	vars := a.Variables("let", now, by)
	if a.Err != nil {
		return nil, a.Err
	}
	env := &environment{
		request: r, own: x.ns, base: base, state: r.state(), now: now, watch: r.watch, noDisk: noDisk, collation: by,
	}
	p, err := pipeline.ParseVars(stages, env, vars)
	if err != nil {
		return nil, err
	}
	if err := checkSource(stages, coll == nil && x.ns.Coll == collectionless); err != nil {
		return nil, err
	}
	if p.Writes() {
		last := stages[len(stages)-1].(bson.D)[0].Key
		switch {
		case r.txn != nil:
			return nil, mongoerr.New(mongoerr.OperationNotSupportedInTransaction, "%s cannot be used in a transaction",
				last)
		case r.snapshot.asked:
			return nil, mongoerr.New(mongoerr.InvalidOptions, "%s cannot be used with a 'snapshot' read concern level",
				last)
		case r.linear:
			return nil, mongoerr.New(mongoerr.InvalidOptions,
				"%s cannot be used with a 'linearizable' read concern level", last)
		}
	}
	// 3. The first stages become a plan.
	q := plan.Query{Hint: index, Watch: r.watch, NoDisk: noDisk}
	opt := query.Options{Now: env.now, Vars: vars, Watch: r.watch, Special: newSpecial(coll, base), Collation: by}
	if near := p.GeoNear(); near != nil {
		x.near = true
		return x, x.planNear(coll, base, near, p, q, opt, stages)
	}
	// Documents behind a limit of the sort aren't needed: the plan keeps no more.
	q.Filter, q.Sort, q.Limit, x.rest = p.Leading()
	x.tail = stages[len(stages)-x.rest.Len():]
	if q.Matcher, err = query.Parse(q.Filter, opt); err != nil {
		return nil, err
	}
	x.rest = x.rest.ScoreBy(q.Matcher)
	x.plan, err = plan.Choose(coll, q)
	return x, err
}

// checkSource refuses a pipeline without documents: it must be on a collection, or begin with a stage that has
// documents itself, such as $documents. none means that the command names no collection.
func checkSource(stages bson.A, none bool) error {
	own := pipeline.IsCollectionless(stages)
	switch {
	case own && !none:
		return pipeline.NewCollectionlessError(stages[0].(bson.D)[0].Key)
	case none && len(stages) == 0:
		return mongoerr.New(mongoerr.InvalidNamespace, "{aggregate: 1} is not valid for an empty pipeline.")
	case none && !own:
		return mongoerr.New(mongoerr.InvalidNamespace,
			"{aggregate: 1} is not valid for '%s'; a collection is required.",
			stages[0].(bson.D)[0].Key)
	}
	return nil
}

// planNear plans a pipeline that begins with $geoNear. The stage becomes a filter with $near, which needs an index of
// geometries, and a stage that adds the distance to each document.
func (x *aggregation) planNear(
	coll *store.Collection, ns store.Namespace, near *pipeline.NearQuery, p *pipeline.Pipeline, q plan.Query,
	opt query.Options, stages bson.A,
) error {
	path, err := findNearKey(coll, ns, near.Key())
	if err != nil {
		return err
	}
	if q.Filter, err = near.Filter(path, expr.NewContext(nil, opt.Now, opt.Watch, opt.Vars)); err != nil {
		return err
	}
	if q.Matcher, err = query.Parse(q.Filter, opt); err != nil {
		return err
	}
	x.tail = stages[1:]
	x.rest = near.MeasureBy(p, q.Matcher.FindNear())
	x.plan, err = plan.Choose(coll, q)
	return err
}
