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
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

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

// scored notes each document's score. As one document is on its way at a time, stages need not carry the score along;
// those that hold documents back note it for each.
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
