package engine

// This file holds clients to the Stable API: apiVersion says that a client uses it, and with apiStrict: true commands,
// stages and fields outside of it are errors.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
)

// stableCommands are the commands of the Stable API, version 1
// (https://www.mongodb.com/docs/manual/reference/stable-api/).
var stableCommands = []string{
	"abortTransaction", "aggregate", "bulkWrite", "collMod", "commitTransaction", "count", "create",
	"createIndexes", "delete", "drop", "dropDatabase", "dropIndexes", "endSessions", "explain", "find", "findAndModify",
	"getMore", "hello", "insert", "killCursors", "listCollections", "listDatabases", "listIndexes", "ping",
	"refreshSessions", "update",
}

// unstableFields are fields of the stable commands that aren't part of the Stable API.
var unstableFields = map[string][]string{
	"aggregate": {"explain"},
	"create":    {"autoIndexId", "capped", "indexOptionDefaults", "max", "size", "storageEngine"},
	"find":      {"awaitData", "max", "min", "noCursorTimeout", "oplogReplay", "returnKey", "showRecordId", "tailable"},
}

// unstableIndexFields are the options of an index, in createIndexes, that aren't part of the Stable API.
var unstableIndexFields = []string{"background", "bucketSize", "sparse", "storageEngine"}

// readAPI reads the fields apiVersion, apiStrict and apiDeprecationErrors. The engine has no deprecated commands, so
// the last one changes nothing.
func (r *request) readAPI(a *args.Reader) {
	version := a.Text("apiVersion")
	r.strict = a.Boolean("apiStrict", false)
	deprecations := a.Boolean("apiDeprecationErrors", false)
	switch {
	case version == "" && (r.strict || deprecations):
		a.Fail(mongoerr.New(4886600, "Provided apiStrict or apiDeprecationErrors without passing apiVersion"))
	case version != "" && version != "1":
		a.Fail(mongoerr.New(mongoerr.APIVersionError, "API version must be \"1\""))
	}
}

// checkAPI refuses a command of a client with apiStrict: true if something in the command isn't part of the Stable API.
func (r *request) checkAPI() error {
	if !r.strict {
		return nil
	}
	if !slices.Contains(stableCommands, r.command.name) {
		return mongoerr.New(mongoerr.APIStrictError,
			"Provided apiStrict:true, but the command %s is not in API Version 1. Information on supported "+
				"commands and migrations in API Version 1 can be found at "+
				"https://dochub.mongodb.org/core/manual-versioned-api.",
			r.name)
	}
	if err := checkStableFields(r.name, r.body[1:], unstableFields[r.command.name]); err != nil {
		return err
	}
	switch r.command.name {
	case "aggregate":
		return checkStableStages(r.body)
	case "createIndexes":
		// below
	default:
		return nil
	}
	list, _ := bsonval.Get(r.body, "indexes")
	indexes, _ := list.(bson.A)
	for _, v := range indexes {
		index, _ := v.(bson.D)
		if err := checkStableFields("createIndexes.indexes", index, unstableIndexFields); err != nil {
			return err
		}
	}
	return nil
}

// unstableStages are the stages that aren't part of the Stable API. $collStats is, with count alone.
var unstableStages = []string{
	"$currentOp", "$indexStats", "$listLocalSessions", "$listSessions", "$planCacheStats", "$search",
}

// checkStableStages refuses a pipeline with a stage that the Stable API doesn't have. d is the command, or a stage with
// a pipeline of its own such as $lookup. The pipelines of $facet aren't looked into.
func checkStableStages(d bson.D) error {
	list, _ := bsonval.Get(d, "pipeline")
	stages, _ := list.(bson.A)
	for _, v := range stages {
		d, _ := v.(bson.D)
		if len(d) != 1 {
			continue
		}
		arg, _ := d[0].Value.(bson.D)
		more := d[0].Key == "$collStats" && (len(arg) != 1 || arg[0].Key != "count")
		if more || slices.Contains(unstableStages, d[0].Key) {
			return mongoerr.New(mongoerr.APIStrictError,
				"stage %s is not allowed with 'apiStrict: true' in API Version 1", d[0].Key)
		}
		if err := checkStableStages(arg); err != nil {
			return err
		}
	}
	return nil
}

// checkStableFields refuses fields that the Stable API doesn't have. place is the part of the field's name before the
// point, for the error.
func checkStableFields(place string, d bson.D, unstable []string) error {
	for _, e := range d {
		if slices.Contains(unstable, e.Key) {
			return mongoerr.New(mongoerr.APIStrictError, "BSON field '%s.%s' is not allowed with apiStrict:true.",
				place, e.Key)
		}
	}
	return nil
}
