package pipeline

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// parse makes a stage of its argument.
type parse func(p *parser, name string, arg any) (stage, error)

// table holds the stages; init fills it in since some parse pipelines themselves.
var table map[string]parse

func init() {
	table = map[string]parse{
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
}

// CheckUpdate refuses a pipeline of an update that has a stage of a name that MongoDB doesn't know.
func CheckUpdate(stages bson.A) error {
	for _, v := range stages {
		d, _ := v.(bson.D)
		if len(d) != 1 || table[d[0].Key] != nil || d[0].Key == "$changeStream" || slices.Contains(absent, d[0].Key) {
			continue
		}
		return unknownStage(d[0].Key)
	}
	return nil
}

func unknownStage(name string) error {
	return mongoerr.New(UnknownStage, "Unrecognized pipeline stage name: '%s'", name)
}

// UnknownStage is the code of the error for a stage that MongoDB doesn't know.
const UnknownStage = 40324

// Stages returns the names of the stages, sorted.
func Stages() []string { return slices.Sorted(maps.Keys(table)) }

// absent names what MongoDB has and this engine hasn't.
var absent = []string{
	"$backupCursor", "$backupCursorExtend", "$changeStreamSplitLargeEvent", "$currentOp",
	"$listCatalog", "$listClusterCatalog",
	"$listMqlEntities", "$listSampledQueries", "$listSearchIndexes", "$listSessions", "$mergeCursors", "$operationMetrics",
	"$planCacheStats", "$querySettings", "$queryStats", "$queue", "$rankFusion", "$rerank", "$score",
	"$scoreFusion", "$search", "$searchMeta", "$shardedDataDistribution", "$vectorSearch",
}

// ofAtlas are the stages that only Atlas has. A MongoDB elsewhere refuses them, too.
var ofAtlas = []string{"$listSearchIndexes", "$search", "$searchMeta", "$vectorSearch"}

// notThere is the error of a stage that MongoDB has.
func notThere(name string) error {
	if slices.Contains(ofAtlas, name) {
		return mongoerr.New(mongoerr.NotImplemented, "%s needs the search of MongoDB Atlas, which isn't here", name)
	}
	return mongoerr.New(mongoerr.NotImplemented, "%s isn't implemented by the embedded engine", name)
}
