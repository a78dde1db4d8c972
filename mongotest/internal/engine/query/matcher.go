// Package query parses MongoDB filters and matches documents with them.
//
// The manual's pages on query predicates decide what the operators mean
// (https://www.mongodb.com/docs/manual/reference/mql/query-predicates/), and
// its page on querying null and missing fields what those match
// (https://www.mongodb.com/docs/manual/tutorial/query-for-null-fields/). An
// operator that isn't here is an error that names it.
//
// # How a filter is parsed and matched
//
//  1. [Parse] makes a parser with the tables of operators. It parses each condition by the table: operators that stand
//     where a field name could ("$and"), and operators on a field's value ("$gt").
//  2. The result is a tree of nodes: conditions on documents, with conditions on the values at a path below them.
//  3. [Matcher.Match] runs the tree on a document. walk.go goes through arrays on the way to the values of a path.
//
// A matcher also says what an index can do for it ([Matcher.Bounds],
// [Matcher.Or]) and what an upsert takes over ([Matcher.EqualityFields]). explain.go says why a document doesn't match.
//
// # Files
//
// parser.go and matcher.go have what parsing and matching share. Other files have operators, bounds or explanations,
// and refer to those two. operators.go has the tables and is on top: an operator that parses filters itself, such as
// $elemMatch, finds others by its parser.
package query

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// Options is what a filter may refer to beside the document.
type Options struct {
	Now  time.Time      // $$NOW in $expr
	Vars map[string]any // variables in $expr, as $lookup's let defines them
	// Collation is what strings compare under; nil means byte by byte.
	Collation *collation.Collator
	// Upsert refuses $expr, which MongoDB doesn't take in an upsert.
	Upsert bool
	// Stored refuses $rand, which MongoDB doesn't take in a collection's validator.
	Stored bool
	// Scope, when not nil, names the variables instead, and the collation; [Matcher.With] gives them values.
	Scope *expr.Scope
	// Watch ends the loops of a Match.
	Watch *interrupt.Watch
	// Special, when not nil, allows $near and $text.
	Special *Special
	// InMatch says that the filter is a $match, where other errors tell that they aren't allowed.
	InMatch bool
}

// Matcher is a parsed filter. It is immutable and safe for concurrent use.
type Matcher struct {
	root node
	base *expr.Context
	by   *collation.Collator
}

// Match reports whether the document matches. Only $expr and the watch can fail.
func (m *Matcher) Match(doc bson.D) (bool, error) {
	return m.root.match(m.base, doc, nil)
}

// MatchArrayIndex is Match, and also returns the position of the array element
// by which the document matched, for the positional operator: the outermost
// array's when several nest, the last condition's when several have one, and -1
// when none has.
func (m *Matcher) MatchArrayIndex(doc bson.D) (matched bool, index int, err error) {
	index = -1
	matched, err = m.root.match(m.base, doc, &index)
	if !matched || err != nil {
		return false, -1, err
	}
	return true, index, nil
}

// With returns the matcher with the context's variables and time in place of
// those it was parsed with, whose names it must have.
func (m *Matcher) With(c *expr.Context) *Matcher { return &Matcher{root: m.root, base: c, by: m.by} }

// Watched returns the matcher with a watch that ends the loops of a Match.
func (m *Matcher) Watched(w *interrupt.Watch) *Matcher { return m.With(m.base.WithWatch(w)) }

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

// And returns a matcher for documents that match both, which have the same collation.
func And(a, b *Matcher) *Matcher {
	switch {
	case a == nil || a.IsEmpty():
		return b
	case b == nil || b.IsEmpty():
		return a
	}
	if len(a.base.Vars()) > 0 && len(b.base.Vars()) > 0 || a.base.Now != b.base.Now {
		return &Matcher{root: and{bound{a}, bound{b}}, base: a.base, by: a.by}
	}
	base := a.base
	if len(b.base.Vars()) > 0 {
		base = b.base
	}
	return &Matcher{root: and{a.root, b.root}, base: base, by: a.by}
}

// bound is a matcher as part of another, with the variables it was parsed with.
type bound struct{ m *Matcher }

func (b bound) match(_ *expr.Context, d bson.D, rec *int) (bool, error) {
	return b.m.root.match(b.m.base, d, rec)
}

// node is a condition on a whole document. rec, when not nil, receives the
// position of the array element that matched.
type node interface {
	match(c *expr.Context, d bson.D, rec *int) (bool, error)
}

type (
	and  []node
	or   []node
	nor  []node
	test struct{ e expr.Expr } // $expr
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

func (n nor) match(c *expr.Context, d bson.D, _ *int) (bool, error) {
	ok, err := or(n).match(c, d, nil)
	return !ok && err == nil, err
}

// appendConjuncts appends the conditions of an $and, or the node itself.
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
