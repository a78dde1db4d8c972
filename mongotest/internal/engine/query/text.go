package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/fts"
)

// textMatch is $text. Package fts does the search, in the fields of the collection's text index.
// https://www.mongodb.com/docs/manual/reference/operator/query/text/
type textMatch struct{ s *fts.Search }

func (n textMatch) match(_ *expr.Context, d bson.D, _ *int) (bool, error) { return n.s.Match(d), nil }

// parseText parses {$text: {$search: "coffee -shop", $language: "en"}}. The errors depend on where the filter stands,
// as they do in MongoDB.
func (p *parser) parseText(_ string, arg any) (node, error) {
	switch {
	case p.special == nil && p.inMatch:
		return nil, mongoerr.New(17313, "$match with $text is only allowed as the first pipeline stage")
	case p.special == nil || p.depth > 0:
		return nil, mongoerr.New(mongoerr.BadValue, "$text is not allowed in this context")
	case p.inNor > 0:
		return nil, mongoerr.New(mongoerr.BadValue, "text expression not allowed in nor")
	case p.special.NoText != nil:
		return nil, p.special.NoText
	}
	p.texts++
	if p.texts > 1 {
		return nil, mongoerr.New(mongoerr.BadValue, "Too many text expressions")
	}
	s, err := fts.Parse(arg, p.special.Text)
	if err != nil {
		return nil, err
	}
	return textMatch{s}, nil
}

// FindText returns the text search of the filter, nil if it has none. With top, it returns only a search that every
// match must fulfill, and not one in a branch of an $or.
func (m *Matcher) FindText(top bool) *fts.Search {
	list := appendConjuncts(nil, m.root)
	for len(list) > 0 {
		switch n := list[0].(type) {
		case textMatch:
			return n.s
		case or:
			if !top {
				for _, branch := range n {
					list = appendConjuncts(list, branch)
				}
			}
		}
		list = list[1:]
	}
	return nil
}

// TextScore returns a document's score in the text search, for {$meta: "textScore"}. It is 0 if the filter has no text
// search.
func (m *Matcher) TextScore(d bson.D) float64 {
	s := m.FindText(false)
	if s == nil {
		return 0
	}
	return s.Score(d)
}

// HasText reports whether a filter has a $text where MongoDB looks for it: at the top, and in $and, $or and $nor.
// Package pipeline calls it before it parses a first $match, because such a filter needs the collection's text index.
func HasText(filter bson.D) bool {
	for _, f := range filter {
		list, _ := f.Value.(bson.A)
		switch f.Key {
		case "$text":
			return true
		case "$and", "$or", "$nor":
			for _, x := range list {
				if d, ok := x.(bson.D); ok && HasText(d) {
					return true
				}
			}
		}
	}
	return false
}
