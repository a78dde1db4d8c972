package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// Parse parses a filter. An empty or nil filter matches every document. Errors are MongoDB's, with its codes.
func Parse(filter bson.D, opt Options) (*Matcher, error) {
	names := make([]string, 0, len(opt.Vars))
	for name := range opt.Vars {
		names = append(names, name)
	}
	p := &parser{
		table:  table,
		scope:  expr.NewScope(names...).WithCollation(opt.Collation),
		upsert: opt.Upsert, stored: opt.Stored, watch: opt.Watch,
		special: opt.Special, inMatch: opt.InMatch,
	}
	if opt.Scope != nil {
		p.scope = *opt.Scope
	}
	p.by = p.scope.Collation()
	root, err := p.parseFilter(filter)
	if err == nil {
		// Only the whole tree shows whether a $near stands at the top.
		err = p.checkSpecial(root)
	}
	if err != nil {
		return nil, err
	}
	return &Matcher{root: root, base: expr.NewContext(nil, opt.Now, opt.Watch, opt.Vars), by: p.by}, nil
}

// MustParse is Parse for filters that can't be wrong: filters that the engine makes, and filters that were parsed
// before. It panics on a mistake.
func MustParse(filter bson.D) *Matcher {
	m, err := Parse(filter, Options{})
	if err != nil {
		panic("query: " + err.Error())
	}
	return m
}
