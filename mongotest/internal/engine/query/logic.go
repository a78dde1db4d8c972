package query

import (
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/jsonschema"
)

// parser holds what parsing needs to know of its surroundings.
type parser struct {
	scope  expr.Scope
	by     *collation.Collator // of the scope
	depth  int                 // how many $elemMatch and $not enclose
	upsert bool
	stored bool   // the filter is kept with a collection
	path   string // of the field whose operators are parsed
	watch  *interrupt.Watch

	special *Special // nil where $near and $text aren't allowed
	inMatch bool     // it is a $match
	nears   int      // how many of them there are
	texts   int
	inNor   int
}

// top is the table of operators that stand where a field name could. It is
// filled in by init since its entries parse filters themselves.
var top map[string]func(p *parser, name string, arg any) (node, error)

func init() {
	top = map[string]func(p *parser, name string, arg any) (node, error){
		"$and":        (*parser).list,
		"$or":         (*parser).list,
		"$nor":        (*parser).list,
		"$expr":       (*parser).expr,
		"$jsonSchema": (*parser).jsonSchema,
		"$text":       (*parser).text,
		"$comment":    func(*parser, string, any) (node, error) { return and{}, nil },
		"$sampleRate": (*parser).sampleRate,
		"$alwaysTrue": (*parser).always, "$alwaysFalse": (*parser).always,
	}
}

// Operators returns the names of all operators, sorted.
func Operators() []string {
	names := slices.Collect(maps.Keys(top))
	names = slices.AppendSeq(names, maps.Keys(onField))
	slices.Sort(names)
	return names
}

// absent names what MongoDB has and this engine hasn't.
var absent = []string{"$where"}

func (p *parser) filter(d bson.D) (node, error) {
	all := make(and, 0, len(d))
	for _, f := range d {
		n, err := p.entry(f)
		if err != nil {
			return nil, err
		}
		if none, ok := n.(and); ok && len(none) == 0 {
			continue
		}
		all = append(all, n)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

func (p *parser) entry(f bson.E) (node, error) {
	if !strings.HasPrefix(f.Key, "$") {
		c, err := p.field(f.Key, f.Value)
		if err != nil {
			return nil, err
		}
		return onPath{path: bsonval.ParsePath(f.Key), name: f.Key, cond: c}, nil
	}
	parse, ok := top[f.Key]
	switch {
	case ok:
		return parse(p, f.Key, f.Value)
	case slices.Contains(absent, f.Key):
		return nil, mongoerr.New(mongoerr.NotImplemented, "%s isn't implemented by the embedded engine", f.Key)
	}
	return nil, mongoerr.New(mongoerr.BadValue,
		"unknown top level operator: %s. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.", f.Key)
}

func (p *parser) list(name string, arg any) (node, error) {
	a, ok := arg.(bson.A)
	if !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "%s must be an array", name)
	}
	if len(a) == 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "$and/$or/$nor must be a nonempty array")
	}
	nodes := make([]node, len(a))
	if name == "$nor" {
		p.inNor++
		defer func() { p.inNor-- }()
	}
	for i, v := range a {
		d, ok := v.(bson.D)
		if !ok {
			return nil, mongoerr.New(mongoerr.BadValue, "$or/$and/$nor entries need to be full objects")
		}
		n, err := p.filter(d)
		if err != nil {
			return nil, err
		}
		nodes[i] = n
	}
	switch name {
	case "$and":
		return and(nodes), nil
	case "$or":
		return or(nodes), nil
	}
	return nor(nodes), nil
}

func (p *parser) expr(_ string, arg any) (node, error) {
	if p.depth > 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "$expr can only be applied to the top-level document")
	}
	if p.upsert {
		return nil, mongoerr.New(mongoerr.QueryFeatureNotAllowed, "$expr is not allowed in the query predicate for an upsert")
	}
	if p.stored && isRandom(arg) {
		return nil, mongoerr.New(3040500, "$rand not allowed inside collection validators")
	}
	e, err := expr.Parse(arg, p.scope)
	if err != nil {
		return nil, err
	}
	return test{e}, nil
}

// schema passes for documents that conform.
type schema struct{ s *jsonschema.Schema }

func (n schema) match(_ *expr.Context, d bson.D, _ *int) (bool, error) { return n.s.Match(d), nil }

func (p *parser) jsonSchema(_ string, arg any) (node, error) {
	d, ok := arg.(bson.D)
	switch {
	case !ok:
		return nil, mongoerr.New(mongoerr.TypeMismatch, "$jsonSchema must be an object")
	case p.depth > 0:
		return nil, mongoerr.New(mongoerr.BadValue, "$jsonSchema can only be applied to the top-level document")
	}
	s, err := jsonschema.Parse(d)
	if err != nil {
		return nil, err
	}
	return schema{s}, nil
}

func (n test) match(c *expr.Context, d bson.D, _ *int) (bool, error) {
	v, err := n.e.Eval(c.On(d))
	return err == nil && bsonval.Truthy(v), err
}
