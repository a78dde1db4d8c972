package grammar

// This file has the generator's state and its choices, and the names of fields.

import (
	"maps"
	"math/rand/v2"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// gen makes one case. Everything it makes follows from the seed and the case's number, so it is never shared.
type gen struct {
	*rand.Rand
	// depth is how much deeper expressions may still nest.
	depth int
	// vars are the aggregation variables in scope, without their $$.
	vars []string
}

// chance is true in percent of cases.
func (g *gen) chance(percent int) bool { return g.IntN(100) < percent }

// pick chooses one of the values. All of them are computed before, so that each choice takes the same random numbers
// whatever it is.
func pick[T any](g *gen, from ...T) T { return from[g.IntN(len(from))] }

// pickKey chooses a key of a table, the same one for the same state of the generator.
func pickKey[V any](g *gen, table map[string]V) string {
	return pick(g, slices.Sorted(maps.Keys(table))...)
}

// list makes between low and high elements.
func list(g *gen, low, high int, f func() any) bson.A {
	out := bson.A{}
	for range low + g.IntN(high-low+1) {
		out = append(out, f())
	}
	return out
}

// deeper runs f one level down.
func deeper[T any](g *gen, f func() T) T {
	g.depth--
	defer func() { g.depth++ }()
	return f()
}

// keys is the alphabet of field names. What a field mostly holds follows from its name, so that operators
// find operands that they take; see kindOf.
var keys = []string{"a", "b", "c", "d", "e"}

// kind is a group of BSON types that operators ask for.
type kind int

const (
	anyKind kind = iota
	num
	str
	arr
	obj
	date
	boolean
	kinds
)

// kindOf is what the fields of these names mostly hold.
var kindOf = map[string]kind{"a": num, "b": str, "c": arr, "d": obj, "e": date}

// keyFor is a field that mostly holds values of a kind.
func (g *gen) keyFor(k kind) string {
	for key, of := range kindOf {
		if of == k && !g.chance(5) {
			return key
		}
	}
	return pick(g, keys...)
}

// path is a dotted path: mostly a field, sometimes one below it or an array's element.
func (g *gen) path() string {
	switch g.IntN(10) {
	case 0, 1:
		return "d." + pick(g, keys...)
	case 2:
		return "c." + pick(g, keys...)
	case 3:
		return "c." + pick(g, "0", "1", "2")
	case 4:
		return "d." + pick(g, keys...) + "." + pick(g, keys...)
	}
	return pick(g, keys...)
}
