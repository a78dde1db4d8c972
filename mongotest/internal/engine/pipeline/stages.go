package pipeline

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// table has all stages by name. Parsers of stages can't refer to it, because it refers to them.
var table = map[string]parse{
	"$match":             parseMatch,
	"$project":           parseFields,
	"$set":               parseFields,
	"$addFields":         parseFields,
	"$unset":             parseFields,
	"$replaceRoot":       parseFields,
	"$replaceWith":       parseFields,
	"$unwind":            parseUnwind,
	"$group":             parseGroup,
	"$bucket":            parseBucket,
	"$bucketAuto":        parseBucketAuto,
	"$collStats":         parseCollStats,
	"$documents":         parseDocuments,
	"$indexStats":        parseIndexStats,
	"$listLocalSessions": parseLocalSessions,
	"$densify":           parseDensify,
	"$fill":              parseFill,
	"$redact":            parseRedact,
	"$sortByCount":       parseSortByCount,
	"$sort":              parseSort,
	"$limit":             parseLimit,
	"$skip":              parseSkip,
	"$count":             parseCount,
	"$sample":            parseSample,
	"$geoNear":           parseGeoNear,
	"$graphLookup":       parseGraphLookup,
	"$setWindowFields":   parseWindowFields,
	"$lookup":            parseLookup,
	"$unionWith":         parseUnionWith,
	"$facet":             parseFacet,
	"$merge":             parseMerge,
	"$out":               parseOut,
}

// CheckUpdate refuses a pipeline of an update that has a stage of a name that MongoDB doesn't know.
func CheckUpdate(stages bson.A) error { return (&parser{table: table}).checkNames(stages) }

// Stages returns the names of the stages, sorted.
func Stages() []string { return slices.Sorted(maps.Keys(table)) }
