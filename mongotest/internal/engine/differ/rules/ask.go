// Questions to the engine: rules ask what it does with another command, or with other documents. Each question runs a
// case (x.run), so most rules ask last, after the facts that cost nothing.

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

// failsFor reports whether the engine fails as the server does after the command has been rewritten.
func (x difference) failsFor(change func(any) any) bool {
	return x.failsLike(x.MapCommand(change))
}

// failsLike reports whether the engine fails with the server's code when it runs another case, with all documents or
// with one of them: the server may look at another document first, which fails with another code.
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

// sameError reports whether an outcome of the engine has the server's error. Some operators check their operands in
// another order, and some errors have no code of MongoDB's on the server.
func (x difference) sameError(out outcome.Outcome) bool {
	sameOperator := out.Code == 17046 && x.server.Code == 17310 || // each is of the first operand of $setIsSubset
		out.Code == 51045 && x.server.Code == 51044 || // of either operand of $atan2
		out.Code == 28765 && x.server.Code == 14 && strings.HasPrefix(x.server.Text, "$bitNot ")
	return out.Code == x.server.Code || sameOperator || out.FailsComputing() && isOwnCode(x.server.Code)
}

// isOwnCode reports whether a code is one of PostgreSQL's own: five characters of six bits each, the first of which is
// M.
func isOwnCode(code int32) bool { return code >= 1<<18 && code&63 == 'M'-'0' }

// computesEagerly reports whether the server computes an operand of one of the operators that needn't be computed, and
// fails. Then the engine fails too if a $let around the operator computes all operands first:
//
//	{$ifNull: ["$a", {$divide: [1, 0]}]}
//	{$let: {vars: {z0: {$divide: [1, 0]}}, in: {$ifNull: ["$a", {$divide: [1, 0]}]}}}
func (x difference) computesEagerly(operators ...string) bool {
	computeFirst := func(v any) any {
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
	}
	return x.onlyServer() && x.Uses(operators...) && x.failsFor(computeFirst)
}

// listOperands returns the operators in an operator's argument, without those inside them. It leaves out an "in" or
// "cond" that uses variables which only the operator itself sets, as $map and $filter do.
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

// failsOnConstant reports whether the server fails with the error of an expression that doesn't depend on a document.
// The server may compute such a constant before it looks at documents.
func (x difference) failsOnConstant() bool {
	return x.failsOnConstantIn(tree.Map(x.Command, dropOnNull))
}

// failsOnConstantIn is failsOnConstant for a part of the command. It computes each constant alone, for one document.
func (x difference) failsOnConstantIn(command any) bool {
	found := false
	tryConstant := func(v any) {
		doc, ok := v.(bson.D)
		if found || !ok || len(doc) != 1 || !hasConstantOperator(doc) || mentionsField(doc) ||
			doc[0].Key == "$literal" {
			return
		}
		c := cases.Case{Collection: "c", Docs: []bson.D{tree.D("_id", 1)}}
		c.Command = tree.D("aggregate", "c", "pipeline", bson.A{tree.D("$replaceWith", tree.D("z", doc))}, "cursor",
			bson.D{})
		found = x.failsLike(c)
	}
	tree.WalkValues(command, tryConstant)
	return found
}

// failsBecauseOf reports whether the engine fails because of the operators, or of an expression in them: without them
// it doesn't fail, or fails with another code.
func (x difference) failsBecauseOf(operators ...string) bool {
	return x.onlyEngine() && x.Uses(operators...) && x.run(x.Case).Text == x.engine.Text &&
		x.run(x.removeOperators(operators...)).Code != x.engine.Code
}

// failsOnAnother reports whether the side that fails does so as the engine does with one of the documents alone. Then
// the two sides chose different documents, and only one choice fails.
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

// sameFor reports whether the engine gives the server's outcome after the command has been rewritten, except for the
// order of fields. A rewriting that changes nothing in the engine's outcome explains nothing.
func (x difference) sameFor(change func(any) any) bool {
	c := x.MapCommand(change)
	return outcome.Compare(x.run(c), x.engine) != outcome.Same && x.sameAsCase(c)
}

// sameAsCase reports whether the engine's outcome of another case equals the server's of this case, except for the
// order of fields.
func (x difference) sameAsCase(c cases.Case) bool {
	x.engine = x.run(c)
	return x.sameAfter(sortFields)
}

// sameForDocs reports whether the outcomes are equal, except for the order of fields, if the case's documents have gone
// through f before. The outcomes go through f too, because they contain values of the documents.
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

// sameButEmptiedFor is sameButEmptied after the command has been rewritten.
func (x difference) sameButEmptiedFor(change func(any) any) bool {
	x.engine = x.run(x.MapCommand(change))
	return !x.engine.Fails() && x.sameButEmptied()
}

// storesAllAsEquality reports whether an upsert of the server stores $all, or $in of one value, as if it were an
// equality:
//
//	{a: {$all: [/x/]}}  the server inserts {a: /x/}, MongoDB a document without a
//
// It allows for the differences of other rules for updates.
func (x difference) storesAllAsEquality() bool {
	if (x.kind == outcome.OnlyServer || x.kind == outcome.Codes) &&
		strings.HasSuffix(x.server.Text, "has been matched twice") {
		return true
	}
	c := x.Case
	c.Command, _ = replaceAll(c.Command).(bson.D)
	return outcome.Compare(outcome.MapOutcome(x.run(c), simplifyUpdate),
		outcome.MapOutcome(x.server, simplifyUpdate)) == outcome.Same
}

// failsRestricting reports whether the restrictSearchWithMatch of a $graphLookup fails for a document of its
// collection, reached or not.
func (x difference) failsRestricting() bool {
	found := false
	tryRestriction := func(key string, v any) {
		filter := tree.Lookup(v, "restrictSearchWithMatch")
		if key != "$graphLookup" || filter == nil || found {
			return
		}
		c := x.Case
		c.Command = tree.D("aggregate", tree.Lookup(v, "from"), "pipeline", bson.A{tree.D("$match", filter)}, "cursor",
			bson.D{})
		found = x.failsLike(c)
	}
	tree.Walk(x.Command, tryRestriction)
	return found
}
