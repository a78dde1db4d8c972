// Cases that the runner keeps from the server. The comments show a command for each reason.

package rules

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// ReasonToWithhold names the reason for which a case isn't sent to the server, "" for most: a fault in the server at
// hand (DocumentDB) ends the processes behind it, and with them everything that runs there meanwhile.
func ReasonToWithhold(c cases.Case) string {
	if cases.HasStage(c, "$documents") && (cases.HasStage(c, "$out") || cases.HasStage(c, "$merge")) {
		return "server ends: $documents with $out or $merge"
	}
	if prunesEarly(c.Get("pipeline")) {
		return "server ends: $redact that prunes every document, before another stage"
	}
	if changesCaseOfType(c) {
		return "server ends: a letter-case operator on the result of $type, or on $toString of a boolean"
	}
	if hasElementBesidePath(c.Get("projection")) || hasElementBesidePath(c.Get("fields")) {
		return "server ends: a projection by $elemMatch beside a dotted path"
	}
	if hasEmptyPairs(c.Command) {
		return "server ends: $arrayToObject of an empty constant"
	}
	if hasConstantMerge(c.Get("projection")) || hasConstantMerge(c.Get("fields")) {
		return "server ends: a projection with $mergeObjects or $unsetField of a constant"
	}
	if hasConstantInDotted(c.Get("projection")) || hasConstantInDotted(c.Get("fields")) {
		return "server ends: a dotted path of a projection with a constant expression"
	}
	if hasPercentileThenFill(c.Get("pipeline")) {
		return "server ends: $fill of what $percentile or $median of a group gave"
	}
	return ""
}

// hasPercentileThenFill reports whether a $fill comes after a $group with $percentile or $median:
//
//	[{$group: {_id: null, m: {$median: …}}}, {$fill: …}]
func hasPercentileThenFill(pipeline any) bool {
	stages, _ := pipeline.(bson.A)
	found, group := false, false
	for _, s := range stages {
		group = group ||
			(cases.Case{Command: tree.D("$group", tree.Lookup(s, "$group"))}).Uses("$percentile", "$median")
		found = found || group && tree.Lookup(s, "$fill") != nil
	}
	return found
}

// prunesEarly reports whether a $redact that isn't the last stage can prune:
//
//	[{$redact: {$cond: ["$a", "$$KEEP", "$$PRUNE"]}}, {$limit: 1}]
func prunesEarly(pipeline any) bool {
	stages, _ := pipeline.(bson.A)
	found := false
	for i, s := range stages {
		redact, ok := tree.Lookup(s, "$redact").(bson.D)
		found = found || ok && i < len(stages)-1 && mentions(redact, "$$PRUNE")
	}
	return found
}

// changesCaseOfType reports whether a letter-case operator has $type, or $toString of a boolean, as an operand. The
// last example counts if the case has a boolean anywhere.
//
//	{$toUpper: {$type: "$a"}}
//	{$toLower: {$toString: true}}
//	{$toLower: {$toString: "$a"}}
func changesCaseOfType(c cases.Case) bool {
	found := false
	bools := c.HasValue(func(v any) bool { _, isBool := v.(bool); return isBool })
	lookAtOperands := func(key string, v any) {
		switch key {
		case "$toUpper", "$toLower", "$strcasecmp":
			list, ok := v.(bson.A)
			if !ok {
				list = bson.A{v}
			}
			for _, x := range list {
				doc, _ := x.(bson.D)
				_, isBool := unwrapOperand(tree.Lookup(x, "$toString")).(bool)
				found = found || len(doc) == 1 && doc[0].Key == "$type" || isBool || bools &&
					tree.HasField(doc, "$toString")
			}
		}
	}
	tree.Walk(c.Command, lookAtOperands)
	return found
}

// hasElementBesidePath reports whether a projection has both $elemMatch and a dotted path:
//
//	{a: {$elemMatch: {b: 1}}, "d.e": 1}
func hasElementBesidePath(projection any) bool {
	fields, _ := projection.(bson.D)
	return slices.ContainsFunc(fields, func(e bson.E) bool { return tree.Lookup(e.Value, "$elemMatch") != nil }) &&
		slices.ContainsFunc(fields, func(e bson.E) bool { return strings.Contains(e.Key, ".") })
}

// hasConstantMerge reports whether $mergeObjects or $unsetField has a document without field paths as its operand:
//
//	{b: {$mergeObjects: {c: 1}}}
//	{b: {$unsetField: {field: "c", input: {c: 1}}}}
func hasConstantMerge(projection any) bool {
	found := false
	tree.Walk(projection, func(key string, v any) {
		_, isDoc := unwrapOperand(v).(bson.D)
		input, isInput := tree.Lookup(v, "input").(bson.D)
		found = found || key == "$mergeObjects" && isDoc && !mentions(v, "$") ||
			key == "$unsetField" && isInput && !mentions(input, "$")
	})
	return found
}

// hasEmptyPairs reports whether $arrayToObject has {$literal: []} as its operand.
func hasEmptyPairs(command bson.D) bool {
	found := false
	tree.Walk(command, func(key string, v any) {
		found = found || key == "$arrayToObject" && tree.IsEmptyArray(tree.Lookup(unwrapOperand(v), "$literal"))
	})
	return found
}

// hasConstantInDotted reports whether a dotted path of a projection has a constant:
//
//	{"a.b": {$add: [1, 2]}}
func hasConstantInDotted(projection any) bool {
	fields, _ := projection.(bson.D)
	for _, e := range fields {
		if strings.Contains(e.Key, ".") && hasConstant(e.Value) {
			return true
		}
	}
	return false
}
