package expr

// This file has the Scope, which every parser gets. A stage of package pipeline that adds variables, such as $lookup
// with a let, parses its own expressions with a scope that has them.

import "github.com/docmodel/docmodel/mongotest/internal/engine/collation"

// Scope has all that an expression is parsed with: the operators that there are, the variables that the expression may
// use beside the system's own, and the collation that it compares under. [NewScope] makes one. The zero Scope has no
// operators.
type Scope struct {
	operators table
	names     []string // of the variables, without $$
	collation *collation.Collator
	scored    bool // the documents have a text score
}

// parser parses an operator's argument, as it is in the command. name is the operator's, with $: one parser may serve
// several operators. The parser parses expressions in the argument with the scope that it gets.
type parser func(name string, arg any, s Scope) (Expr, error)

// table has parsers by their operators' names: the operators of one file, or all of them.
type table map[string]parser

// WithCollation returns the scope with another collation. The nil Collator is the simple collation.
func (s Scope) WithCollation(c *collation.Collator) Scope {
	s.collation = c
	return s
}

// Collation returns the collation that expressions compare under.
func (s Scope) Collation() *collation.Collator { return s.collation }

// WithVariables returns a scope that has these variables too, by name without $$. $let and the stages with variables
// of their own call it. s stays as it is: the capacity is cut, so that append copies the names.
func (s Scope) WithVariables(names ...string) Scope {
	s.names = append(s.names[:len(s.names):len(s.names)], names...)
	return s
}

// WithScore returns the scope of documents that have a score in a text search. Their context must have it too, see
// [Context.WithScore].
func (s Scope) WithScore() Scope {
	s.scored = true
	return s
}

// WithoutScore returns the scope of documents that have no score, such as the results of a $group.
func (s Scope) WithoutScore() Scope {
	s.scored = false
	return s
}

// IsScored reports whether the documents have a score.
func (s Scope) IsScored() bool { return s.scored }

// hasVariable reports whether an expression may use a variable beside the system's own.
func (s Scope) hasVariable(name string) bool {
	for _, n := range s.names {
		if n == name {
			return true
		}
	}
	return false
}

// bindCollation makes values of a function that compares, by giving it the scope's collation.
func (s Scope) bindCollation(f func(by *collation.Collator, args []any) (any, error)) values {
	return func(args []any) (any, error) { return f(s.collation, args) }
}
