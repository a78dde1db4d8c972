package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/fts"
)

// words is $text.
// https://www.mongodb.com/docs/manual/reference/operator/query/text/
type words struct{ s *fts.Search }

func (n words) match(_ *expr.Context, d bson.D, _ *int) (bool, error) { return n.s.Match(d), nil }

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
	return words{s}, nil
}

// Text returns the text search of the filter, nil if it has none. With top, only one that every match must fulfill
// counts.
func (m *Matcher) Text(top bool) *fts.Search {
	list := appendConjuncts(nil, m.root)
	for len(list) > 0 {
		switch n := list[0].(type) {
		case words:
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

// TextScore returns a document's score in the text search, 0 if there is none.
func (m *Matcher) TextScore(d bson.D) float64 {
	s := m.Text(false)
	if s == nil {
		return 0
	}
	return s.Score(d)
}

// HasText reports whether a filter has a $text that stands where it may in a pipeline's first stage.
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
