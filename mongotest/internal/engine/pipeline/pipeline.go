// Package pipeline parses and runs aggregation pipelines.
//
// The manual's pages on aggregation stages decide what they mean
// (https://www.mongodb.com/docs/manual/reference/mql/aggregation-stages/). A
// stage that isn't here is an error that names it.
//
// # How a pipeline runs
//
//  1. [Parse] finds each stage in a table by its name, and checks its place and its arguments. The result is a
//     [Pipeline].
//  2. The caller takes off what the storage can do better: [Pipeline.Leading] has the $match and $sort stages at the
//     beginning, [Pipeline.GeoNear] a leading $geoNear.
//  3. [Pipeline.Run] chains the stages. Each turns a sequence of documents into another one. What a stage needs of the
//     engine, such as another collection, it gets from the [Env].
//
// A pipeline streams: a document is pulled through all stages when the caller
// asks for it, except that $group, $sort, $facet, $sample, $count and
// $sortByCount read their whole input first. Nothing runs before the result is
// ranged over, and each range runs the pipeline again. Each document that a stage
// takes or gives is a step of the command's watch. A stage that holds documents counts their bytes (memory.go).
//
// # Files
//
// run.go has the stages' interface and what runs them, parser.go what parses them. Each other file has stages.
// They refer to those two, and to stages that they are made of. This file and stages.go, with the table, are on top: a
// stage with a pipeline of its own, such as $lookup, finds other stages by its parser, not by the table's name.
package pipeline

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// Parse parses a pipeline.
func Parse(stages bson.A, env Env) (*Pipeline, error) { return ParseVars(stages, env, nil) }

// ParseVars is Parse for a command with variables (its let).
func ParseVars(stages bson.A, env Env, vars map[string]any) (*Pipeline, error) {
	p := parser{
		table: table, env: env,
		scope: expr.NewScope(slices.Collect(maps.Keys(vars))...).WithCollation(env.Collation()),
	}
	list, err := p.parseStages(stages)
	if err != nil {
		return nil, err
	}
	return &Pipeline{stages: list, env: env, vars: vars}, nil
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
