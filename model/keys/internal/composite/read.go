package composite

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Key is the key of values, one for each part.
func (c *Key) Key(values []any) (string, error) {
	vs, err := c.all(values)
	if err != nil {
		return "", err
	}
	return c.join(vs)
}

// past is what sorts directly above all that begins with the first parts of a key, each with its end; "" for no parts.
func past(parts string) string {
	if parts == "" {
		return ""
	}
	return strings.TrimSuffix(parts, otherEnd) + ";" // ends are textEnd and otherEnd, and ";" comes after ":"
}

// between matches keys from ≤ key < to; "" is no bound. Without bounds it matches every key.
func between(from, to string) bson.D {
	d := bson.D{}
	if from != "" {
		d = append(d, bson.E{Key: "$gte", Value: from})
	}
	if to != "" {
		d = append(d, bson.E{Key: "$lt", Value: to})
	}
	if len(d) == 0 {
		return bson.D{}
	}
	return bson.D{{Key: "_id", Value: d}}
}

// Under matches the keys whose first parts are the values.
func (c *Key) Under(values []any) (bson.D, error) {
	vs, err := c.read(values)
	if err != nil {
		return nil, err
	}
	prefix, err := c.join(vs)
	if len(vs) == len(c.parts) {
		return bson.D{{Key: "_id", Value: prefix}}, err
	}
	return between(prefix, past(prefix)), err
}

// Within matches the keys whose first parts are the prefix, and whose next one is from ≤ part < to; nil is no bound.
func (c *Key) Within(prefix []any, from, to any) (bson.D, error) {
	vs, bounds, err := c.bounds(prefix, from, to)
	if err != nil {
		return nil, err
	}
	low, err := c.join(vs)
	if err != nil {
		return nil, err
	}
	high := past(low)
	for i, at := range []*string{&low, &high} {
		if bounds[i].Type == 0 {
			continue
		}
		if *at, err = c.join(append(vs[:len(vs):len(vs)], bounds[i])); err != nil {
			return nil, err
		}
	}
	if bounds[0].Type != 0 && bounds[1].Type != 0 && high < low {
		return nil, c.Refuse("end", held(bounds[1]), "is before start")
	}
	return between(low, high), nil
}

// bounds are the values of the first parts and the bounds of the next; one that is not given has type 0.
func (c *Key) bounds(prefix []any, from, to any) (vs []bson.RawValue, bounds [2]bson.RawValue, err error) {
	if vs, err = c.read(prefix); err != nil {
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
		if bounds[i], err = c.encoded(next, v); err != nil {
			return nil, bounds, err
		}
		if err = c.check(len(vs), bounds[i]); err != nil {
			return nil, bounds, err
		}
	}
	return vs, bounds, nil
}

// Starting matches the keys whose first parts are the prefix, and whose next one is a text that begins with another.
func (c *Key) Starting(prefix []any, text string) (bson.D, error) {
	vs, err := c.read(prefix)
	if err != nil {
		return nil, err
	}
	if len(vs) == len(c.parts) || c.parts[len(vs)].Kind != Text {
		return nil, c.Refuse("prefix", len(vs), "must leave a text as the next part of the key")
	}
	if err := c.check(len(vs), value(text)); err != nil {
		return nil, err
	}
	before, err := c.join(vs)
	if err != nil {
		return nil, err
	}
	low := before + string(appendText(nil, text))
	if open := strings.TrimSuffix(low, string([]byte{' ', space})); open != low {
		// The text ends with a space, after which come " <", and " " before something higher.
		return between(low, open+"!"), nil
	}
	high := after(low[len(before):])
	if high == "" {
		return between(low, past(before)), nil
	}
	return between(low, before+high), nil
}

// after is the lowest string above all that begin with s; "" if there is none.
func after(s string) string {
	for s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
		switch {
		case r == 0xD7FF:
			return s + "\uE000" // what is between are no characters
		case r < utf8.MaxRune:
			return s + string(r+1)
		}
	}
	return ""
}

// Counts groups the keys under a prefix by their next part.
func (c *Key) Counts(prefix []any) (mongo.Pipeline, error) {
	vs, err := c.read(prefix)
	if err != nil {
		return nil, err
	}
	next := len(vs)
	if next >= len(c.parts)-1 {
		return nil, c.Refuse("prefix", len(vs), "leaves only the last part, which differs for each key: give fewer parts")
	}
	start, err := c.join(vs)
	if err != nil {
		return nil, err
	}
	match := between(start, past(start))
	if start == "" {
		match = bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: ""}}}} // strings alone
	}
	from := len(start)
	if k := c.parts[next].Kind; k == Time || k == ID {
		from += fixedLength
	}
	group := bson.D{{
		Key:   "$substrBytes",
		Value: bson.A{"$_id", 0, bson.D{{Key: "$indexOfBytes", Value: bson.A{"$_id", c.end(next), from}}}},
	}}
	return mongo.Pipeline{
		{{Key: "$match", Value: match}},
		{{Key: "$group", Value: bson.D{{Key: "_id", Value: group}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	}, nil
}

// Scan reads the first parts of a key into what pointers point at.
func (c *Key) Scan(key string, into []any) error {
	if len(into) > len(c.parts) {
		return c.Refuse("into", len(into), fmt.Sprintf("are more values than the key has parts (%s)", c.names()))
	}
	vs, err := c.split(key, len(into))
	if err != nil {
		return err
	}
	for i, v := range vs {
		if to := reflect.ValueOf(into[i]); to.Kind() != reflect.Pointer || to.IsNil() {
			return c.Refuse(c.parts[i].Path, v, fmt.Sprintf("can't be decoded into a %T: give a pointer", into[i]))
		}
		if err := v.Unmarshal(into[i]); err != nil {
			return c.Refuse(c.parts[i].Path, v, fmt.Sprintf("can't be decoded into a %T: %v", into[i], err))
		}
	}
	return nil
}
