package composite

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// MakeKey returns the text for one value of each part: keys.Composite.KeyOf.
func (c *Key) MakeKey(values []any) (string, error) {
	vs, err := c.encodeAll(values)
	if err != nil {
		return "", err
	}
	return c.joinParts(vs)
}

// boundAbove returns the lowest text above all keys that begin with the given parts. Every part ends with ":", or with
// " :" after a text. ";" is the byte after ":". So for "CA :" the bound is "CA ;". It returns "" for no parts, which is
// no bound.
func boundAbove(parts string) string {
	if parts == "" {
		return ""
	}
	return strings.TrimSuffix(parts, otherEnd) + ";"
}

// matchBetween matches keys from ≤ key < to. "" is no bound. Without bounds the filter is empty.
func matchBetween(from, to string) bson.D {
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

// MatchPrefix matches the keys that begin with the values:
//
//	("CA")           {_id: {$gte: "CA :", $lt: "CA ;"}}
//	("CA", "LA", 7)  {_id: "CA :LA :a7"}
func (c *Key) MatchPrefix(values []any) (bson.D, error) {
	vs, err := c.encodeFirst(values)
	if err != nil {
		return nil, err
	}
	prefix, err := c.joinParts(vs)
	if len(vs) == len(c.parts) {
		return bson.D{{Key: "_id", Value: prefix}}, err
	}
	return matchBetween(prefix, boundAbove(prefix)), err
}

// MatchRange matches the keys that begin with prefix, and whose next part is from ≤ part < to. A nil bound is no bound.
// Bounds are written as parts of a key, with their ends. So the keys with an equal part are from the bound on:
//
//	("CA", "LA"), 7, nil  {_id: {$gte: "CA :LA :a7", $lt: "CA :LA ;"}}
func (c *Key) MatchRange(prefix []any, from, to any) (bson.D, error) {
	vs, bounds, err := c.encodeBounds(prefix, from, to)
	if err != nil {
		return nil, err
	}
	low, err := c.joinParts(vs)
	if err != nil {
		return nil, err
	}
	high := boundAbove(low)
	// A bound replaces the end of the prefix: low is the prefix with the lower bound, high with the upper bound.
	for i, at := range []*string{&low, &high} {
		if bounds[i].Type == 0 {
			continue
		}
		if *at, err = c.joinParts(append(vs[:len(vs):len(vs)], bounds[i])); err != nil {
			return nil, err
		}
	}
	if bounds[0].Type != 0 && bounds[1].Type != 0 && high < low {
		return nil, c.Refuse("end", showValue(bounds[1]), "is before start")
	}
	return matchBetween(low, high), nil
}

// MatchStarting matches the keys that begin with prefix, and whose next part is a text that begins with another text.
func (c *Key) MatchStarting(prefix []any, text string) (bson.D, error) {
	vs, err := c.encodeFirst(prefix)
	if err != nil {
		return nil, err
	}
	if len(vs) == len(c.parts) || c.parts[len(vs)].Kind != Text {
		return nil, c.Refuse("prefix", len(vs), "must leave a text as the next part of the key")
	}
	if err := c.checkPart(len(vs), marshalValue(text)); err != nil {
		return nil, err
	}
	before, err := c.joinParts(vs)
	if err != nil {
		return nil, err
	}
	low := before + string(appendText(nil, text))
	if open := strings.TrimSuffix(low, string([]byte{' ', space})); open != low {
		// The text ends with a space. In longer texts this space is written as " <", or as " " before a byte above "<".
		// All of them are from " <" on, and below "!", the byte after the space.
		return matchBetween(low, open+"!"), nil
	}
	high := lowestAbove(low[len(before):])
	if high == "" {
		return matchBetween(low, boundAbove(before)), nil
	}
	return matchBetween(low, before+high), nil
}

// lowestAbove returns the lowest text above all texts that begin with s: its last character is replaced by the next
// one. It returns "" if s consists of the last character of Unicode alone.
func lowestAbove(s string) string {
	for s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
		switch {
		case r == 0xD7FF:
			return s + "\uE000" // the surrogates between them aren't valid in UTF-8
		case r < utf8.MaxRune:
			return s + string(r+1)
		}
	}
	return ""
}

// CountByPart counts the keys under a prefix by their next part. It cuts each _id at the end of this part:
//
//	("CA")  {_id: "CA :LA", n: 2}, {_id: "CA :San Francisco", n: 5}
//
// Scan decodes such an _id, which has no end after its last part. The pipeline uses only _id, so that the server reads
// only the index.
func (c *Key) CountByPart(prefix []any) (mongo.Pipeline, error) {
	vs, err := c.encodeFirst(prefix)
	if err != nil {
		return nil, err
	}
	next := len(vs)
	if next >= len(c.parts)-1 {
		return nil, c.Refuse("prefix", len(vs),
			"leaves only the last part, which differs for each key: give fewer parts")
	}
	start, err := c.joinParts(vs)
	if err != nil {
		return nil, err
	}
	match := matchBetween(start, boundAbove(start))
	if start == "" {
		// No prefix: all strings, and no _id of another type, which isn't a key.
		match = bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: ""}}}}
	}
	// The end of the part is searched from here on. A time contains ":" itself, so the search begins behind it.
	from := len(start)
	if k := c.parts[next].Kind; k == Time || k == ID {
		from += fixedLength
	}
	group := bson.D{{
		Key:   "$substrBytes",
		Value: bson.A{"$_id", 0, bson.D{{Key: "$indexOfBytes", Value: bson.A{"$_id", c.partEnd(next), from}}}},
	}}
	return mongo.Pipeline{
		{{Key: "$match", Value: match}},
		{{Key: "$group", Value: bson.D{{Key: "_id", Value: group},
			{Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	}, nil
}

// Scan decodes the first parts of a key, or of an _id of CountByPart, into the pointers: keys.Composite.Scan.
func (c *Key) Scan(key string, into []any) error {
	if len(into) > len(c.parts) {
		return c.Refuse("into", len(into), fmt.Sprintf("are more values than the key has parts (%s)", c.listNames()))
	}
	vs, err := c.splitKey(key, len(into))
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
