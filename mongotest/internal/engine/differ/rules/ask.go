package rules

import (
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// failsFor reports whether the engine fails as the server does, with the very code, once the command has been changed.
func (x difference) failsFor(change func(any) any) bool {
	return x.failsLike(x.MapCommand(change))
}

// failsLike reports whether the engine fails with the server's code when it computes another case, of all documents or
// of one, as the server may come to another one first. In an update the server's code is one of its own.
func (x difference) failsLike(c cases.Case) bool {
	if !x.server.FailsComputing() {
		return false
	}
	out := x.run(c)
	if x.sameError(out) || !out.FailsComputing() {
		return x.sameError(out)
	}
	return slices.ContainsFunc(c.Docs, func(doc bson.D) bool {
		one := c
		one.Docs = []bson.D{doc}
		return x.sameError(x.run(one))
	})
}

func (x difference) sameError(out outcome.Outcome) bool {
	sameOperator := out.Code == 17046 && x.server.Code == 17310 || // each is of the first operand of $setIsSubset
		out.Code == 51045 && x.server.Code == 51044 || // of either operand of $atan2
		out.Code == 28765 && x.server.Code == 14 && strings.HasPrefix(x.server.Text, "$bitNot ")
	return out.Code == x.server.Code || sameOperator || out.FailsComputing() && isOwnCode(x.server.Code)
}

// ownCode reports whether a code is one of PostgreSQL's, five characters of six bits each, whose first is M.
func isOwnCode(code int32) bool { return code >= 1<<18 && code&63 == 'M'-'0' }

// eager reports whether the server fails to compute what an operand of one of the operators gives, which the engine
// doesn't compute: the engine fails too once it has to.
func (x difference) computesEagerly(operators ...string) bool {
	return x.onlyServer() && x.Uses(operators...) && x.failsFor(func(v any) any {
		doc, ok := v.(bson.D)
		if !ok || len(doc) != 1 || !slices.Contains(operators, doc[0].Key) {
			return v
		}
		var vars bson.D
		for _, e := range listOperands(doc[0].Value) {
			vars = append(vars, bson.E{Key: "z" + strconv.Itoa(len(vars)), Value: e})
		}
		if vars == nil {
			return v
		}
		return tree.D("$let", tree.D("vars", vars, "in", doc))
	})
}

// operands are the expressions within an operator's argument that are operators themselves, without those whose
// variables the operator gives them.
func listOperands(arg any) (list []any) {
	switch arg := arg.(type) {
	case bson.A:
		for _, v := range arg {
			list = append(list, listOperands(v)...)
		}
	case bson.D:
		if len(arg) == 1 && strings.HasPrefix(arg[0].Key, "$") {
			return []any{arg}
		}
		for _, e := range arg {
			if e.Key != "in" && e.Key != "cond" || !mentions(e.Value, "$$") {
				list = append(list, listOperands(e.Value)...)
			}
		}
	}
	return list
}

// constant reports whether an expression of the command fails that has nothing of a document in it.
func (x difference) failsOnConstant() bool {
	return x.failsOnConstantIn(tree.Map(x.Command, dropOnNull))
}

// constantIn is constant for a part of the command.
func (x difference) failsOnConstantIn(command any) bool {
	found := false
	tree.WalkValues(command, func(v any) {
		doc, ok := v.(bson.D)
		if found || !ok || len(doc) != 1 || !hasConstantOperator(doc) || mentionsField(doc) || doc[0].Key == "$literal" {
			return
		}
		c := cases.Case{Collection: "c", Docs: []bson.D{tree.D("_id", 1)}}
		c.Command = tree.D("aggregate", "c", "pipeline", bson.A{tree.D("$replaceWith", tree.D("z", doc))}, "cursor", bson.D{})
		found = x.failsLike(c)
	})
	return found
}

// because reports whether the engine's failure comes from the operators, or from what they hold: it computes the
// command without.
func (x difference) failsBecauseOf(operators ...string) bool {
	return x.onlyEngine() && x.Uses(operators...) && x.run(x.Case).Text == x.engine.Text &&
		x.run(x.removeOperators(operators...)).Code != x.engine.Code
}

// another reports whether the one that fails does so as the engine does with another of the documents.
func (x difference) failsOnAnother() bool {
	failed := x.engine
	if !failed.Fails() {
		failed = x.server
	}
	for _, doc := range x.Docs {
		c := x.Case
		c.Docs = []bson.D{doc}
		// Of two operators that fail, one for a type or an array and one for a path, the engine names the first.
		if out := x.run(c); out.Fails() &&
			(out.Code == failed.Code || (out.Code == 14 || out.Code == 2) && failed.Code == 28) {
			return true
		}
	}
	return false
}

// sameFor reports whether the engine gives what the server does once the command has been changed, but for the order of
// fields, and gave something else before.
func (x difference) sameFor(change func(any) any) bool {
	c := x.MapCommand(change)
	return outcome.Compare(x.run(c), x.engine) != outcome.Same && x.sameAsCase(c)
}

// sameAs reports whether the engine gives for another case what the server does for this one, but for the order of
// fields.
func (x difference) sameAsCase(c cases.Case) bool {
	x.engine = x.run(c)
	return x.sameAfter(sortFields)
}

// sameForDocs reports whether the outcomes are equal, but for the order of fields, for documents whose values have gone
// through f, as what came back goes too.
func (x difference) sameForDocs(f func(any) any) bool {
	c := x.Case
	c.Docs = nil
	for _, doc := range x.Docs {
		doc, _ = tree.Map(doc, f).(bson.D)
		c.Docs = append(c.Docs, doc)
	}
	x.engine = x.run(c)
	return x.sameAfter(func(v any) any { return sortFields(f(v)) })
}

// emptiedFor is sameFor but for empty documents that the server has in place of scalars, or of nothing.
func (x difference) sameButEmptiedFor(change func(any) any) bool {
	x.engine = x.run(x.MapCommand(change))
	return !x.engine.Fails() && x.sameButEmptied()
}

// storesAll reports whether the server does what the engine does with equality in place of $all, and of $in of one
// value, but for what other rules of updates say, or finds that several values of $all are.
func (x difference) storesAllAsEquality() bool {
	if (x.kind == outcome.OnlyServer || x.kind == outcome.Codes) && strings.HasSuffix(x.server.Text, "has been matched twice") {
		return true
	}
	c := x.Case
	c.Command, _ = replaceAll(c.Command).(bson.D)
	return outcome.Compare(outcome.MapOutcome(x.run(c), simplifyUpdate), outcome.MapOutcome(x.server, simplifyUpdate)) == outcome.Same
}

// restricts reports whether the condition of a $graphLookup fails for some document of its collection.
func (x difference) failsRestricting() bool {
	found := false
	tree.Walk(x.Command, func(key string, v any) {
		filter := tree.Lookup(v, "restrictSearchWithMatch")
		if key != "$graphLookup" || filter == nil || found {
			return
		}
		c := x.Case
		c.Command = tree.D("aggregate", tree.Lookup(v, "from"), "pipeline", bson.A{tree.D("$match", filter)}, "cursor", bson.D{})
		found = x.failsLike(c)
	})
	return found
}
