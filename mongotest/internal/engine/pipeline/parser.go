package pipeline

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// parser parses the stages of a pipeline and of those within it.
type parser struct {
	table map[string]parse // the stages that there are
	env   Env
	scope expr.Scope
	db    string // the collection that it begins with; "" for those of the command
	coll  string
	depth int    // how many pipelines enclose this one
	joins int    // how many of them read another collection
	first bool   // the stage is the pipeline's first
	owner string // the stage whose pipeline it is, "" for the outermost
}

// maxStages is how many stages a pipeline may have
// (https://www.mongodb.com/docs/manual/core/aggregation-pipeline-limits/).
const maxStages = 1000

// follower is a stage that looks at the stages before it.
type follower interface{ follow(before []stage) }

// parseStages parses the stages of a pipeline.
func (p *parser) parseStages(list bson.A) ([]stage, error) {
	if len(list) > maxStages {
		return nil, mongoerr.New(7749501, "Pipeline length must be no longer than %d stages.", maxStages)
	}
	out := make([]stage, 0, len(list))
	for i, v := range list {
		d, ok := v.(bson.D)
		switch {
		case !ok:
			return nil, mongoerr.New(mongoerr.TypeMismatch, "Each element of the 'pipeline' array must be an object")
		case len(d) != 1:
			return nil, mongoerr.New(40323, "A pipeline stage specification object must contain exactly one field.")
		}
		name := d[0].Key
		parse, ok := p.table[name]
		switch {
		case ok:
		case name == "$changeStream":
			return nil, newNotFirstError(name)
		case slices.Contains(absent, name):
			return nil, newAbsentError(name)
		default:
			return nil, newUnknownError(name)
		}
		if err := p.checkPlace(name, i, i == len(list)-1); err != nil {
			return nil, err
		}
		p.first = i == 0
		s, err := parse(p, name, d[0].Value)
		if err != nil {
			return nil, err
		}
		if slices.Contains(scoreless, name) {
			p.scope = p.scope.WithoutScore()
		}
		if f, ok := s.(follower); ok {
			f.follow(out)
		}
		out = append(out, s)
	}
	return out, nil
}

func newNotFirstError(stage string) error {
	return mongoerr.New(40602, "%s is only valid as the first stage in a pipeline", stage)
}

// scoreless are the stages whose documents are new ones, which have no text score.
// $sample and $setWindowFields hold documents back without it.
var scoreless = []string{
	"$bucket", "$bucketAuto", "$count", "$facet", "$group", "$sample", "$setWindowFields", "$sortByCount", "$unionWith",
}

// maxJoins is how deep pipelines over other collections may nest.
const maxJoins = 20

// enterCollection enters a stage that reads another collection, with a pipeline or without.
func (p *parser) enterCollection(owner, db, coll string, vars ...string) (*parser, error) {
	if p.joins >= maxJoins {
		return nil, mongoerr.New(mongoerr.MaxSubPipelineDepthExceeded,
			"Maximum number of nested sub-pipelines exceeded. Limit is %d", maxJoins)
	}
	next := p.enterPipeline(owner, vars...)
	next.joins++
	next.db, next.coll = db, coll
	return next, nil
}

// checkPlace refuses a stage where it mustn't stand.
func (p *parser) checkPlace(name string, i int, last bool) error {
	writes := name == "$out" || name == "$merge"
	switch {
	case p.owner == "$facet" && (writes || isSource(name) || name == "$facet"):
		return mongoerr.New(40600, "%s is not allowed to be used within a $facet stage", name)
	case p.depth > 0 && writes:
		code := int32(51047)
		if p.owner == "$unionWith" {
			code = 31441
		}
		return mongoerr.New(code, "%s is not allowed within a %s's sub-pipeline", name, p.owner)
	case isSource(name) && i > 0:
		return newNotFirstError(name)
	case writes && !last:
		return mongoerr.New(40601, "%s can only be the final stage in the pipeline", name)
	}
	return nil
}

// enterPipeline returns the parser of a pipeline within this one, in a stage of that name, with more variables.
func (p *parser) enterPipeline(owner string, vars ...string) *parser {
	next := *p
	next.depth++
	next.owner = owner
	next.scope = p.scope.WithoutScore()
	next.scope = next.scope.WithVariables(vars...)
	return &next
}

// parse parses the argument of a stage.
type parse func(p *parser, name string, arg any) (stage, error)

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

// newAbsentError is the error of a stage that MongoDB has.
func newAbsentError(name string) error {
	if slices.Contains(ofAtlas, name) {
		return mongoerr.New(mongoerr.NotImplemented, "%s needs the search of MongoDB Atlas, which isn't here", name)
	}
	return mongoerr.New(mongoerr.NotImplemented, "%s isn't implemented by the embedded engine", name)
}

func newUnknownError(name string) error {
	return mongoerr.New(UnknownStage, "Unrecognized pipeline stage name: '%s'", name)
}

// UnknownStage is the code of the error for a stage that MongoDB doesn't know.
const UnknownStage = 40324

// isSource reports whether a stage takes no documents, so that it can only be the first.
func isSource(name string) bool {
	return hasOwnDocuments(name) || name == "$collStats" || name == "$indexStats" || name == "$geoNear"
}

// hasOwnDocuments reports whether a stage has documents of its own, and is given no collection.
func hasOwnDocuments(name string) bool { return name == "$documents" || name == "$listLocalSessions" }

// getFirstStage is the name of a pipeline's first stage, "" for none.
func getFirstStage(stages bson.A) string {
	if len(stages) == 0 {
		return ""
	}
	if d, _ := stages[0].(bson.D); len(d) == 1 {
		return d[0].Key
	}
	return ""
}

// checkNames refuses stages whose names MongoDB doesn't know.
func (p *parser) checkNames(stages bson.A) error {
	for _, v := range stages {
		d, _ := v.(bson.D)
		if len(d) != 1 || p.table[d[0].Key] != nil || d[0].Key == "$changeStream" || slices.Contains(absent, d[0].Key) {
			continue
		}
		return newUnknownError(d[0].Key)
	}
	return nil
}
