package grammar

import (
	"maps"
	"slices"
)

// The tables of operators refer to each other through functions, so they are filled here, not where they
// are declared. What the engine doesn't have is taken out of them: there would be nothing to compare.
func init() {
	fillFilters()
	fillExprs()
	fillStages()
}

// restrict takes from a table what isn't among the names.
func restrict[V any](table map[string]V, names []string) {
	maps.DeleteFunc(table, func(name string, _ V) bool { return !slices.Contains(names, name) })
}
