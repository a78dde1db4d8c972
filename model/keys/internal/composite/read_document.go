package composite

import (
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// MakeDocumentID returns the _id of a DocumentKey for one value of each part.
func (c *Key) MakeDocumentID(values []any) (bson.D, error) {
	vs, err := c.encodeAll(values)
	return c.nameParts(vs), err
}

// nameParts returns the values of the first parts as a document, in the order of the parts. The slice has room for one
// more part, which matchDocuments appends.
func (c *Key) nameParts(vs []bson.RawValue) bson.D {
	d := make(bson.D, 0, len(vs)+1)
	for i, v := range vs {
		d = append(d, bson.E{Key: c.parts[i].Path, Value: v})
	}
	return d
}

// MatchDocumentPrefix is MatchPrefix for a DocumentKey:
//
//	("CA")           {_id: {$gte: {state: "CA", city: MinKey}, $lt: {state: "CA", city: MaxKey}}}
//	("CA", "LA", 7)  {_id: {$eq: {state: "CA", city: "LA", user: 7}}}
func (c *Key) MatchDocumentPrefix(values []any) (bson.D, error) {
	vs, err := c.encodeFirst(values)
	switch {
	case err != nil:
		return nil, err
	case len(vs) == 0:
		return bson.D{}, nil
	case len(vs) == len(c.parts):
		return bson.D{{Key: "_id", Value: mql.Eq(c.nameParts(vs))}}, nil
	}
	return c.matchDocuments(vs, [2]bson.RawValue{}), nil
}

// MatchDocumentRange is MatchRange for a DocumentKey. It compares the bounds by their texts, because texts have the
// order of the parts.
func (c *Key) MatchDocumentRange(prefix []any, from, to any) (bson.D, error) {
	vs, bounds, err := c.encodeBounds(prefix, from, to)
	if err != nil {
		return nil, err
	}
	if bounds[0].Type != 0 && bounds[1].Type != 0 {
		low, err := c.appendPart(nil, len(vs), bounds[0])
		high, err2 := c.appendPart(nil, len(vs), bounds[1])
		if err != nil || err2 != nil || string(high) < string(low) {
			return nil, c.Refuse("end", showValue(bounds[1]), "is before start")
		}
	}
	return c.matchDocuments(vs, bounds), nil
}

// matchDocuments matches the _ids that begin with the parts vs, and whose next part is from ≤ part < to. A bound of
// type 0 is no bound. Documents are compared field by field, in order: first the type of the value, then the name, then
// the value (https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/#objects). So MinKey and MaxKey,
// which are below and above all other types, bound the part.
func (c *Key) matchDocuments(vs []bson.RawValue, bounds [2]bson.RawValue) bson.D {
	next := c.parts[len(vs)].Path
	low, high := c.nameParts(vs), c.nameParts(vs)
	if bounds[0].Type != 0 {
		low = append(low, bson.E{Key: next, Value: bounds[0]})
	} else {
		low = append(low, bson.E{Key: next, Value: bson.MinKey{}})
	}
	if bounds[1].Type != 0 {
		high = append(high, bson.E{Key: next, Value: bounds[1]})
	} else {
		high = append(high, bson.E{Key: next, Value: bson.MaxKey{}})
	}
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: low}, {Key: "$lt", Value: high}}}}
}
