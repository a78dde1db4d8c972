package engine

// This file has the command count (https://www.mongodb.com/docs/manual/reference/command/count/). The driver's
// CountDocuments is an aggregate command instead. A command and its reply:
//
//	{count: "things", query: {n: 2}, limit: 10}
//	{n: 1, ok: 1.0}

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
)

var countCommands = []*command{
	{name: "count", txn: false, run: count, fields: []string{
		"count", "query", "limit", "skip", "hint", "collation", "fields",
	}},
}

// count counts the documents that a query finds. On a view, the aggregation has no document if there is nothing to
// count.
func count(r *request) (reply, error) {
	if r.isView() {
		for doc, err := range runAggregate(makeCountAggregate(r)) {
			if err != nil {
				return nil, err
			}
			return reply{{Key: "n", Value: doc[0].Value}}, nil
		}
		return reply{{Key: "n", Value: int32(0)}}, nil
	}
	p, err := readCount(r)
	if err != nil {
		return nil, err
	}
	n := int64(0)
	for e := p.Open(); ; n++ {
		x, err := e.Next()
		if err != nil {
			return nil, err
		}
		if x == nil {
			break
		}
	}
	return reply{{Key: "n", Value: bsonval.Integer(n)}}, nil
}

// readCount reads a count command and plans it. A negative limit counts as a positive one.
func readCount(r *request) (*plan.Plan, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	coll := r.state().Collection(ns)
	a := r.args()
	q := plan.Query{
		Watch: r.watch, Filter: a.Document("query"), Hint: a.Hint(), Skip: a.Natural("skip", 0),
		Limit: a.Integer("limit", 0),
	}
	if q.Limit < 0 && q.Limit > math.MinInt64 {
		q.Limit = -q.Limit
	}
	a.Refuse("fields", bson.D{})
	a.Special = r.findSpecial(ns)
	q.Matcher = a.Matcher(q.Filter, r.engine.now(), "", a.Collation(coll))
	if a.Err != nil {
		return nil, a.Err
	}
	return plan.Choose(coll, q)
}
