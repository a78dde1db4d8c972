package rules

import (
	"math"
	"strings"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// stageRules are of stages that make documents, or tell of a collection.
var stageRules = []rule{
	{
		// [{$collStats: {count: {}}}, {$merge: "o"}]: the server has the documents as before. Code 13113 is the
		// engine's error of a $merge whose document has no usable "on" field.
		"$merge and $out after $collStats and $indexStats store nothing",
		"MongoDB stores what the stages before give, of any kind ($merge, $out).",
		func(x difference) bool {
			if !x.Uses("$collStats", "$indexStats") ||
				!cases.HasStage(x.Case, "$merge") && !cases.HasStage(x.Case, "$out") {
				return false
			}
			return x.kind == outcome.OnlyEngine && x.engine.Code == 13113 ||
				(x.kind == outcome.States || x.kind == outcome.Replies) &&
					len(outcome.FirstBatch(x.server.Reply)) > 0 && outcome.EqualDocs(x.server.State, x.Docs)
		},
	},
	{
		// [{$unset: "a"}, {$set: {b: "$a"}}]: b is missing for MongoDB. The server gives the engine's outcome without
		// the $unset of a field that the next stage uses. Codes 17040 and 17041 are of operands that aren't arrays.
		"an expression sees a field that $unset removed, and a field below it goes into it",
		"A stage sees the documents that the one before it gives ($unset).",
		func(x difference) bool {
			if x.kind == outcome.Replies || x.kind == outcome.States {
				return x.Uses("$unset") && x.sameFor(unsetUnused)
			}
			return x.kind == outcome.OnlyEngine && x.engine.FailsComputing() && x.Uses("$unset") &&
				(x.sameButEmptiedFor(unsetUnused) ||
					(x.engine.Code == 17040 || x.engine.Code == 17041) && x.Uses("$allElementsTrue", "$anyElementTrue"))
		},
	},
	{
		// [{$match: {a: 1}}, {$project: {b: {$divide: [1, "$b"]}}}, {$match: {c: 1}}]: the server filters last, and
		// fails for b: 0.
		"what stands between two $match stages is computed for what the first one leaves out",
		"A stage sees the documents that the one before it gives ($match).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && cases.HasStage(x.Case, "$match") && x.failsFor(dropFirstMatch)
		},
	},
	{
		// {$fill: {output: {a: {value: {$divide: [1, 0]}}}}} on {a: 5}.
		"$fill computes a value for a field that has one",
		"MongoDB fills fields that are null or missing ($fill).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$fill") && x.failsFor(fillEach)
		},
	},
	{
		// With sortBy the server returns the documents sorted, also if there is nothing to sort for.
		"$fill sorts where it has values and no method",
		"MongoDB's manual doesn't say whether it does ($fill, \"sortBy\").",
		func(x difference) bool { return x.Uses("$fill") && x.sameFor(sortBeforeFill) },
	},
	{
		// The pipeline fails for a document whose foreignField has another value. The engine fails too if it joins
		// every document.
		"$lookup computes its pipeline for documents that it doesn't join",
		"MongoDB runs the pipeline on the joined documents ($lookup).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("localField") && x.failsFor(joinAll)
		},
	},
	{
		// {$redact: {$cond: [{$divide: [1, "$a.b"]}, "$$KEEP", "$$DESCEND"]}}: the server also computes it in the kept
		// documents.
		"$redact computes its expression for documents that it doesn't descend into",
		"MongoDB keeps or leaves out all fields at a level without further inspection ($redact).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$redact") && x.failsFor(descendAlways)
		},
	},
	{
		// {_id: 1} without the field: the server makes documents from it, or fails for its missing value (type 0). Code
		// 5897900 is of too many documents.
		"$densify takes a document without the field for one of its partition",
		"MongoDB lets documents whose field is null or missing pass as they are ($densify, \"field\").",
		func(x difference) bool {
			failed := x.server.Text == "Unrecognized BSON data type code 0" || x.server.Code == 5897900
			return (x.densifies("full") || x.densifies(nil)) &&
				(x.kind == outcome.OnlyServer && failed ||
					x.kind != outcome.OnlyServer && (x.differsInChoice() || x.returnsMore()))
		},
	},
	{
		// partitionByFields: ["d.a"]. {d: {}} and {_id: 1} have no d.a: one partition for MongoDB, two for the server.
		"$densify tells partitions without a field apart by what is above the field, and leaves that out of the " +
			"documents that it makes",
		"MongoDB's partition is a document of what the paths give, and the documents have its fields ($densify, " +
			"\"partitionByFields\").",
		func(x difference) bool {
			tooMany := x.kind == outcome.OnlyEngine && x.engine.Code == 5897900
			return (x.kind == outcome.Replies || x.kind == outcome.States || tooMany) && x.Uses("$densify") &&
				x.Uses("partitionByFields") &&
				mentions(x.Command, "d.a") && (tooMany || x.sameFor(dropMadeParents) || x.differsInChoice() ||
				x.returnsPart())
		},
	},
	{
		// The engine makes the server's documents if the partitions are removed.
		"$densify of no documents makes those of a partition",
		"MongoDB densifies each partition, and there is none ($densify, \"partitionByFields\").",
		func(x difference) bool {
			made := x
			made.engine = x.run(x.MapCommand(dropPartitions))
			sortRounded := func(v any) any { return sortFields(roundDigits(v)) }
			return x.densifies(nil) &&
				(x.sameFor(dropPartitions) || x.Uses(roundedOperators...) && made.sameAfter(sortRounded))
		},
	},
	{
		// The engine's first batch is full with 1000 documents, so it hasn't come to the document that makes the server
		// fail.
		"$densify looks at every document before its first batch",
		"MongoDB computes as much as a batch needs (Aggregation Commands: cursor.batchSize).",
		func(x difference) bool {
			full := len(outcome.FirstBatch(x.engine.Reply)) == 1000
			return x.kind == outcome.OnlyServer && x.Uses("$densify") && full &&
				(x.server.Code == 5733201 || x.server.Code == 5897900 || x.server.Code == 6053600)
		},
	},
	{
		// bounds: [0, 5]: a text after the value 7 doesn't make the server fail. Codes 5733201 and 6053600 are of
		// values that are neither numbers nor dates.
		"$densify doesn't look at what comes after its range",
		"MongoDB's values must all be numbers, or all dates ($densify, \"field\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && (x.engine.Code == 5733201 || x.engine.Code == 6053600) &&
				x.failsBecauseOf("$densify") && hasBeyond(x.Case)
		},
	},
	{
		// Codes 5624900 to 5624902 are of its input.
		"$derivative of one document doesn't look at what it is sorted by",
		"MongoDB requires numbers, or dates with a unit ($derivative, \"Behavior\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && x.Uses("$derivative") && x.engine.Code >= 5624900 &&
				x.engine.Code <= 5624902
		},
	},
	{
		// Code 5423900 is of an input that isn't a number.
		"$integral of one document takes a date",
		"MongoDB's input must be a number ($integral, \"input\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && x.engine.Code == 5423900 && x.Uses("$integral")
		},
	},
	{
		// 0 and 0.0, and what an infinite or missing input makes of it.
		"$integral of one document is a double's zero",
		"MongoDB's is 0, whatever the type of the input; its manual doesn't say so ($integral).",
		func(x difference) bool {
			return x.Uses("$integral") && x.sameAfter(func(v any) any {
				if f, ok := v.(float64); v == int32(0) || ok && (f == 0 || math.IsNaN(f)) {
					return 0.0
				}
				return v
			})
		},
	},
	{
		// 1 for the values 1 and 2.5, where MongoDB returns the double 1.
		"$expMovingAvg returns the type of its first value",
		"MongoDB returns a double, and a decimal if there is one among the values, as $avg does ($expMovingAvg).",
		func(x difference) bool { return x.sameOutside(sortFields, "$expMovingAvg") },
	},
	{
		// {$firstN: {n: 1, input: {$divide: [1, "$b"]}}}: the engine computes it for each document of the window.
		"$firstN and $lastN of a window compute only what they keep",
		"MongoDB's manual doesn't say whether the rest is computed ($firstN, $lastN).",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.Uses("$setWindowFields") && x.failsBecauseOf("$firstN", "$lastN")
		},
	},
	{
		// The command has no $divide of its own, so the server's error comes from the window.
		"$covariancePop, $covarianceSamp, $stdDevPop and $stdDevSamp of too few numbers divide by zero",
		"MongoDB returns null for a window without numbers, or with one ($covariancePop, $covarianceSamp, " +
			"$stdDevPop, $stdDevSamp).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Text == "$divide by zero is not allowed" &&
				x.Uses("$setWindowFields") &&
				x.Uses("$covariancePop", "$covarianceSamp", "$stdDevPop", "$stdDevSamp") && !x.Uses("$divide")
		},
	},
	{
		// The two sides are exchanged, because failsOnConstant asks for the error of the server.
		"a constant isn't computed for no document where it stands in an array or in a window",
		"MongoDB's manual doesn't say when an expression without fields is computed.",
		func(x difference) bool {
			mirrored := x
			mirrored.engine, mirrored.server = x.server, x.engine
			return x.kind == outcome.OnlyEngine && mirrored.countReached() == 0 && mirrored.failsOnConstant()
		},
	},
	{
		// output: {"a.b": …} on {a: 5}: MongoDB makes {a: {b: …}} of it.
		"a window's field below what is no document can't be set",
		"MongoDB puts a document in its place ($setWindowFields, \"output\"; $fill).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$fill", "$setWindowFields") &&
				x.server.Text == "invalid input BSON: Should not have empty document"
		},
	},
	{
		// sortBy: {a: 1} with {a: "x"}: the server fails only if there is something to fill beside it.
		"$linearFill looks at the values to sort by only where it fills",
		"MongoDB refuses values to sort by that are neither numbers nor dates ($linearFill).",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && x.Uses("$fill", "$linearFill") &&
				strings.HasPrefix(x.engine.Text, "Value of the sortBy field must be")
		},
	},
	{
		// ObjectIDs and timestamps contain a time.
		"$linearFill takes neither an ObjectID nor a timestamp to sort by",
		"MongoDB's manual doesn't say which values are dates; here those are that can become one ($linearFill).",
		func(x difference) bool {
			_, kind, found := strings.Cut(x.server.Text,
				"must contain either a numeric value or a date, but instead received ")
			return found && x.kind == outcome.OnlyServer && (kind == "objectId" || kind == "timestamp")
		},
	},
	{
		// output: the name {$literal: "a.b"} that $setField makes. Code 31249 is of a path collision, 16410 of a name
		// with "$".
		"$bucketAuto and $setWindowFields take a name with dots for a path, and none with a dollar sign",
		"MongoDB's documents may have names with dots and dollar signs in them (Field Names with Periods and Dollar " +
			"Signs).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && (x.server.Code == 31249 || x.server.Code == 16410) &&
				x.Uses("$bucketAuto", "$setWindowFields") && x.Uses("$setField")
		},
	},
	{
		// 5 documents in 3 buckets: MongoDB makes buckets of 2, 2 and 1 documents, the server may make 2, 1 and 2.
		"$bucketAuto divides what is left anew for each bucket",
		"MongoDB's buckets have the rounded quotient of documents and buckets, and the last one the rest; the manual " +
			"doesn't say so ($bucketAuto).",
		func(x difference) bool {
			one := false
			tree.Walk(x.Command, func(key string, v any) { one = one || key == "buckets" && v == int32(1) })
			return x.Uses("$bucketAuto") && !one && x.differsInChoice()
		},
	},
	{
		// {$pow: [10, 30]}. Code 241 is ConversionFailure.
		"$pow of whole numbers fails when an exponent or the result is too large for a long",
		"MongoDB returns a double then ($pow, \"Behavior\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$pow") && x.server.Code == 241 &&
				x.server.Text == "Conversion would exceed target type limit"
		},
	},
}
