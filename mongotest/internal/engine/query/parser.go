package query

// This file parses the top level of a filter. field.go parses what stands beside a field name.

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

// parseTop parses the argument of an operator that stands where a field name could, such as $and. name is the
// operator's name, for parsers that serve several operators.
type parseTop func(p *parser, name string, arg any) (node, error)

// parseField parses the argument of an operator on a field's value. whole is the document in which the operator stands.
// Parsers need it for $regex and $options, which belong together, and for operators that must stand alone. A parser may
// return a nil cond if another operator of the document has the condition.
type parseField func(p *parser, arg any, whole bson.D) (cond, error)

// operators are the tables of operators by name. There is one value, table in operators.go.
type operators struct {
	top   map[string]parseTop
	field map[string]parseField
}

// parser is what parsing a condition needs to know: the operators, and where in the filter the condition stands. Parse
// makes one for a filter, and $elemMatch another one for the filter in it.
type parser struct {
	table  operators
	scope  expr.Scope          // the variables of $expr, and the collation
	by     *collation.Collator // of the scope
	depth  int                 // how many $elemMatch enclose the condition
	upsert bool                // see Options.Upsert
	stored bool                // see Options.Stored
	path   string              // of the field whose operators are parsed
	watch  *interrupt.Watch    // ends the sorting of a long $in

	special *Special // nil where $near and $text aren't allowed
	inMatch bool     // see Options.InMatch
	nears   int      // how many $near were parsed so far
	texts   int      // how many $text
	inNor   int      // how many $nor enclose the condition
}

// absent are operators that MongoDB has and this engine doesn't. Their error says that MongoDB would take the filter.
var absent = []string{"$where"}

// parseFilter parses a filter: the conditions that must all be met. A filter of one condition is that condition's node,
// so that plan and upsert find it without looking through an and.
func (p *parser) parseFilter(d bson.D) (node, error) {
	all := make(and, 0, len(d))
	for _, f := range d {
		n, err := p.parseEntry(f)
		if err != nil {
			return nil, err
		}
		// $comment, and operators that are always true, add no condition.
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
		"unknown top level operator: %s. If you have a field name that starts with a '$' symbol, consider using "+
			"$getField or $setField.", f.Key)
}

// Special allows $near, $nearSphere, $geoNear and $text. They need an index, so only a filter on a collection may have
// them: an array filter, a validator or a $match in the middle of a pipeline has no Special.
type Special struct {
	Text    *fts.Index // the collection's text index, nil without one
	NoText  error      // the error of a $text if Text is nil
	NoNears bool       // $near isn't allowed, as in the $match of a pipeline
}
