// Package pipeline parses and runs aggregation pipelines.
//
// The manual's pages on aggregation stages decide what they mean
// (https://www.mongodb.com/docs/manual/reference/mql/aggregation-stages/). A
// stage that isn't here is an error that names it.
//
// A pipeline streams: a document is pulled through all stages when the caller
// asks for it, except that $group, $sort, $facet, $sample, $count and
// $sortByCount read their whole input first. Nothing runs before the result is
// ranged over, and each range runs the pipeline again. Each document that a stage
// takes or gives is a step of the command's watch.
package pipeline

import (
	"iter"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/engine/collation"
	"github.com/docmodel/docmodel/internal/engine/expr"
	"github.com/docmodel/docmodel/internal/engine/fts"
	"github.com/docmodel/docmodel/internal/engine/interrupt"
	"github.com/docmodel/docmodel/internal/engine/query"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Docs is a sequence of documents that ends at the first error.
type Docs = iter.Seq2[bson.D, error]

// Action is what a merge does with a document of the target.
type Action uint8

// The actions of MergeOne's apply.
const (
	Keep    Action = iota // leave the target as it is
	Replace               // put the returned document in place of the old one
	Update                // Replace, the returned document being the old one with changes
	Insert                // insert the returned document, there being no old one
)

// Env is what a pipeline needs of the engine, which serves one command. A database of "" is
// the pipeline's own.
type Env interface {
	// Watch ends the pipeline when its command is over. It may be nil.
	Watch() *interrupt.Watch
	// AllowDiskUse says that $group and $sort may take more than 100 MB.
	AllowDiskUse() bool
	// Collation is what the whole pipeline compares under.
	Collation() *collation.Collator
	// Now is the time of $$NOW, the same for the whole command.
	Now() time.Time
	// TextIndex returns the text index of the collection that the command is for, an error if there is none.
	TextIndex() (*fts.Index, error)
	// Find streams the documents of a collection that match, by an index when
	// one fits. A collection that doesn't exist has none.
	Find(db, coll string, m *query.Matcher) Docs
	// Out replaces the collection's documents by those of the sequence; an
	// error in the sequence leaves the collection as it was, and is returned.
	Out(db, coll string, docs Docs) error
	// IsUnique reports whether a unique index (of all documents) has exactly
	// these fields, in any order, and the pipeline's collation.
	IsUnique(db, coll string, on []string) (bool, error)
	// MergeOne calls apply with the target's document that equals doc in the
	// fields, nil when there is none, and does what apply says. It makes the
	// collection when it doesn't exist. Inserting a duplicate is an error of
	// code DuplicateKey.
	MergeOne(db, coll string, on []string, doc bson.D,
		apply func(old bson.D) (next bson.D, action Action, err error)) error
	// CollStats returns what $collStats tells of a collection; a name of "" is
	// that of the command's own.
	CollStats(db, coll string, want CollStats) (bson.D, error)
	// IndexStats returns what $indexStats tells of each index of a collection.
	IndexStats(db, coll string) ([]bson.D, error)
}

// Pipeline is a parsed pipeline. It is safe for concurrent use as far as its Env is.
type Pipeline struct {
	stages []stage
	env    Env
	vars   map[string]any
	text   *query.Matcher // gives the documents that the pipeline is given a text score; nil if they have none
}

// stage is one step.
type stage interface {
	run(r *run, in Docs) Docs
}

// run is one running of a pipeline.
type run struct {
	env   Env
	watch *interrupt.Watch
	by    *collation.Collator
	base  *expr.Context // the variables, the time and the watch
	score float64       // the text score of the document that is on its way
}

// Parse parses a pipeline.
func Parse(stages bson.A, env Env) (*Pipeline, error) { return ParseVars(stages, env, nil) }

// ParseVars is Parse for a command with variables (its let).
func ParseVars(stages bson.A, env Env, vars map[string]any) (*Pipeline, error) {
	p := parser{env: env, scope: expr.NewScope(slices.Collect(maps.Keys(vars))...).Under(env.Collation())}
	list, err := p.stages(stages)
	if err != nil {
		return nil, err
	}
	return &Pipeline{stages: list, env: env, vars: vars}, nil
}

// Run returns the documents that the pipeline makes of those it is given. One
// that ends with $out or $merge writes when it is ranged over, and has none.
func (p *Pipeline) Run(in Docs) Docs {
	watch := p.env.Watch()
	r := &run{env: p.env, watch: watch, by: p.env.Collation()}
	r.base = expr.NewContext(nil, p.env.Now(), watch, p.vars).Scored(&r.score)
	in = r.scored(in, p.text)
	return chain(r, p.stages, in)
}

func chain(r *run, stages []stage, in Docs) Docs {
	in = r.watched(in)
	for _, s := range stages {
		in = r.watched(s.run(r, in))
	}
	return in
}

// scored notes each document's score. As one document is on its way at a time, stages need not carry the score along; those
// that hold documents back note it for each.
func (r *run) scored(in Docs, text *query.Matcher) Docs {
	if text == nil {
		return in
	}
	return func(yield func(bson.D, error) bool) {
		for d, err := range in {
			if err == nil {
				r.score = text.TextScore(d)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// watched returns the documents until the command is over.
func (r *run) watched(in Docs) Docs {
	if r.watch == nil {
		return in
	}
	return func(yield func(bson.D, error) bool) {
		for d, err := range in {
			if err == nil {
				err = r.watch.Step()
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// Leading returns what a find can do before the rest: the leading $match
// stages as one filter, nil when there is none, and the $sort that follows
// them, nil when none does. The caller must do both. Variables of the command
// may occur in the filter. Of the sorted documents the rest takes no more than
// keep, all when keep is 0.
func (p *Pipeline) Leading() (filter, sort bson.D, keep int64, rest *Pipeline) {
	stages := p.stages
	var all bson.A
	for len(stages) > 0 {
		m, ok := stages[0].(*match)
		if !ok {
			break
		}
		all = append(all, m.filter)
		stages = stages[1:]
	}
	switch len(all) {
	case 0:
	case 1:
		filter = all[0].(bson.D)
	default:
		filter = bson.D{{Key: "$and", Value: all}}
	}
	if len(stages) > 0 {
		if s, ok := stages[0].(*sorting); ok {
			sort, keep, stages = s.spec, s.keep, stages[1:]
		}
	}
	return filter, sort, keep, &Pipeline{stages: stages, env: p.env, vars: p.vars}
}

// Scored returns the pipeline for documents that have a score in the filter's text search, if it has one.
func (p *Pipeline) Scored(filter *query.Matcher) *Pipeline {
	if filter.Text(false) == nil {
		return p
	}
	next := *p
	next.text = filter
	return &next
}

// Len returns how many stages there are.
func (p *Pipeline) Len() int { return len(p.stages) }

// Writes reports whether the pipeline ends with $out or $merge.
func (p *Pipeline) Writes() bool {
	if len(p.stages) == 0 {
		return false
	}
	switch p.stages[len(p.stages)-1].(type) {
	case *out, *merge:
		return true
	}
	return false
}

// parser parses the stages of a pipeline and of those within it.
type parser struct {
	env   Env
	scope expr.Scope
	db    string // the collection that it begins with; "" for those of the command
	coll  string
	depth int    // how many pipelines enclose this one
	joins int    // how many of them read another collection
	first bool   // the stage is the pipeline's first
	owner string // the stage whose pipeline it is, "" for the outermost
}

// parse makes a stage of its argument.
type parse func(p *parser, name string, arg any) (stage, error)

// table holds the stages; init fills it in since some parse pipelines themselves.
var table map[string]parse

func init() {
	table = map[string]parse{
		"$match":           parseMatch,
		"$project":         parseFields,
		"$set":             parseFields,
		"$addFields":       parseFields,
		"$unset":           parseFields,
		"$replaceRoot":     parseFields,
		"$replaceWith":     parseFields,
		"$unwind":          parseUnwind,
		"$group":           parseGroup,
		"$bucket":          parseBucket,
		"$bucketAuto":      parseBucketAuto,
		"$collStats":       parseCollStats,
		"$documents":       parseDocuments,
		"$indexStats":      parseIndexStats,
		"$densify":         parseDensify,
		"$fill":            parseFill,
		"$redact":          parseRedact,
		"$sortByCount":     parseSortByCount,
		"$sort":            parseSort,
		"$limit":           parseLimit,
		"$skip":            parseSkip,
		"$count":           parseCount,
		"$sample":          parseSample,
		"$geoNear":         parseGeoNear,
		"$graphLookup":     parseGraphLookup,
		"$setWindowFields": parseWindowFields,
		"$lookup":          parseLookup,
		"$unionWith":       parseUnionWith,
		"$facet":           parseFacet,
		"$merge":           parseMerge,
		"$out":             parseOut,
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
	"$listCatalog", "$listClusterCatalog", "$listLocalSessions",
	"$listMqlEntities", "$listSampledQueries", "$listSearchIndexes", "$listSessions", "$mergeCursors", "$operationMetrics",
	"$planCacheStats", "$querySettings", "$queryStats", "$queue", "$rankFusion", "$rerank", "$score",
	"$scoreFusion", "$search", "$searchMeta", "$shardedDataDistribution", "$vectorSearch",
}

// maxStages is how many stages a pipeline may have
// (https://www.mongodb.com/docs/manual/core/aggregation-pipeline-limits/).
const maxStages = 1000

func (p *parser) stages(list bson.A) ([]stage, error) {
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
		parse, ok := table[name]
		switch {
		case ok:
		case name == "$changeStream":
			return nil, notFirst(name)
		case slices.Contains(absent, name):
			return nil, mongoerr.New(mongoerr.NotImplemented, "%s isn't implemented by the embedded engine", name)
		default:
			return nil, unknownStage(name)
		}
		if err := p.place(name, i, i == len(list)-1); err != nil {
			return nil, err
		}
		p.first = i == 0
		s, err := parse(p, name, d[0].Value)
		if err != nil {
			return nil, err
		}
		if slices.Contains(scoreless, name) {
			p.scope = p.scope.Unscored()
		}
		out = append(out, s)
		keepLimit(out)
	}
	return out, nil
}

func notFirst(stage string) error {
	return mongoerr.New(40602, "%s is only valid as the first stage in a pipeline", stage)
}

// scoreless are the stages whose documents are new ones, which have no text score.
// $sample and $setWindowFields hold documents back without it.
var scoreless = []string{"$bucket", "$bucketAuto", "$count", "$facet", "$group", "$sample", "$setWindowFields", "$sortByCount", "$unionWith"}

// maxJoins is how deep pipelines over other collections may nest.
const maxJoins = 20

// join enters a stage that reads another collection, with a pipeline or without.
func (p *parser) join(owner, db, coll string, vars ...string) (*parser, error) {
	if p.joins >= maxJoins {
		return nil, mongoerr.New(mongoerr.MaxSubPipelineDepthExceeded,
			"Maximum number of nested sub-pipelines exceeded. Limit is %d", maxJoins)
	}
	next := p.inside(owner, vars...)
	next.joins++
	next.db, next.coll = db, coll
	return next, nil
}

// place refuses a stage where it mustn't stand.
func (p *parser) place(name string, i int, last bool) error {
	writes := name == "$out" || name == "$merge"
	switch {
	case p.owner == "$facet" && (writes || begins(name) || name == "$facet"):
		return mongoerr.New(40600, "%s is not allowed to be used within a $facet stage", name)
	case p.depth > 0 && writes:
		code := int32(51047)
		if p.owner == "$unionWith" {
			code = 31441
		}
		return mongoerr.New(code, "%s is not allowed within a %s's sub-pipeline", name, p.owner)
	case begins(name) && i > 0:
		return notFirst(name)
	case writes && !last:
		return mongoerr.New(40601, "%s can only be the final stage in the pipeline", name)
	}
	return nil
}

// inside returns the parser of a pipeline within this one, in a stage of that name, with more variables.
func (p *parser) inside(owner string, vars ...string) *parser {
	next := *p
	next.depth++
	next.owner = owner
	next.scope = p.scope.Unscored()
	next.scope = next.scope.With(vars...)
	return &next
}
