package composite

import (
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Document is the _id of values, one for each part.
func (c *Key) Document(values []any) (bson.D, error) {
	vs, err := c.all(values)
	return c.named(vs), err
}

// named are the first parts with their names.
func (c *Key) named(vs []bson.RawValue) bson.D {
	d := make(bson.D, 0, len(vs)+1)
	for i, v := range vs {
		d = append(d, bson.E{Key: c.parts[i].Path, Value: v})
	}
	return d
}

// DocumentsUnder matches the documents whose first parts are the values.
func (c *Key) DocumentsUnder(values []any) (bson.D, error) {
	vs, err := c.read(values)
	switch {
	case err != nil:
		return nil, err
	case len(vs) == 0:
		return bson.D{}, nil
	case len(vs) == len(c.parts):
		return bson.D{{Key: "_id", Value: mql.Eq(c.named(vs))}}, nil
	}
	return c.documentRange(vs, [2]bson.RawValue{}), nil
}

// DocumentsWithin is Within for documents.
func (c *Key) DocumentsWithin(prefix []any, from, to any) (bson.D, error) {
	vs, bounds, err := c.bounds(prefix, from, to)
	if err != nil {
		return nil, err
	}
	if bounds[0].Type != 0 && bounds[1].Type != 0 {
		low, err := c.appendPart(nil, len(vs), bounds[0])
		high, err2 := c.appendPart(nil, len(vs), bounds[1])
		if err != nil || err2 != nil || string(high) < string(low) {
			return nil, c.Refuse("end", held(bounds[1]), "is before start")
		}
	}
	return c.documentRange(vs, bounds), nil
}

// documentRange matches documents that begin with parts, and whose next part is from ≤ part < to.
func (c *Key) documentRange(vs []bson.RawValue, bounds [2]bson.RawValue) bson.D {
	next := c.parts[len(vs)].Path
	low, high := c.named(vs), c.named(vs)
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
