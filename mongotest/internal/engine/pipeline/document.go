package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/projection"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// match is $match.
type match struct {
	filter bson.D
	m      *query.Matcher
}

func parseMatch(p *parser, _ string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(15959, "the match filter must be an expression in an object")
	}
	opt := query.Options{Scope: &p.scope, InMatch: true}
	if p.first && query.HasText(d) {
		if p.depth > 0 {
			return nil, mongoerr.New(mongoerr.NotImplemented,
				"$text in the pipeline of a %s isn't implemented by the embedded engine", p.owner)
		}
		text, err := p.env.TextIndex()
		opt.Special = &query.Special{Text: text, NoText: err, NoNears: true}
		p.scope = p.scope.Scored()
	}
	m, err := query.Parse(d, opt)
	if err != nil {
		return nil, err
	}
	return &match{filter: d, m: m}, nil
}

func (s *match) run(r *run, in Docs) Docs {
	m := s.m.Bind(r.base)
	return func(yield func(bson.D, error) bool) {
		for d, err := range in {
			if err == nil {
				matched, failed := m.Match(d)
				if err = failed; err == nil && !matched {
					continue
				}
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// each is a stage that makes one document of each.
type each func(c *expr.Context, d bson.D) (bson.D, error)

func (f each) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		for d, err := range in {
			if err == nil {
				d, err = f(r.base.On(d), d)
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

func parseFields(p *parser, name string, arg any) (stage, error) {
	if name == "$replaceRoot" || name == "$replaceWith" {
		f, err := projection.ParseReplaceRoot(name, arg, p.scope)
		return each(f), err
	}
	if name == "$unset" {
		f, err := projection.ParseUnset(arg)
		if err != nil {
			return nil, err
		}
		return each(f.Apply), nil
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
	return each(f.Apply), nil
}
