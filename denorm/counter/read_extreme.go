package counter

import (
	"math"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// queryNextExtreme finds the smallest or greatest value of a parent's children other than
// the given child. The bound keeps other types out: the index also contains children
// without the value, or with a string.
func (c *untypedCounter) queryNextExtreme(parent, child bson.RawValue, x slot) model.Query {
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
		Collection: c.docs.Name(), Filter: bsondoc.JoinFilters(of, values, c.filter, others), Limit: 1,
		Sort: bson.D{{Key: from.path, Value: order}}, Projection: bson.D{{Key: from.path, Value: 1}},
		Index: model.NewIndex("", bson.D{{Key: c.reference, Value: 1}, {Key: from.path, Value: 1}}).Name,
	}
}

// findLeavingValue returns the value that a transition takes from a parent's extreme
// without giving it one that is as extreme. Type 0 means that the extreme can't be lost.
func (c *untypedCounter) findLeavingValue(t transition, parent bson.RawValue, x slot) bson.RawValue {
	if !x.isExtreme() || !t.was.countsFor(parent) || t.was.values[x.source].Type == 0 {
		return bson.RawValue{}
	}
	v := t.was.values[x.source]
	if t.now.countsFor(parent) && t.now.values[x.source].Type != 0 && x.isAtLeastAsExtreme(t.now.values[x.source], v) {
		return bson.RawValue{}
	}
	return v
}

// mayBeStoredExtreme reports whether the extreme that the parent had when it was read may
// be the value that goes away. It may not if the stored extreme is strictly beyond it.
func (c *untypedCounter) mayBeStoredExtreme(t transition, p *parentDoc, x slot) bool {
	v := c.findLeavingValue(t, p.ID, x)
	if v.Type == 0 {
		return false
	}
	held, _ := stored.ValueAt(c.docs, p.Doc, x.path)
	n, ok := compareScalars(held, v)
	return !ok || n == 0 || !x.isAtLeastAsExtreme(held, v)
}
