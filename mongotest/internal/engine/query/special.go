package query

import (
	"errors"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/fts"
)

// Special allows what a filter can only ask of a collection: $near and the like, and $text.
type Special struct {
	Text    *fts.Index // the collection's text index
	NoText  error      // the error of $text if there is no such index
	NoNears bool       // $near isn't allowed, as in the $match of a pipeline
}

// checkSpecial refuses conditions that MongoDB doesn't allow together, or where they stand.
func (p *parser) checkSpecial(root node) error {
	if p.nears == 0 && p.texts == 0 {
		return nil
	}
	refuse := func(text string) error { return mongoerr.New(mongoerr.BadValue, "%s", text) }
	top := 0
	for _, n := range conjuncts(nil, root) {
		if o, ok := n.(onPath); ok {
			if _, ok := o.cond.(nearby); ok {
				top++
			}
		}
	}
	switch {
	case p.texts > 1:
		return refuse("Too many text expressions")
	case p.nears > 1:
		return refuse("Too many geoNear expressions")
	case p.nears > top:
		return refuse("geoNear must be top-level expr")
	case p.texts > 0 && p.nears > 0:
		return refuse("text and geoNear not allowed in same query")
	}
	return nil
}

func message(err error) string {
	var x *mongoerr.Error
	if errors.As(err, &x) {
		return x.Message
	}
	return err.Error()
}
