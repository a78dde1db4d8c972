package expr

import "github.com/docmodel/docmodel/mongotest/internal/engine/collation"

// Scope is what an expression is parsed with: the operators that there are, the variables that the expression may use
// beside the system's own, and the collation that it compares under. [NewScope] makes one. The zero Scope has no
// operators.
type Scope struct {
	operators table
	names     []string // of the variables
	collation *collation.Collator
	scored    bool // the documents have a text score
}

// parser parses an operator's argument. It parses the expressions in it with the scope that it gets.
type parser func(name string, arg any, s Scope) (Expr, error)

// table is operators by name: those of one file, or all of them.
type table map[string]parser

// Under returns the scope with another collation.
func (s Scope) WithCollation(c *collation.Collator) Scope {
	s.collation = c
	return s
}

// Collation returns the collation that expressions compare under.
func (s Scope) Collation() *collation.Collator { return s.collation }

// With returns a scope that has the variables too.
func (s Scope) WithVariables(names ...string) Scope {
	s.names = append(s.names[:len(s.names):len(s.names)], names...)
	return s
}

// Scored returns the scope of documents that have a score in a text search. Their context must have it too.
func (s Scope) WithScore() Scope {
	s.scored = true
	return s
}

// Unscored returns the scope of documents that have no score.
func (s Scope) WithoutScore() Scope {
	s.scored = false
	return s
}

// IsScored reports whether the documents have a score.
func (s Scope) IsScored() bool { return s.scored }

func (s Scope) hasVariable(name string) bool {
	for _, n := range s.names {
		if n == name {
			return true
		}
	}
	return false
}

// bindCollation gives a function the scope's collation.
func (s Scope) bindCollation(f func(by *collation.Collator, args []any) (any, error)) values {
	return func(args []any) (any, error) { return f(s.collation, args) }
}
