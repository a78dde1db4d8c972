package engine

// This file has the command distinct (https://www.mongodb.com/docs/manual/reference/command/distinct/). A command and
// its reply:
//
//	{distinct: "things", key: "tags", query: {n: 1}}
//	{values: ["a", "b"], ok: 1.0}

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
)

var distinctCommands = []*command{
	{name: "distinct", txn: true, run: distinct, fields: []string{
		"distinct", "key", "query", "hint", "collation",
	}},
}

// distinct returns the different values at a path of the documents that a query finds, sorted. Values that are equal
// under the collation are one, the first of them. The reply is one document of at most 16 MB.
func distinct(r *request) (reply, error) {
	p, err := readDistinct(r)
	if err != nil {
		return nil, err
	}
	docs := runPlan(p)
	if r.isView() {
		docs = runAggregate(makeDistinctAggregate(r))
	}
	// An index isn't used for the values themselves, only for the query.
	by := p.Query().Matcher.Collation()
	path := bsonval.ParsePath(r.args().Text("key"))
	var found []any
	for doc, err := range docs {
		if err != nil {
			return nil, err
		}
		found = collectValues(found, doc, path)
	}
	if err := interrupt.SortStable(r.watch, found, by.Compare); err != nil {
		return nil, err
	}
	found = slices.CompactFunc(found, func(a, b any) bool { return by.Compare(a, b) == 0 })
	if bsonval.SizeOf(bson.A(found), cursor.MaxBatch) > cursor.MaxBatch {
		return nil, mongoerr.New(17217, "distinct too big, 16mb cap")
	}
	rep := reply{{Key: "values", Value: bson.A(found)}}
	if at := r.snapshot.time(); at != nil {
		rep = append(rep, bson.E{Key: "atClusterTime", Value: *at})
	}
	return rep, nil
}

// readDistinct reads a distinct command and plans it.
func readDistinct(r *request) (*plan.Plan, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	coll := r.state().Collection(ns)
	a := r.args()
	a.Require("key")
	if key := a.Text("key"); a.Err == nil && key == "" {
		return nil, mongoerr.New(mongoerr.BadValue, "'key' must not be empty")
	}
	q := plan.Query{Watch: r.watch, Filter: a.Document("query"), Hint: a.Hint()}
	a.Special = r.findSpecial(ns)
	q.Matcher = a.Matcher(q.Filter, r.engine.now(), "", a.Collation(coll))
	if a.Err != nil {
		return nil, a.Err
	}
	return plan.Choose(coll, q)
}

// collectValues appends the values of v at a path to found. It goes through arrays on the way, and takes the elements
// of an array at the end, but not the elements of arrays in it. A number in the path is also a position:
//
//	{a: [{b: 1}, {b: [2, 3]}]}   a.b   →   1, 2, 3
//	{a: [{b: 1}, {b: [2, 3]}]}   a.0   →   {b: 1}
func collectValues(found []any, v any, path bsonval.Path) []any {
	if len(path) == 0 {
		if a, ok := v.(bson.A); ok {
			return append(found, a...)
		}
		return append(found, v)
	}
	switch v := v.(type) {
	case bson.D:
		if x, ok := bsonval.Get(v, path[0].Name); ok {
			return collectValues(found, x, path[1:])
		}
	case bson.A:
		for _, x := range v {
			if d, ok := x.(bson.D); ok {
				found = collectValues(found, d, path)
			}
		}
		if i := path[0].Index; i >= 0 && i < len(v) {
			found = collectValues(found, v[i], path[1:])
		}
	}
	return found
}
