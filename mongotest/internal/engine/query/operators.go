package query

import (
	"maps"
	"slices"
)

// table has the operators of filters. An operator's parser that parses a filter itself, such as $elemMatch, finds other
// operators by parser.table: Go refuses a variable and a function that refer to each other.
var table = operators{
	top: map[string]parseTop{
		"$and":        (*parser).parseList,
		"$or":         (*parser).parseList,
		"$nor":        (*parser).parseList,
		"$expr":       (*parser).parseExpr,
		"$jsonSchema": (*parser).parseSchema,
		"$text":       (*parser).parseText,
		// A comment is a condition that is always true. parseFilter leaves it out.
		"$comment":    func(*parser, string, any) (node, error) { return and{}, nil },
		"$sampleRate": (*parser).parseSampleRate,
		"$alwaysTrue": (*parser).parseAlways, "$alwaysFalse": (*parser).parseAlways,
	},
	field: map[string]parseField{
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
		// parseValue has taken a $near that stands first. Anywhere else these operators are refused.
		"$near":        parseBesideNear("$near"),
		"$nearSphere":  parseBesideNear("$nearSphere"),
		"$geoNear":     parseBesideNear("$geoNear"),
		"$minDistance": parseBesideNear("$minDistance"),
		"$maxDistance": parseBesideNear("$maxDistance"),

		"$bitsAllSet":   parseBits("$bitsAllSet", true, true),
		"$bitsAllClear": parseBits("$bitsAllClear", false, true),
		"$bitsAnySet":   parseBits("$bitsAnySet", true, false),
		"$bitsAnyClear": parseBits("$bitsAnyClear", false, false),
	},
}

// Operators returns the names of all operators, sorted. Package operators tests each, and package differ generates
// filters of them.
func Operators() []string {
	names := slices.Collect(maps.Keys(table.top))
	names = slices.AppendSeq(names, maps.Keys(table.field))
	slices.Sort(names)
	return names
}
