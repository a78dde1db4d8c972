package rules

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

var aggregateRules = []rule{
	{
		"$merge is all or nothing",
		"MongoDB writes document by document and keeps what it did before an error ($merge).",
		func(x difference) bool {
			return cases.HasStage(x.Case, "$merge") && x.engine.Fails() && x.server.Fails() &&
				outcome.SameCode(x.engine.Code, x.server.Code) && outcome.EqualDocs(x.server.State, x.Docs)
		},
	},
	{
		"a depth of $graphLookup is an int",
		"MongoDB's depthField is a long ($graphLookup).",
		func(x difference) bool { return x.Uses("$graphLookup") && x.sameAfter(widened) },
	},
	{
		"a restriction of $graphLookup is computed for what isn't reached",
		"MongoDB's manual says only that restrictSearchWithMatch is a condition of the search ($graphLookup).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$graphLookup") && x.Uses("$expr") && x.restricts()
		},
	},
	{
		"$merge stores names that begin with a dollar sign",
		"MongoDB's updates and replacements take none (Field Names with Periods and Dollar Signs).",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && x.engine.Code == 52 && cases.HasStage(x.Case, "$merge")
		},
	},
	{
		"$merge takes a name with dots for a name",
		"MongoDB merges by an update, for which it is a path (Update Operators).",
		func(x difference) bool {
			dotted := slices.ContainsFunc(x.server.State, func(doc bson.D) bool {
				return slices.ContainsFunc(doc, func(e bson.E) bool { return strings.Contains(e.Key, ".") })
			})
			return cases.HasStage(x.Case, "$merge") && dotted &&
				(x.kind == outcome.States || x.kind == outcome.OnlyEngine && (x.engine.Code == 40 || x.engine.Code == 28))
		},
	},
	{
		"$merge adds fields in the given order",
		"MongoDB merges by an update, which adds fields in lexicographic order (Update Operators, \"Behavior\").",
		func(x difference) bool {
			return cases.HasStage(x.Case, "$merge") && x.kind == outcome.States && x.sameAfter(sortFields)
		},
	},
	{
		"what is set within an empty array's elements is computed",
		"MongoDB's manual doesn't say whether it is ($set, \"Add an Element to an Array\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$set", "$addFields", "$project") && x.server.FailsComputing() &&
				(hasEmptyArray(x.engine.Reply) || x.HasValue(tree.IsEmptyArray) && x.constant() ||
					slices.ContainsFunc(x.engine.State, func(doc bson.D) bool { return hasEmptyArray(doc) }))
		},
	},
	{
		"an empty document is lost in $facet and $lookup",
		"MongoDB gathers all documents of each pipeline ($facet, $lookup).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$facet", "$lookup") && x.sameAfter(dropEmptyDocuments)
		},
	},
	{
		"$lookup with a field and a pipeline doesn't match missing with missing",
		"MongoDB treats a missing field as null on both sides ($lookup, \"Equality Match with a Single Join Condition\").",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$lookup") && x.Uses("pipeline") && x.Uses("localField") &&
				x.sameAfter(func(v any) any { return sortFields(dropArrays(v)) })
		},
	},
	{
		"$count of nothing is zero",
		"MongoDB's $count is a $group, which returns no document for none ($count).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$count") &&
				(x.sameAfter(dropZeroCounts) || countedNothing(x.server) && !countedNothing(x.engine) || countsCount(x.Case))
		},
	},
	{
		"$group makes null of a missing field in its key or in what it gathers",
		"MongoDB leaves out a field of a document expression that is missing ($group, expression objects).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$group") && x.sameAfter(dropNullFields)
		},
	},
	{
		"$addToSet of a group or a window adds null for a missing field",
		"MongoDB adds nothing for a document without the field ($addToSet (aggregation), \"Missing Fields\").",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$group", "$bucket", "$setWindowFields") &&
				x.Uses("$addToSet") && x.sameAfter(dropNullElements)
		},
	},
	{
		"$setWindowFields can't be partitioned by a missing field",
		"A missing field partitions as null does ($setWindowFields).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Code == 1 && x.Uses("$setWindowFields") && x.Uses("partitionBy")
		},
	},
	{
		"what the server says that it doesn't support",
		"MongoDB has it, as the page of each stage and operator says (Aggregation Operators).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyServer || x.kind == outcome.Codes) && x.server.Code == 115
		},
	},
	{
		"the key of $group is missing when an operator gives nothing",
		"MongoDB groups missing values under null ($group).",
		func(x difference) bool {
			return x.Uses("$group", "$sortByCount") && (x.sameAfter(dropNullID) || lacksID(x.server) && !lacksID(x.engine))
		},
	},
	{
		"a variable of $let can't be used in a variable of $lookup",
		"The variables of \"let\" are any expressions ($lookup).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Code == 17276 && x.Uses("$lookup")
		},
	},
	{
		"an expression in $facet whose value isn't needed isn't computed",
		"MongoDB's manual doesn't say whether it is.",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.because("$facet")
		},
	},
	{
		"$lookup by fields with variables doesn't join what is missing in both",
		"MongoDB takes a missing field for null on both sides ($lookup, localField and foreignField).",
		func(x difference) bool {
			return x.Uses("localField") && x.Uses("let") && x.within(sortFields, "$lookup")
		},
	},
	{
		"a removal and a constant after it become one wrong stage",
		"MongoDB's $unset adds nothing, and the next stage sees what it removed ($unset (aggregation)).",
		func(x difference) bool {
			return constantAfterRemoval(x.Case) && !x.engine.Fails() && !x.server.Fails() &&
				x.apart(sortFields, x.less("$set", "$addFields"),
					x.less("$unset", "$project"), x.less("$set", "$addFields", "$unset", "$project"),
					x.MapCommand(unsetWhole)).emptied() ||
				constantAfterRemoval(x.Case) && x.kind == outcome.OnlyServer && x.failsLike(x.less("$unset", "$project")) ||
				x.kind == outcome.OnlyServer && x.server.Code == 31249 && x.Uses("$project", "$unset")
		},
	},
	{
		"$out and $merge give a duplicate key the code of any error, and $merge doesn't see what it wrote itself",
		"MongoDB answers 11000 (Error Codes), and merges document after document ($merge).",
		func(x difference) bool {
			return (x.kind == outcome.Codes && x.engine.Code == 11000 || x.kind == outcome.OnlyServer && cases.HasStage(x.Case, "$merge")) &&
				x.server.Code == 1 && strings.HasPrefix(x.server.Text, "duplicate key value violates unique constraint")
		},
	},
	{
		"$unwind can't store an index below the array's path, nor below another array",
		"MongoDB stores the index at the path that is named; its manual doesn't say what becomes of an array there ($unwind, includeArrayIndex).",
		func(x difference) bool {
			return x.Uses("$unwind") && x.Uses("includeArrayIndex") &&
				(x.kind == outcome.OnlyServer && x.server.Code == 31249 ||
					x.kind == outcome.Replies && (x.HasValue(tree.IsEmptyArray) || x.HasValue(isDottedIndex)))
		},
	},
	{
		"$merge takes null for the field that identifies a document",
		"MongoDB refuses a document whose \"on\" field is null ($merge, \"on\").",
		func(x difference) bool { return x.kind == outcome.OnlyEngine && x.engine.Code == 51132 },
	},
	{
		"$lookup with variables joins nothing where nobody uses them, or as a field below another",
		"MongoDB joins what the pipeline returns ($lookup).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("let") && cases.HasStage(x.Case, "$lookup") &&
				(!mentions(x.Command, "$$v") || mentions(x.Command, "d.j")) &&
				x.sameAfter(func(v any) any { return sortFields(dropArrays(v)) })
		},
	},
	{
		"$lookup by fields joins a missing field with an empty array",
		"MongoDB takes a missing field for null, which no element of an empty array is ($lookup, localField and foreignField).",
		func(x difference) bool {
			return cases.HasStage(x.Case, "$lookup") && x.Uses("localField") && x.HasValue(tree.IsEmptyArray) &&
				(x.kind == outcome.Replies && x.sameAfter(dropArrays) || x.kind == outcome.OnlyServer && x.failsFor(joinAll))
		},
	},
	{
		"$merge takes modes together that mean nothing",
		"MongoDB refuses to keep or fail on what is matched unless what isn't is inserted ($merge).",
		func(x difference) bool { return x.kind == outcome.OnlyEngine && x.engine.Code == 51181 },
	},
	{
		"an error inside $lookup is lost",
		"An aggregation fails when one of its expressions does ($lookup).",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.because("$lookup")
		},
	},
	{
		"$first and $last of $group are computed for one document, $firstN and $lastN for n",
		"MongoDB's manual doesn't say for which documents they are.",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.Uses("$group", "$bucket") && x.because("$first", "$last", "$firstN", "$lastN")
		},
	},
}

// joinAll makes $lookup join every document.
func joinAll(v any) any {
	if doc, ok := v.(bson.D); ok && tree.HasField(doc, "localField") {
		return without(without(doc, "localField"), "foreignField")
	}
	return v
}

// emptied reports whether the outcomes are equal but for empty documents that the server has in place of scalars, or of
// nothing.
func (x difference) emptied() bool {
	engine, server := outcome.MapOutcome(x.engine, sortFields), outcome.MapOutcome(x.server, sortFields)
	if len(engine.State) != len(server.State) {
		return false
	}
	for i := range engine.State {
		if !equalButEmpty(engine.State[i], server.State[i]) {
			return false
		}
	}
	return equalButEmpty(engine.Reply, server.Reply)
}

func equalButEmpty(engine, server any) bool {
	switch e := engine.(type) {
	case bson.D:
		s, ok := server.(bson.D)
		s = slices.DeleteFunc(slices.Clone(s), func(f bson.E) bool { return !tree.HasField(e, f.Key) && isHollow(f.Value) })
		return ok && len(e) == len(s) &&
			!slices.ContainsFunc(e, func(f bson.E) bool { return !tree.HasField(s, f.Key) || !equalButEmpty(f.Value, tree.Lookup(s, f.Key)) })
	case bson.A:
		s, ok := server.(bson.A)
		for i := 0; ok && i < len(e) && i < len(s); i++ {
			ok = equalButEmpty(e[i], s[i])
		}
		return ok && len(e) == len(s)
	}
	return isHollow(server) || string(tree.Encode(engine)) == string(tree.Encode(server))
}

// constantAfterRemoval reports whether a stage that removes fields is followed by one that sets a constant.
func constantAfterRemoval(c cases.Case) bool {
	found := false
	tree.WalkValues(bson.A{c.Get("pipeline"), c.Change()}, func(v any) {
		pipeline, _ := v.(bson.A)
		removed := false
		for _, stage := range pipeline {
			stage, ok := stage.(bson.D)
			if !ok || len(stage) != 1 {
				continue
			}
			switch stage[0].Key {
			case "$unset", "$project":
				removed = true
			case "$set", "$addFields":
				found = found || removed
			}
		}
	})
	return found
}

// dropZeroCounts removes the documents that begin with a count of zero, which no stored document does.
func dropZeroCounts(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool {
		doc, ok := v.(bson.D)
		return ok && len(doc) > 0 && doc[0].Value == int32(0) && (len(doc) == 1 || doc[0].Key == "n" || doc[0].Key == "count")
	})
}

func hasEmptyArray(v any) (found bool) {
	tree.Map(v, func(v any) any {
		a, ok := v.(bson.A)
		found = found || ok && len(a) == 0
		return v
	})
	return found
}

func dropEmptyDocuments(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool {
		return isEmptyDocument(v)
	})
}

func isEmptyDocument(v any) bool {
	doc, ok := v.(bson.D)
	return ok && len(doc) == 0
}

// isHollow reports whether a value is a document that is empty, or has others that are.
func isHollow(v any) bool {
	doc, ok := v.(bson.D)
	return ok && !slices.ContainsFunc(doc, func(e bson.E) bool { return !isHollow(e.Value) })
}

// dropArrays makes all arrays below documents equal.
func dropArrays(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	for i, e := range doc {
		if _, isArray := e.Value.(bson.A); isArray && e.Key != "batch" && e.Key != "firstBatch" {
			doc[i].Value = nil
		}
	}
	return doc
}

// widened makes a long of an int.
func widened(v any) any {
	if n, ok := v.(int32); ok {
		return int64(n)
	}
	return v
}

// lacksID reports whether a document came without an _id, or was given one when it was stored.
func lacksID(o outcome.Outcome) bool {
	for _, v := range outcome.FirstBatch(o.Reply) {
		if doc, ok := v.(bson.D); ok && !tree.HasField(doc, "_id") {
			return true
		}
	}
	return slices.ContainsFunc(o.State, func(doc bson.D) bool { return tree.Lookup(doc, "_id") == outcome.SomeID })
}

func dropNullID(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool { return e.Key == "_id" && e.Value == nil })
}

func dropNullElements(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool { return v == nil })
}

func dropNullFields(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool { return e.Value == nil })
}

// countsCount reports whether what is counted is a count of $unionWith.
func countsCount(c cases.Case) bool {
	stages, _ := c.Get("pipeline").(bson.A)
	for i, s := range stages {
		union, _ := tree.Lookup(s, "$unionWith").(bson.D)
		if union != nil && i < len(stages)-1 && tree.Lookup(stages[i+1], "$count") != nil &&
			(cases.Case{Command: union}).Uses("$count") {
			return true
		}
	}
	return false
}

// countedNothing reports whether a document that was stored is a count of zero.
func countedNothing(o outcome.Outcome) bool {
	return slices.ContainsFunc(o.State, func(doc bson.D) bool {
		return tree.Lookup(doc, "_id") == outcome.SomeID && (tree.Lookup(doc, "n") == int32(0) || tree.Lookup(doc, "count") == int32(0))
	})
}
