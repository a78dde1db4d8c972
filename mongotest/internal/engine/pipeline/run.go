package pipeline

// This file has a parsed pipeline, and how its stages are chained when it runs.

import (
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
	vars   map[string]any // the command's variables
	text   *query.Matcher // computes the text score of each document of the input; nil if they have none
}

// stage is a parsed stage.
type stage interface {
	// run returns the documents that the stage makes of its input. It does nothing before they are ranged over, and
	// ends them with the first error of the input or of its own.
	run(r *run, in Docs) Docs
}

// run is one run of a pipeline. The stages of pipelines within it share it, or get a copy with more variables.
type run struct {
	env   Env
	watch *interrupt.Watch    // the env's
	by    *collation.Collator // the env's
	base  *expr.Context       // the variables, the time and the watch
	score float64             // the text score of the document that is on its way
}

// Run returns the documents that the pipeline makes of its input. A pipeline that ends with $out or $merge writes when
// the result is ranged over, and has no documents.
func (p *Pipeline) Run(in Docs) Docs {
	watch := p.env.Watch()
	// Expressions read the score where noteScores stores it.
	r := &run{env: p.env, watch: watch, by: p.env.Collation()}
	r.base = expr.NewContext(nil, p.env.Now(), watch, p.vars).WithScore(&r.score)
	in = r.noteScores(in, p.text)
	return runStages(r, p.stages, in)
}

// runStages chains stages behind an input. Run calls it, and the stages that have stages of their own.
func runStages(r *run, stages []stage, in Docs) Docs {
	in = r.watchDocs(in)
	for _, s := range stages {
		in = r.watchDocs(s.run(r, in))
	}
	return in
}

// noteScores stores each document's text score in the run when the document enters the pipeline. One document is on its
// way at a time, so stages need not carry the score along. $sort, which holds documents back, keeps their scores.
func (r *run) noteScores(in Docs, text *query.Matcher) Docs {
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

// watchDocs returns the documents until the command is over. Then the sequence ends with the error of the watch.
func (r *run) watchDocs(in Docs) Docs {
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

// ScoreBy returns the pipeline for documents that were found by a filter. If the filter has a text search, the stages
// see each document's score in it, as {$meta: "textScore"}.
func (p *Pipeline) ScoreBy(filter *query.Matcher) *Pipeline {
	if filter.FindText(false) == nil {
		return p
	}
	next := *p
	next.text = filter
	return &next
}

// Len returns the number of stages. explain shows the last ones, behind the stages that Leading has taken off.
func (p *Pipeline) Len() int { return len(p.stages) }
