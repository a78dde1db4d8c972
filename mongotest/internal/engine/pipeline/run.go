package pipeline

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

// Run returns the documents that the pipeline makes of those it is given. One
// that ends with $out or $merge writes when it is ranged over, and has none.
func (p *Pipeline) Run(in Docs) Docs {
	watch := p.env.Watch()
	r := &run{env: p.env, watch: watch, by: p.env.Collation()}
	r.base = expr.NewContext(nil, p.env.Now(), watch, p.vars).Scored(&r.score)
	in = r.noteScores(in, p.text)
	return runStages(r, p.stages, in)
}

func runStages(r *run, stages []stage, in Docs) Docs {
	in = r.watchDocs(in)
	for _, s := range stages {
		in = r.watchDocs(s.run(r, in))
	}
	return in
}

// noteScores notes each document's score. One document is on its way at a time, so stages need not carry the score
// along. Stages that hold documents back note the score of each document.
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

// watchDocs returns the documents until the command is over.
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

// Scored returns the pipeline for documents that have a score in the filter's text search, if it has one.
func (p *Pipeline) Scored(filter *query.Matcher) *Pipeline {
	if filter.FindText(false) == nil {
		return p
	}
	next := *p
	next.text = filter
	return &next
}

// Len returns how many stages there are.
func (p *Pipeline) Len() int { return len(p.stages) }
