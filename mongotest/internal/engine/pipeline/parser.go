package pipeline

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

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
			return nil, notThere(name)
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
var scoreless = []string{
	"$bucket", "$bucketAuto", "$count", "$facet", "$group", "$sample", "$setWindowFields", "$sortByCount", "$unionWith",
}

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
