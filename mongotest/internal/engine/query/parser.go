package query

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/fts"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// parseTop parses the argument of an operator that stands where a field name could.
type parseTop func(p *parser, name string, arg any) (node, error)

// parseField parses the argument of an operator on a field's value. $regex and $options, which belong together, get the
// document that holds both.
type parseField func(p *parser, arg any, whole bson.D) (cond, error)

// operators are tables of operators by name.
type operators struct {
	top   map[string]parseTop
	field map[string]parseField
}

// parser is what parsing a condition needs to know: the operators that there are, and where the condition stands.
type parser struct {
	table  operators
	scope  expr.Scope
	by     *collation.Collator // of the scope
	depth  int                 // how many $elemMatch and $not enclose
	upsert bool
	stored bool   // the filter is kept with a collection
	path   string // of the field whose operators are parsed
	watch  *interrupt.Watch

	special *Special // nil where $near and $text aren't allowed
	inMatch bool     // it is a $match
	nears   int      // how many $near there are
	texts   int
	inNor   int
}

// absent are operators that MongoDB has and this engine hasn't.
var absent = []string{"$where"}

// parseFilter parses a filter: the conditions that must all be met.
func (p *parser) parseFilter(d bson.D) (node, error) {
	all := make(and, 0, len(d))
	for _, f := range d {
		n, err := p.parseEntry(f)
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

// parseEntry parses one condition: an operator, or a field name with what stands beside it.
func (p *parser) parseEntry(f bson.E) (node, error) {
	if !strings.HasPrefix(f.Key, "$") {
		c, err := p.parseValue(f.Key, f.Value)
		if err != nil {
			return nil, err
		}
		return onPath{path: bsonval.ParsePath(f.Key), name: f.Key, cond: c}, nil
	}
	parse, ok := p.table.top[f.Key]
	switch {
	case ok:
		return parse(p, f.Key, f.Value)
	case slices.Contains(absent, f.Key):
		return nil, mongoerr.New(mongoerr.NotImplemented, "%s isn't implemented by the embedded engine", f.Key)
	}
	return nil, mongoerr.New(mongoerr.BadValue,
		"unknown top level operator: %s. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.", f.Key)
}

// Special allows what a filter can only ask of a collection: $near and the like, and $text.
type Special struct {
	Text    *fts.Index // the collection's text index
	NoText  error      // the error of $text if there is no such index
	NoNears bool       // $near isn't allowed, as in the $match of a pipeline
}
