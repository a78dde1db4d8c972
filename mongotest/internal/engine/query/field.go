package query

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// onField is the table of operators on a field's value, filled in by init
// since some parse conditions themselves. $regex and $options, which belong
// together, get the document that holds both.
var onField map[string]func(p *parser, arg any, all bson.D) (cond, error)

func init() {
	onField = map[string]func(p *parser, arg any, all bson.D) (cond, error){
		"$eq":        parseEq,
		"$ne":        parseNe,
		"$gt":        parseOrder("$gt"),
		"$gte":       parseOrder("$gte"),
		"$lt":        parseOrder("$lt"),
		"$lte":       parseOrder("$lte"),
		"$in":        parseIn,
		"$nin":       parseNin,
		"$not":       parseNot,
		"$exists":    parseExists,
		"$type":      parseType,
		"$size":      parseSize,
		"$all":       parseAll,
		"$elemMatch": parseElemMatch,
		"$mod":       parseMod,
		"$regex":     parseRegexOperator,
		"$options":   parseOptions,
		"$geoWithin": parseGeoWithin,
		"$within":    parseGeoWithin,

		"$geoIntersects": parseGeoIntersects,
		"$near":          parseBesideNear("$near"),
		"$nearSphere":    parseBesideNear("$nearSphere"),
		"$geoNear":       parseBesideNear("$geoNear"),
		"$minDistance":   parseBesideNear("$minDistance"),
		"$maxDistance":   parseBesideNear("$maxDistance"),

		"$bitsAllSet":   parseBits("$bitsAllSet", true, true),
		"$bitsAllClear": parseBits("$bitsAllClear", false, true),
		"$bitsAnySet":   parseBits("$bitsAnySet", true, false),
		"$bitsAnyClear": parseBits("$bitsAnyClear", false, false),
	}
}

// field parses what stands beside a field name: operators, a regular
// expression, or the value to be equal to.
func (p *parser) field(name string, v any) (cond, error) {
	p.path = name
	switch x := v.(type) {
	case bson.D:
		if isOperators(x) && isNear(x[0].Key) {
			return p.parseNear(name, x)
		}
		if isOperators(x) {
			return p.operators(x)
		}
	case bson.Regex:
		return p.regex(x.Pattern, x.Options)
	}
	return parseEq(p, v, nil)
}

// isOperators reports whether a document holds operators rather than being a
// value: its first name begins with $ and isn't part of a DBRef.
func isOperators(d bson.D) bool {
	if len(d) == 0 || !strings.HasPrefix(d[0].Key, "$") {
		return false
	}
	switch d[0].Key {
	case "$ref", "$id", "$db":
		return false
	}
	return true
}

func (p *parser) operators(d bson.D) (cond, error) {
	all := make(every, 0, len(d))
	for _, f := range d {
		parse, ok := onField[f.Key]
		switch {
		case ok:
		case slices.Contains(absent, f.Key):
			return nil, mongoerr.New(mongoerr.NotImplemented, "%s isn't implemented by the embedded engine", f.Key)
		default:
			return nil, mongoerr.New(mongoerr.BadValue, "unknown operator: %s", f.Key)
		}
		c, err := parse(p, f.Value, d)
		if err != nil {
			return nil, err
		}
		if c != nil {
			all = append(all, c)
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

func parseNot(p *parser, arg any, _ bson.D) (cond, error) {
	switch x := arg.(type) {
	case bson.Regex:
		c, err := p.regex(x.Pattern, x.Options)
		return not{c}, err
	case bson.D:
		if len(x) == 0 {
			return nil, mongoerr.New(mongoerr.BadValue, "$not cannot be empty")
		}
		c, err := p.operators(x)
		return not{c}, err
	}
	return nil, mongoerr.New(mongoerr.BadValue, "$not needs a regex or a document")
}

func parseExists(_ *parser, arg any, _ bson.D) (cond, error) {
	c := leaf{exists{}}
	if bsonval.Truthy(arg) {
		return c, nil
	}
	return not{c}, nil
}

type exists struct{}

func (exists) test(v any, _ *int) bool { return !bsonval.IsMissing(v) }
func (exists) whole() bool             { return false }
