// Package pipeline parses and runs aggregation pipelines. A pipeline is a list of stages:
//
//	[{$match: {open: true}}, {$group: {_id: "$customer", total: {$sum: "$price"}}}, {$sort: {total: -1}}, {$limit: 3}]
//
// The manual's pages on aggregation stages decide what the stages mean
// (https://www.mongodb.com/docs/manual/reference/mql/aggregation-stages/). A stage that isn't implemented is refused by
// its name.
//
// # Who calls it
//
//   - The engine calls it for the command aggregate, and for reads of views, which are stored pipelines. The engine's
//     type environment is the [Env].
//   - Package changestream runs the stages behind a $changeStream on its events.
//   - The command update checks the names of stages with [CheckUpdate]. Package update runs pipelines of updates
//     itself.
//   - Package cursor reads the result, a [Docs], batch by batch.
//
// # How a pipeline runs
//
//  1. [Parse] finds each stage in a table by its name, and checks its place and its arguments. The result is a
//     [Pipeline]. Errors are MongoDB's, with its codes.
//  2. The caller takes off the stages that an index can serve: [Pipeline.Leading] has the $match and $sort stages at
//     the beginning, [Pipeline.GeoNear] a leading $geoNear. Package plan finds the documents.
//  3. [Pipeline.Run] chains the remaining stages. Each turns a sequence of documents into another one. A stage that
//     needs something of the engine, such as another collection, asks the [Env].
//
// A pipeline streams: a document is pulled through all stages when the caller asks for it. Nothing runs before the
// result is ranged over, and each range runs the pipeline again.
//
// # Kinds of stages
//
//   - Most stages take one document at a time: $match, $project, $unwind, $lookup.
//   - Some read their whole input first: $group, $sort, $bucketAuto, $facet, $sample, $count and $setWindowFields. If
//     they hold documents, they count the bytes (memory.go).
//   - Some become other stages, in a chain: $bucket and $sortByCount are a $group and a $sort, $fill is a
//     $setWindowFields and an $addFields, $densify begins with a $sort.
//   - Sources have documents of their own and ignore their input: $documents, $collStats, $indexStats,
//     $listLocalSessions.
//   - $out and $merge write, and give no documents.
//   - $lookup, $unionWith and $facet have pipelines of their own.
//
// # Files
//
// run.go has the stages' interface and what runs them, parser.go what parses them, env.go what they need of the engine.
// subpipeline.go and join.go are for stages that read other collections. Each other file has the stages that its name
// or its first lines say. They refer to those files, and to stages that they are made of. This file and stages.go, with
// the table, are on top: a stage with a pipeline of its own finds other stages by its parser, not by the table's name.
//
// # Invariants
//
//   - A parsed pipeline never changes, and may run several times. All that changes while it runs is in a run, and in
//     the closures of its stages.
//   - Documents are immutable: a stage that sets a field copies the documents on the way to it.
//   - A sequence ends with its first error, and a stage passes an error on at once.
//   - Each document that a stage takes or gives is a step of the command's watch, so a pipeline ends with its command.
//   - A pipeline compares under one collation, also in pipelines within it.
package pipeline

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// Parse parses a pipeline.
func Parse(stages bson.A, env Env) (*Pipeline, error) { return ParseVars(stages, env, nil) }

// ParseVars is Parse for a command with variables (its let), whose names are without $$.
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

// Leading returns the part of the pipeline that a find can do with an index, and the rest:
//
//   - filter is that of the $match stages at the beginning, nil without one. The command's variables may occur in it.
//   - sort is that of a $sort that follows them, nil without one.
//   - keep is how many of the sorted documents the rest needs at most, 0 for all.
//
// The caller must do these parts, and then run the rest.
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
		if s, ok := stages[0].(*sortStage); ok {
			sort, keep, stages = s.spec, s.keep, stages[1:]
		}
	}
	return filter, sort, keep, &Pipeline{stages: stages, env: p.env, vars: p.vars}
}

// Writes reports whether the pipeline ends with $out or $merge. Such a command isn't allowed everywhere.
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
