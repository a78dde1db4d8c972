package query

import "github.com/docmodel/docmodel/internal/mongoerr"

// checkSpecial refuses filters in which $near and $text stand where no index could serve them. Parse calls it on the
// whole tree. A filter may have one of them: one $text anywhere outside of $nor, or one $near among the conditions that
// every match must fulfill, because it also sorts the result.
func (p *parser) checkSpecial(root node) error {
	if p.nears == 0 && p.texts == 0 {
		return nil
	}
	refuse := func(text string) error { return mongoerr.New(mongoerr.BadValue, "%s", text) }
	top := 0 // $near that every match must fulfill
	for _, n := range appendConjuncts(nil, root) {
		if o, ok := n.(onPath); ok {
			if _, ok := o.cond.(nearMatch); ok {
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
