package expr

import (
	"maps"
	"slices"
)

// operators are the operators of all families. The parsers can't refer to this table, because it refers to them. They
// find other operators by their [Scope].
var operators = joinTables(
	literals, arithmetic, powers, trigonometry, bitwise, binaries, rounding, totals, arrayRanking, quantileExpressions,
	comparison, logic, variables, arrays, arraySearch, arrayMaking, objects, sets, texts, substrings, searching, regexes,
	conversions, dateParts, dateMath, dateMaking, dateReading, metadata,
)

// joinTables panics if two tables have the same operator.
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

// NewScope returns a scope with all operators, these variables, and the simple collation.
func NewScope(names ...string) Scope { return Scope{operators: operators, names: names} }

// Operators returns the names of the operators, sorted.
func Operators() []string { return slices.Sorted(maps.Keys(operators)) }

// IsOperator reports whether MongoDB has an operator of that name, whether this engine has it or not.
func IsOperator(name string) bool {
	_, ok := operators[name]
	return ok || slices.Contains(absent, name)
}
