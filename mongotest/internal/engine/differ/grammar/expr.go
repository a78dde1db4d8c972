package grammar

// This file has the grammar of aggregation expressions: kinds, leaves, and makers of operands for the tables.

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// form is an aggregation operator: the kind of its result and a way to make its operand. The kind lets operators be
// found that give what another one takes.
type form struct {
	out     kind
	operand func(g *gen) any
}

// exprOps are the aggregation operators, from several files; exprOpsOf lists them by the kind of their
// results.
var (
	exprOps   = map[string]form{}
	exprOpsOf [kinds][]string
)

// fillExprs fills the tables of expressions. Names are sorted, since pick must find the same one at the same place
// each time.
func fillExprs() {
	for _, table := range []func() map[string]form{
		arithmeticOps, logicOps, arrayOps, setOps, stringOps, dateOps, objectOps, conversionOps,
	} {
		maps.Copy(exprOps, table())
	}
	restrict(exprOps, expr.Operators())
	for _, name := range slices.Sorted(maps.Keys(exprOps)) {
		k := exprOps[name].out
		exprOpsOf[k] = append(exprOpsOf[k], name)
		if k != anyKind {
			exprOpsOf[anyKind] = append(exprOpsOf[anyKind], name)
		}
	}
}

// exprTo makes an expression whose value is mostly of a kind, at most depth operators deep. The depth of the
// expression around it is put back afterwards.
func (g *gen) exprTo(k kind, depth int) any {
	saved := g.depth
	g.depth = depth
	defer func() { g.depth = saved }()
	return g.expr(k)
}

// boolExpr makes an expression for a condition.
func (g *gen) boolExpr(depth int) any { return g.exprTo(boolean, depth) }

// operatorExpr makes an expression that is an operator.
func (g *gen) operatorExpr(depth int) any {
	saved := g.depth
	g.depth = depth
	defer func() { g.depth = saved }()
	return g.apply(pickKey(g, exprOps))
}

// expr makes an expression of a kind at the depth that is left. Now and then it is of another kind, which tests the
// operator's errors and conversions.
func (g *gen) expr(k kind) any {
	if g.chance(4) {
		k = kind(g.IntN(int(kinds)))
	}
	if g.depth <= 0 || g.chance(35) {
		return g.leaf(k)
	}
	names := exprOpsOf[k]
	if g.chance(15) || len(names) == 0 {
		names = exprOpsOf[anyKind]
	}
	return g.apply(pick(g, names...))
}

// apply makes an operator with its operand, one level deeper.
func (g *gen) apply(name string) any {
	if name == "$rand" { // the only thing that is known of it
		return tree.D("$lt", bson.A{tree.D("$rand", bson.D{}), 1.0})
	}
	return deeper(g, func() any { return bson.D{{Key: name, Value: exprOps[name].operand(g)}} })
}

// leaf is a field, a variable or a constant. It ends the recursion of expr.
func (g *gen) leaf(k kind) any {
	switch {
	case g.chance(55):
		return g.field(k)
	case len(g.vars) > 0 && g.chance(40):
		return "$$" + pick(g, g.vars...)
	case g.chance(3):
		return pick[any](g, "$$ROOT", "$$CURRENT.d", "$$REMOVE", nil)
	}
	return g.constant(k)
}

// field makes a path to a field that mostly holds values of a kind.
func (g *gen) field(k kind) string {
	switch {
	case g.chance(12):
		return "$" + g.path()
	case k == num && g.chance(20):
		return pick(g, "$d.a", "$_id")
	}
	return "$" + g.keyFor(k)
}

// constant is a value that can't be taken for an expression: documents and arrays stand in $literal.
func (g *gen) constant(k kind) any {
	v := g.valueOf(k, 1)
	switch v.(type) {
	case bson.D, bson.A:
		return tree.D("$literal", v)
	}
	return v
}

// operand makers, for the tables

// makeOne returns a maker of one operand.
func makeOne(k kind) func(g *gen) any { return func(g *gen) any { return g.expr(k) } }

// makeSingle makes an operand alone or, now and then, in an array of one.
func makeSingle(k kind) func(g *gen) any {
	return func(g *gen) any {
		if g.chance(80) {
			return g.expr(k)
		}
		return bson.A{g.expr(k)}
	}
}

// makeSome returns a maker of low to high operands of one kind.
func makeSome(k kind, low, high int) func(g *gen) any {
	return func(g *gen) any { return list(g, low, high, func() any { return g.expr(k) }) }
}

// makeArgs returns a maker of operands of the kinds in this order.
func makeArgs(ks ...kind) func(g *gen) any {
	return func(g *gen) any {
		out := bson.A{}
		for _, k := range ks {
			out = append(out, g.expr(k))
		}
		return out
	}
}

// smallNumber makes a small number, sometimes by an expression.
func (g *gen) smallNumber() any {
	if g.chance(10) {
		return g.expr(num)
	}
	return pick[any](g, int32(0), int32(1), int32(2), int32(-1), int64(3), 1.0)
}

// exprWithVars makes an expression in which more variables are in scope.
func (g *gen) exprWithVars(k kind, vars ...string) any {
	saved := g.vars
	g.vars = append(slices.Clone(saved), vars...)
	defer func() { g.vars = saved }()
	return g.expr(k)
}
