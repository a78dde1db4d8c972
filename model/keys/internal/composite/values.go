package composite

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// This file encodes and checks the values that callers pass for the parts of a key: for a whole key, for its first
// parts, and for the bounds of a range. A bson.RawValue of a part is encoded as the collection stores it.

// encodeValue encodes a caller's value as the collection stores it. field names the value for an error.
func (c *Key) encodeValue(field string, v any) (bson.RawValue, error) {
	raw, err := c.Raw(v)
	if err != nil {
		return raw, c.Refuse(field, nil, err.Error())
	}
	return raw, nil
}

// encodeFirst encodes and checks the values of the first parts. There may be fewer values than parts.
func (c *Key) encodeFirst(values []any) ([]bson.RawValue, error) {
	if len(values) > len(c.parts) {
		return nil, c.Refuse("values", len(values), fmt.Sprintf("are more values than the key has parts (%s)",
			c.listNames()))
	}
	out := make([]bson.RawValue, len(values))
	for i, v := range values {
		var err error
		if out[i], err = c.encodeValue(c.parts[i].Path, v); err != nil {
			return nil, err
		}
		if err := c.checkPart(i, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// encodeAll is encodeFirst for a whole key.
func (c *Key) encodeAll(values []any) ([]bson.RawValue, error) {
	if len(values) < len(c.parts) {
		return nil, c.Refuse("values", len(values), fmt.Sprintf("must be one value for each part of the key (%s)",
			c.listNames()))
	}
	return c.encodeFirst(values)
}

// encodeBounds encodes the values of the first parts, and the bounds of the part after them. A bound that is nil has
// type 0 in the result.
func (c *Key) encodeBounds(prefix []any, from, to any) (vs []bson.RawValue, bounds [2]bson.RawValue, err error) {
	if vs, err = c.encodeFirst(prefix); err != nil {
		return nil, bounds, err
	}
	if len(vs) == len(c.parts) {
		return nil, bounds, c.Refuse("prefix", len(vs), "gives all parts: leave a part out for the range")
	}
	next := c.parts[len(vs)].Path
	for i, v := range []any{from, to} {
		if v == nil {
			continue
		}
		if bounds[i], err = c.encodeValue(next, v); err != nil {
			return nil, bounds, err
		}
		if err = c.checkPart(len(vs), bounds[i]); err != nil {
			return nil, bounds, err
		}
	}
	return vs, bounds, nil
}

// listNames names all parts for an error.
func (c *Key) listNames() string {
	names := make([]string, len(c.parts))
	for i, p := range c.parts {
		names[i] = p.Path
	}
	return strings.Join(names, ", ")
}

// checkPart refuses a value that can't be the i-th part. A DocumentKey has the same rules, so that both keys can be
// declared for the same values.
func (c *Key) checkPart(i int, v bson.RawValue) error {
	_, err := c.appendPart(nil, i, v)
	return err
}

// showValue returns a value for an error. It is a copy, because an error outlives the bytes of the document.
func showValue(v bson.RawValue) any {
	if v.Type == 0 {
		return nil
	}
	return bsonval.Clone(v)
}

// marshalValue encodes a string, an int64, a time or an ObjectID, which can't fail.
func marshalValue(v any) bson.RawValue {
	t, data, _ := bson.MarshalValue(v) // of a type that can be
	return bson.RawValue{Type: t, Value: data}
}
