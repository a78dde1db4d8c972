package pipeline

// This file has $match, and the stages that change one document: $project, $set, $addFields, $unset, $replaceRoot and
// $replaceWith. Package query has the filters, package projection the changes.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/projection"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// match is $match.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/match/
//
//	{$match: {open: true, $expr: {$gt: ["$n", "$$limit"]}}}
type match struct {
	filter bson.D // as it was given, for Leading
	m      *query.Matcher
}

// parseMatch parses $match. The filter has only the names of the variables. run binds their values.
func parseMatch(p *parser, _ string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(15959, "the match filter must be an expression in an object")
	}
	opt := query.Options{Scope: &p.scope, InMatch: true}
	// A $text needs the text index of the command's collection, so only a first $match may have it.
	if p.first && query.HasText(d) {
		if p.depth > 0 {
			return nil, mongoerr.New(mongoerr.NotImplemented,
				"$text in the pipeline of a %s isn't implemented by the embedded engine", p.owner)
		}
		text, err := p.env.TextIndex()
		opt.Special = &query.Special{Text: text, NoText: err, NoNears: true}
		p.scope = p.scope.WithScore()
	}
	m, err := query.Parse(d, opt)
	if err != nil {
		return nil, err
	}
	return &match{filter: d, m: m}, nil
}

func (s *match) run(r *run, in Docs) Docs { return filterDocs(in, s.m.Bind(r.base)) }

// filterDocs returns the documents that match, all if m is nil. $match and pipelines over other collections call it.
func filterDocs(in Docs, m *query.Matcher) Docs {
	if m == nil {
		return in
	}
	return func(yield func(bson.D, error) bool) {
		for d, err := range in {
			matched := err == nil
			if matched {
				matched, err = m.Match(d)
			}
			if (matched || err != nil) && !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// perDocument is a stage that makes one document of each, by a function. c has the document as $$ROOT, and the
// variables.
type perDocument func(c *expr.Context, d bson.D) (bson.D, error)

// run evaluates all expressions of a stage on the document as it came.
func (f perDocument) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		for d, err := range in {
			if err == nil {
				d, err = f(r.base.ForDocument(d), d)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// parseFields parses the stages that change one document. $fill calls it too. The changes of each stage:
//
//	{$project: {a: 1, b: "$x"}}     keeps or removes fields, and computes others
//	{$set: {a: "$x"}}               $addFields is the same
//	{$unset: ["a", "b.c"]}          removes fields
//	{$replaceRoot: {newRoot: "$a"}} $replaceWith: "$a" is the same
func parseFields(p *parser, name string, arg any) (stage, error) {
	if name == "$replaceRoot" || name == "$replaceWith" {
		f, err := projection.ParseReplaceRoot(name, arg, p.scope)
		return perDocument(f), err
	}
	if name == "$unset" {
		f, err := projection.ParseUnset(arg)
		if err != nil {
			return nil, err
		}
		return perDocument(f.Apply), nil
	}
	d, ok := arg.(bson.D)
	switch {
	case !ok && name == "$project":
		return nil, mongoerr.New(15969, "$project specification must be an object")
	case !ok:
		return nil, mongoerr.New(40272, "%s specification stage must be an object, got %s", name, bsonval.TypeName(arg))
	}
	var f *projection.Fields
	var err error
	if name == "$project" {
		f, err = projection.ParseProject(d, p.scope)
	} else {
		f, err = projection.ParseAddFields(name, d, p.scope)
	}
	if err != nil {
		return nil, err
	}
	return perDocument(f.Apply), nil
}
