package pipeline

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// table has all stages by name. A parser of a stage finds other stages by parser.table: Go refuses a variable and a
// function that refer to each other. A new stage is a line here and a file.
var table = map[string]stageParser{
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

// CheckUpdate refuses a pipeline of an update if it has a stage of a name that MongoDB doesn't know. Package update
// refuses stages that MongoDB knows, and that an update can't have.
func CheckUpdate(stages bson.A) error { return (&parser{table: table}).checkNames(stages) }

// Stages returns the names of the stages, sorted. Package operators tests each, and package differ generates pipelines
// of them.
func Stages() []string { return slices.Sorted(maps.Keys(table)) }
