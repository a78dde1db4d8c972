package grammar

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// form is an aggregation operator: the kind of its result and a way to make its operand.
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

// expr makes an expression whose value is mostly of a kind, at most depth operators deep.
func (g *gen) exprTo(k kind, depth int) any {
	saved := g.depth
	g.depth = depth
	defer func() { g.depth = saved }()
	return g.expr(k)
}

func (g *gen) boolExpr(depth int) any { return g.exprTo(boolean, depth) }

// operatorExpr makes an expression that is an operator.
func (g *gen) operatorExpr(depth int) any {
	saved := g.depth
	g.depth = depth
	defer func() { g.depth = saved }()
	return g.apply(pickKey(g, exprOps))
}

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

func (g *gen) apply(name string) any {
	if name == "$rand" { // the only thing that is known of it
		return tree.D("$lt", bson.A{tree.D("$rand", bson.D{}), 1.0})
	}
	return deeper(g, func() any { return bson.D{{Key: name, Value: exprOps[name].operand(g)}} })
}

// leaf is a field, a variable or a constant.
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

func (g *gen) field(k kind) string {
	switch {
	case g.chance(12):
		return "$" + g.path()
	case k == num && g.chance(20):
		return pick(g, "$d.a", "$_id")
	}
	return "$" + g.keyFor(k)
}

// constant is a value that can't be taken for an expression.
func (g *gen) constant(k kind) any {
	v := g.valueOf(k, 1)
	switch v.(type) {
	case bson.D, bson.A:
		return tree.D("$literal", v)
	}
	return v
}

// operand makers, for the tables

func one(k kind) func(g *gen) any { return func(g *gen) any { return g.expr(k) } }

// single makes an operand alone or, now and then, in an array of one.
func single(k kind) func(g *gen) any {
	return func(g *gen) any {
		if g.chance(80) {
			return g.expr(k)
		}
		return bson.A{g.expr(k)}
	}
}

func some(k kind, low, high int) func(g *gen) any {
	return func(g *gen) any { return list(g, low, high, func() any { return g.expr(k) }) }
}

func args(ks ...kind) func(g *gen) any {
	return func(g *gen) any {
		out := bson.A{}
		for _, k := range ks {
			out = append(out, g.expr(k))
		}
		return out
	}
}

// small makes a small number, sometimes by an expression.
func (g *gen) small() any {
	if g.chance(10) {
		return g.expr(num)
	}
	return pick[any](g, int32(0), int32(1), int32(2), int32(-1), int64(3), 1.0)
}

// with makes an expression in which more variables are in scope.
func (g *gen) with(k kind, vars ...string) any {
	saved := g.vars
	g.vars = append(slices.Clone(saved), vars...)
	defer func() { g.vars = saved }()
	return g.expr(k)
}
