package expr

// This file joins the tables of the families to the table of all operators, which NewScope puts into a Scope.

import (
	"maps"
	"slices"
)

// operators are the operators of all families. The parsers can't refer to this table, because Go doesn't allow a
// variable that refers to itself. They find other operators by their [Scope].
var operators = joinTables(
	literals, comparison, logic, variables,
	arithmetic, powers, trigonometry, bitwise, rounding, totals,
	arrays, arraySearch, arrayMaking, arrayRanking, arrayQuantiles, sets, objects,
	texts, substrings, searching, regexes, binaries, conversions,
	dateParts, dateMath, dateMaking, dateReading, metadata,
)

// joinTables returns a table with the operators of all tables. It panics if two tables have the same operator.
func joinTables(families ...table) table {
	all := table{}
	for _, family := range families {
		for name, p := range family {
			if _, twice := all[name]; twice {
				panic("expr: " + name + " is registered twice")
			}
			all[name] = p
		}
	}
	return all
}

// NewScope returns a scope with all operators, variables of these names (without $$), and the simple collation.
func NewScope(names ...string) Scope { return Scope{operators: operators, names: names} }

// Operators returns the names of this engine's operators, sorted. The tests of package operators compare them with
// MongoDB's manual.
func Operators() []string { return slices.Sorted(maps.Keys(operators)) }

// IsOperator reports whether MongoDB has an operator of that name, whether this engine has it or not. Package
// projection has an error of its own for a name that isn't an operator.
func IsOperator(name string) bool {
	_, ok := operators[name]
	return ok || slices.Contains(absent, name)
}
