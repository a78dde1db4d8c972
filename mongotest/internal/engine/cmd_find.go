package engine

// This file has the command find (https://www.mongodb.com/docs/manual/reference/command/find/). A command and its
// reply, after which a getMore reads more documents:
//
//	{find: "things", filter: {n: {$gt: 1}}, sort: {n: 1}, batchSize: 1}
//	{cursor: {firstBatch: [{_id: 1, n: 2}], id: 1426325200878998542, ns: "test.things"}, ok: 1.0}
//
// On a view it becomes an aggregate command (views.go). cmd_find_tail.go has tailable cursors.

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/projection"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var findCommands = []*command{
	{name: "find", txn: true, run: find, fields: []string{
		"find", "filter", "sort", "projection", "hint", "skip", "limit", "batchSize", "singleBatch", "let",
		"allowDiskUse", "noCursorTimeout", "allowPartialResults", "collation", "min", "max", "returnKey",
		"showRecordId", "tailable", "awaitData", "oplogReplay",
	}},
}

// finder is a find command that has been read.
type finder struct {
	ns           store.Namespace
	plan         *plan.Plan
	cursor.Shape       // how the documents are shown
	batch        int64 // how many documents the first batch has
	single       bool  // there is no other batch
	tailable     bool
	await        bool // awaitData
}

// find returns the documents that a query finds, by a cursor.
func find(r *request) (reply, error) {
	if r.isView() {
		over, err := makeFindAggregate(r)
		if err != nil {
			return nil, err
		}
		return aggregate(over)
	}
	f, err := readFind(r)
	if err != nil {
		return nil, err
	}
	if f.tailable {
		return findTail(r, f, f.await)
	}
	src := &cursor.Found{Exec: f.plan.Open(), Shape: f.Shape}
	return r.openSource(f.ns, src, f.batch, f.single)
}

// readFind reads a find command and plans it. explain calls it too.
func readFind(r *request) (*finder, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	coll := r.state().Collection(ns)
	a := r.args()
	f := &finder{ns: ns, batch: a.Natural("batchSize", cursor.DefaultBatch), single: a.Boolean("singleBatch", false)}
	q := plan.Query{
		Watch: r.watch, Filter: a.Document("filter"), Sort: a.Document("sort"), Hint: a.Hint(),
		Skip: a.Natural("skip", 0), Limit: a.Integer("limit", 0),
	}
	// A negative limit is a limit and singleBatch, as in old drivers.
	if q.Limit < 0 && q.Limit > math.MinInt64 {
		q.Limit, f.single = -q.Limit, true
	}
	f.tailable, f.await = a.Boolean("tailable", false), a.Boolean("awaitData", false)
	a.Fail(checkTail(a, f.tailable, f.await, f.single, q))
	// A result that the limit ends early has no need for a cursor.
	if q.Limit > 0 && q.Limit <= f.batch && !f.tailable {
		f.single, f.batch = true, max(f.batch, q.Limit)
	}
	spec := a.Document("projection")
	q.NoDisk = !a.Boolean("allowDiskUse", true)
	// These change nothing here, but their types are checked.
	a.Boolean("noCursorTimeout", false)
	a.Boolean("allowPartialResults", false)
	a.Boolean("oplogReplay", false)
	for _, name := range []string{"min", "max"} {
		a.Refuse(name, bson.D{})
	}
	f.ReturnKey, f.RecordID = a.Boolean("returnKey", false), a.Boolean("showRecordId", false)
	q.Keyed = f.ReturnKey
	// The filter is parsed before the projection, whose positional operator needs it.
	now := r.engine.now()
	a.Special = r.findSpecial(ns)
	q.Matcher = a.Matcher(q.Filter, now, "let", a.Collation(coll))
	if a.Err != nil {
		return nil, a.Err
	}
	if len(spec) > 0 {
		if f.Projection, err = projection.ParseAt(spec, q.Matcher, now); err != nil {
			return nil, err
		}
	}
	f.plan, err = plan.Choose(coll, q)
	return f, err
}
