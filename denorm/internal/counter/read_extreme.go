package counter

import (
	"math"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// nextQuery finds the smallest or greatest value of a parent's children other than one.
func (c *Counter) nextQuery(parent, child bson.RawValue, x slot) model.Query {
	from, order, bound := c.sources[x.source], 1, any(math.Inf(-1))
	if x.kind == greatest {
		order = -1
	}
	if from.date {
		bound = bson.DateTime(math.MinInt64)
	}
	of := bson.D{{Key: c.reference, Value: mql.Eq(parent)}}
	values := bson.D{{Key: from.path, Value: bson.D{{Key: "$gte", Value: bound}}}}
	others := bson.D{{Key: "_id", Value: bson.D{{Key: "$ne", Value: child}}}}
	return model.Query{
		Collection: c.docs.Name(), Filter: model.And(of, values, c.filter, others), Limit: 1,
		Sort: bson.D{{Key: from.path, Value: order}}, Projection: bson.D{{Key: from.path, Value: 1}},
		Index: model.NewIndex("", bson.D{{Key: c.reference, Value: 1}, {Key: from.path, Value: 1}}).Name,
	}
}

// leaves is the value of an extreme's source that a transition takes from a parent without giving it one that is as
// extreme, or type 0.
func (c *Counter) leaves(t transition, parent bson.RawValue, x slot) bson.RawValue {
	if !x.extreme() || !t.was.of(parent) || t.was.values[x.source].Type == 0 {
		return bson.RawValue{}
	}
	v := t.was.values[x.source]
	if t.now.of(parent) && t.now.values[x.source].Type != 0 && x.beyond(t.now.values[x.source], v) {
		return bson.RawValue{}
	}
	return v
}

// mayLeave reports whether the extreme that a parent held when it was read may be the value that a transition takes.
func (c *Counter) mayLeave(t transition, p *parentDoc, x slot) bool {
	v := c.leaves(t, p.ID, x)
	if v.Type == 0 {
		return false
	}
	held, _ := stored.At(c.docs, p.Doc, x.path)
	n, ok := compareScalars(held, v)
	return !ok || n == 0 || !x.beyond(held, v)
}
