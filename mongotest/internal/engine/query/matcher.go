// Package query parses MongoDB's filters and matches documents with them. A filter is the document that find, delete,
// update and $match take:
//
//	{status: "open", "lines.qty": {$gt: 5, $lt: 10}, $or: [{vip: true}, {$expr: {$gt: ["$total", "$limit"]}}]}
//
// The manual's pages on query predicates decide what the operators mean
// (https://www.mongodb.com/docs/manual/reference/mql/query-predicates/). Its page on null and missing fields decides
// which documents {a: null} matches (https://www.mongodb.com/docs/manual/tutorial/query-for-null-fields/). An operator
// that isn't implemented is refused by its name.
//
// # Who calls it
//
//   - The engine's commands parse the filters of their callers. Package args does it for most of them.
//   - Package plan asks a matcher for bounds to choose an index, and matches each document that the index finds.
//     Package router asks for bounds to find the shards.
//   - Package pipeline parses $match, and the filters in $geoNear, $lookup and $graphLookup.
//   - Packages update and projection parse array filters, $pull and $elemMatch. They ask for the array element by which
//     a query matched, which "$" in a path stands for. An upsert asks for the equalities of its query.
//   - Packages forms and indexes parse the filters that are stored with a collection: validators and partial indexes.
//
// # The tree
//
// [Parse] makes a tree of a filter. The filter above becomes:
//
//	and ─┬─ onPath "status" ───── leaf equal "open"
//	     ├─ onPath "lines.qty" ── every ─┬─ leaf ordered $gt 5
//	     │                               └─ leaf ordered $lt 10
//	     └─ or ─┬─ onPath "vip" ── leaf equal true
//	            └─ exprNode
//
// There are three kinds of conditions, from the root down:
//
//   - A node is a condition on a whole document.
//   - A cond is a condition on the values at one path. It is also used on one value alone: for an element of an array
//     in $elemMatch.
//   - A predicate tests one value. A leaf makes a cond of it: some value at the path must pass.
//
// # Steps
//
//  1. [Parse] makes a parser with the tables of operators (operators.go). It looks up each name of the filter there:
//     operators that stand where a field name could ("$and"), and operators on a field's value ("$gt"). The operator's
//     parser checks the argument, and returns a node or a cond.
//  2. [Matcher.Match] runs the tree on a document. A walker (walk.go) goes through arrays on the way to the values of
//     a path.
//  3. Other methods only read the tree: [Matcher.Bounds] and the like for an index, [Matcher.EqualityFields] for an
//     upsert, [Matcher.Regions] and [Matcher.FindNear] for a geospatial index. A new operator needs nothing there: a
//     condition that they don't know has no bounds.
//
// [Explain] is apart from the tree. It says why a document doesn't match, and parses each condition again.
//
// # Files
//
//	parse.go, parser.go, field.go     how a filter becomes a tree
//	operators.go                      the tables, which refer to all operators
//	matcher.go, walk.go               the tree, and how it is run
//	compare.go, element.go, array.go, bits.go, regex.go, geo.go, near.go, logic.go, sample.go, text.go
//	                                  the operators
//	bounds.go, bounds_operator.go, interval.go, region.go
//	                                  what an index can do for a filter
//	equality.go                       what an upsert takes from a filter
//	special.go                        which of $near and $text may stand together, and where
//	explain.go, explain_leaf.go       why a document doesn't match
//
// # Invariants
//
//   - A matcher never changes. Several goroutines may use it, and [Matcher.Bind] returns another one.
//   - Bounds exclude no document that matches. They may let through others: a caller matches each document that an
//     index finds.
//   - bsonval.Missing stands for the value of a path that leads nowhere. {a: null} matches it, {a: {$gt: 1}} doesn't.
//   - Strings are compared by their keys under the filter's collation. A predicate keeps the value as it was given, and
//     its key beside it. Bounds have keys, as an index with the same collation does.
//   - Only $expr and the watch of a command that is over can fail while a document is matched.
package query

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// Options is what a filter may refer to beside the document. The zero value is a filter without variables.
type Options struct {
	Now  time.Time      // $$NOW in $expr
	Vars map[string]any // variables in $expr, as $lookup's let defines them; names are without $$
	// Collation is the collation under which strings compare. Nil compares them byte by byte.
	Collation *collation.Collator
	// Upsert refuses $expr, which MongoDB doesn't take in an upsert.
	Upsert bool
	// Stored refuses $rand, which MongoDB doesn't take in a collection's validator.
	Stored bool
	// Scope, when not nil, takes the place of Vars and Collation. It has only the names of the variables, because a
	// pipeline is parsed once and then run with different values: [Matcher.Bind] gives them.
	Scope *expr.Scope
	// Watch ends the loops of a Match.
	Watch *interrupt.Watch
	// Special, when not nil, allows $near and $text.
	Special *Special
	// InMatch says that the filter is a $match, in which MongoDB refuses $near and $text with other errors.
	InMatch bool
}

// Matcher is a parsed filter. It is immutable and safe for concurrent use.
type Matcher struct {
	root node
	base *expr.Context       // the variables, $$NOW and the watch; it has no document
	by   *collation.Collator // nil for the simple collation
}

// Match reports whether the document matches. Only $expr and the watch can fail.
func (m *Matcher) Match(doc bson.D) (bool, error) {
	return m.root.match(m.base, doc, nil)
}

// MatchArrayIndex is Match, and also returns which array element the positional operator "$" stands for: the position
// of the element by which the document matched.
//
//	{"a.b": 2}   on   {a: [{b: 1}, {b: 2}]}   gives 1, so that {$set: {"a.$.c": 3}} sets a.1.c
//
// If arrays are nested, it is the position in the outermost array. If several conditions match by an element, the last
// condition decides. The index is -1 if no condition does.
func (m *Matcher) MatchArrayIndex(doc bson.D) (matched bool, index int, err error) {
	index = -1
	matched, err = m.root.match(m.base, doc, &index)
	if !matched || err != nil {
		return false, -1, err
	}
	return true, index, nil
}

// Bind returns the matcher with the variables, $$NOW and the watch of a context. They replace the variables, the
// time and the watch with which the filter was parsed. The context must have every variable that the filter names.
func (m *Matcher) Bind(c *expr.Context) *Matcher { return &Matcher{root: m.root, base: c, by: m.by} }

// BindWatch returns the matcher with a watch that ends the loops of a Match. A validator is parsed once, and used by
// many commands, each with a watch of its own.
func (m *Matcher) BindWatch(w *interrupt.Watch) *Matcher { return m.Bind(m.base.WithWatch(w)) }

// Vars returns the variables that the filter was parsed with.
func (m *Matcher) Vars() map[string]any { return m.base.Vars() }

// Collation returns the collation that the filter was parsed with. Bounds have its keys in the place of strings.
func (m *Matcher) Collation() *collation.Collator {
	if m == nil {
		return nil
	}
	return m.by
}

// Watch returns the watch that ends the loops of a Match.
func (m *Matcher) Watch() *interrupt.Watch { return m.base.Watch }

// IsEmpty reports whether the filter has no condition at all.
func (m *Matcher) IsEmpty() bool {
	all, ok := m.root.(and)
	return ok && len(all) == 0
}

// RequireBoth returns a matcher for documents that match both a and b, which must have the same collation. $lookup and
// $graphLookup call it to add the condition of a join to the filter of their pipeline. A nil matcher has no condition.
func RequireBoth(a, b *Matcher) *Matcher {
	switch {
	case a == nil || a.IsEmpty():
		return b
	case b == nil || b.IsEmpty():
		return a
	}
	// Only one context is passed down a tree. If both have variables, each keeps its own.
	if len(a.base.Vars()) > 0 && len(b.base.Vars()) > 0 || a.base.Now != b.base.Now {
		return &Matcher{root: and{scoped{a}, scoped{b}}, base: a.base, by: a.by}
	}
	base := a.base
	if len(b.base.Vars()) > 0 {
		base = b.base
	}
	return &Matcher{root: and{a.root, b.root}, base: base, by: a.by}
}

// scoped is a whole matcher as one condition of another. It is matched with its own variables and $$NOW.
type scoped struct{ m *Matcher }

func (s scoped) match(_ *expr.Context, d bson.D, rec *int) (bool, error) {
	return s.m.root.match(s.m.base, d, rec)
}

// node is a condition on a whole document. match gets the context of the matcher. The context is nil below
// $elemMatch, where no condition needs it. If rec isn't nil, match stores there the position of the array element that
// matched. It leaves rec as it is if the document matched by no element.
type node interface {
	match(c *expr.Context, d bson.D, rec *int) (bool, error)
}

// The nodes that consist of others. An empty and matches every document, an empty or no document.
type (
	and []node
	or  []node
	nor []node
)

func (n and) match(c *expr.Context, d bson.D, rec *int) (bool, error) {
	for _, x := range n {
		if ok, err := x.match(c, d, rec); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (n or) match(c *expr.Context, d bson.D, rec *int) (bool, error) {
	for _, x := range n {
		if ok, err := x.match(c, d, rec); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// match never sets a position: a document matches $nor because no element does.
func (n nor) match(c *expr.Context, d bson.D, _ *int) (bool, error) {
	ok, err := or(n).match(c, d, nil)
	return !ok && err == nil, err
}

// appendConjuncts appends the conditions that every match of a node must fulfill: the conditions of an $and and of the
// $ands in it, or else the node itself. Its callers look for conditions that an index can serve.
func appendConjuncts(list []node, n node) []node {
	all, ok := n.(and)
	if !ok {
		return append(list, n)
	}
	for _, x := range all {
		list = appendConjuncts(list, x)
	}
	return list
}
