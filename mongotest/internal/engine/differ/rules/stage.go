package rules

import (
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// stageRules are of stages that make documents, or tell of a collection.
var stageRules = []rule{
	{
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
		"an expression sees a field that $unset removed, and a field below it goes into it",
		"A stage sees the documents that the one before it gives ($unset).",
		func(x difference) bool {
			if x.kind == outcome.Replies || x.kind == outcome.States {
				return x.Uses("$unset") && x.sameFor(unsetUnused)
			}
			return x.kind == outcome.OnlyEngine && x.engine.FailsComputing() && x.Uses("$unset") &&
				(x.emptiedFor(unsetUnused) ||
					(x.engine.Code == 17040 || x.engine.Code == 17041) && x.Uses("$allElementsTrue", "$anyElementTrue"))
		},
	},
	{
		"what stands between two $match stages is computed for what the first one leaves out",
		"A stage sees the documents that the one before it gives ($match).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && cases.HasStage(x.Case, "$match") && x.failsFor(lastMatch)
		},
	},
	{
		"$fill computes a value for a field that has one",
		"MongoDB fills fields that are null or missing ($fill).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$fill") && x.failsFor(fillEach)
		},
	},
	{
		"$fill sorts where it has values and no method",
		"MongoDB's manual doesn't say whether it does ($fill, \"sortBy\").",
		func(x difference) bool { return x.Uses("$fill") && x.sameFor(fillSorts) },
	},
	{
		"$lookup computes its pipeline for documents that it doesn't join",
		"MongoDB runs the pipeline on the joined documents ($lookup).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("localField") && x.failsFor(joinAll)
		},
	},
	{
		"$redact computes its expression for documents that it doesn't descend into",
		"MongoDB keeps or leaves out all fields at a level without further inspection ($redact).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$redact") && x.failsFor(descends)
		},
	},
	{
		"$densify takes a document without the field for one of its partition",
		"MongoDB lets documents whose field is null or missing pass as they are ($densify, \"field\").",
		func(x difference) bool {
			failed := x.server.Text == "Unrecognized BSON data type code 0" || x.server.Code == 5897900
			return (x.densifies("full") || x.densifies(nil)) &&
				(x.kind == outcome.OnlyServer && failed ||
					x.kind != outcome.OnlyServer && (x.chosen() || x.makesMore()))
		},
	},
	{
		"$densify tells partitions without a field apart by what is above the field, and leaves that out of the documents that it makes",
		"MongoDB's partition is a document of what the paths give, and the documents have its fields ($densify, \"partitionByFields\").",
		func(x difference) bool {
			tooMany := x.kind == outcome.OnlyEngine && x.engine.Code == 5897900
			return (x.kind == outcome.Replies || x.kind == outcome.States || tooMany) && x.Uses("$densify") &&
				x.Uses("partitionByFields") &&
				mentions(x.Command, "d.a") && (tooMany || x.sameFor(madeWithout) || x.chosen() || x.isPart())
		},
	},
	{
		"$densify of no documents makes those of a partition",
		"MongoDB densifies each partition, and there is none ($densify, \"partitionByFields\").",
		func(x difference) bool {
			made := x
			made.engine = x.run(x.MapCommand(unpartitioned))
			return x.densifies(nil) &&
				(x.sameFor(unpartitioned) ||
					x.Uses(rounded...) && made.sameAfter(func(v any) any { return sortFields(fewerDigits(v)) }))
		},
	},
	{
		"$densify looks at every document before its first batch",
		"MongoDB computes as much as a batch needs (Aggregation Commands: cursor.batchSize).",
		func(x difference) bool {
			full := len(outcome.FirstBatch(x.engine.Reply)) == 1000
			return x.kind == outcome.OnlyServer && x.Uses("$densify") && full &&
				(x.server.Code == 5733201 || x.server.Code == 5897900 || x.server.Code == 6053600)
		},
	},
	{
		"$densify doesn't look at what comes after its range",
		"MongoDB's values must all be numbers, or all dates ($densify, \"field\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && (x.engine.Code == 5733201 || x.engine.Code == 6053600) &&
				x.because("$densify") && hasBeyond(x.Case)
		},
	},
	{
		"$derivative of one document doesn't look at what it is sorted by",
		"MongoDB requires numbers, or dates with a unit ($derivative, \"Behavior\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && x.Uses("$derivative") && x.engine.Code >= 5624900 &&
				x.engine.Code <= 5624902
		},
	},
	{
		"$integral of one document takes a date",
		"MongoDB's input must be a number ($integral, \"input\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && x.engine.Code == 5423900 && x.Uses("$integral")
		},
	},
	{
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
		"$expMovingAvg returns the type of its first value",
		"MongoDB returns a double, and a decimal if there is one among the values, as $avg does ($expMovingAvg).",
		func(x difference) bool { return x.within(sortFields, "$expMovingAvg") },
	},
	{
		"$firstN and $lastN of a window compute only what they keep",
		"MongoDB's manual doesn't say whether the rest is computed ($firstN, $lastN).",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.Uses("$setWindowFields") && x.because("$firstN", "$lastN")
		},
	},
	{
		"$covariancePop, $covarianceSamp, $stdDevPop and $stdDevSamp of too few numbers divide by zero",
		"MongoDB returns null for a window without numbers, or with one ($covariancePop, $covarianceSamp, $stdDevPop, $stdDevSamp).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Text == "$divide by zero is not allowed" &&
				x.Uses("$setWindowFields") &&
				x.Uses("$covariancePop", "$covarianceSamp", "$stdDevPop", "$stdDevSamp") && !x.Uses("$divide")
		},
	},
	{
		"a constant isn't computed for no document where it stands in an array or in a window",
		"MongoDB's manual doesn't say when an expression without fields is computed.",
		func(x difference) bool {
			mirrored := x
			mirrored.engine, mirrored.server = x.server, x.engine
			return x.kind == outcome.OnlyEngine && mirrored.reached() == 0 && mirrored.constant()
		},
	},
	{
		"a window's field below what is no document can't be set",
		"MongoDB puts a document in its place ($setWindowFields, \"output\"; $fill).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$fill", "$setWindowFields") &&
				x.server.Text == "invalid input BSON: Should not have empty document"
		},
	},
	{
		"$linearFill looks at the values to sort by only where it fills",
		"MongoDB refuses values to sort by that are neither numbers nor dates ($linearFill).",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && x.Uses("$fill", "$linearFill") &&
				strings.HasPrefix(x.engine.Text, "Value of the sortBy field must be")
		},
	},
	{
		"$linearFill takes neither an ObjectID nor a timestamp to sort by",
		"MongoDB's manual doesn't say which values are dates; here those are that can become one ($linearFill).",
		func(x difference) bool {
			_, kind, found := strings.Cut(x.server.Text,
				"must contain either a numeric value or a date, but instead received ")
			return found && x.kind == outcome.OnlyServer && (kind == "objectId" || kind == "timestamp")
		},
	},
	{
		"$bucketAuto and $setWindowFields take a name with dots for a path, and none with a dollar sign",
		"MongoDB's documents may have names with dots and dollar signs in them (Field Names with Periods and Dollar Signs).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && (x.server.Code == 31249 || x.server.Code == 16410) &&
				x.Uses("$bucketAuto", "$setWindowFields") && x.Uses("$setField")
		},
	},
	{
		"$bucketAuto divides what is left anew for each bucket",
		"MongoDB's buckets have the rounded quotient of documents and buckets, and the last one the rest; the manual doesn't say so ($bucketAuto).",
		func(x difference) bool {
			one := false
			tree.Walk(x.Command, func(key string, v any) { one = one || key == "buckets" && v == int32(1) })
			return x.Uses("$bucketAuto") && !one && x.chosen()
		},
	},
	{
		"$pow of whole numbers fails when an exponent or the result is too large for a long",
		"MongoDB returns a double then ($pow, \"Behavior\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$pow") && x.server.Code == 241 &&
				x.server.Text == "Conversion would exceed target type limit"
		},
	},
}

// sameFor reports whether the engine gives what the server does once the command has been changed, but for the order of
// fields, and gave something else before.
func (x difference) sameFor(change func(any) any) bool {
	c := x.MapCommand(change)
	return outcome.Compare(x.run(c), x.engine) != outcome.Same && x.sameAs(c)
}

// emptiedFor is sameFor but for empty documents that the server has in place of scalars, or of nothing.
func (x difference) emptiedFor(change func(any) any) bool {
	x.engine = x.run(x.MapCommand(change))
	return !x.engine.Fails() && x.emptied()
}

// sameAs reports whether the engine gives for another case what the server does for this one, but for the order of
// fields.
func (x difference) sameAs(c cases.Case) bool {
	x.engine = x.run(c)
	return x.sameAfter(sortFields)
}

// makesMore reports whether the server's $densify returns what the engine's does, and documents without an _id beside
// it.
func (x difference) makesMore() bool {
	stages, _ := x.Get("pipeline").(bson.A)
	if len(stages) == 0 || tree.Lookup(stages[len(stages)-1], "$densify") == nil {
		return false
	}
	rest := outcome.FirstBatch(x.server.Reply)
	for _, v := range outcome.FirstBatch(x.engine.Reply) {
		i := slices.IndexFunc(rest, func(other any) bool {
			return string(tree.Encode(v)) == string(tree.Encode(other))
		})
		if i < 0 {
			return false
		}
		rest = slices.Delete(slices.Clone(rest), i, i+1)
	}
	return x.kind == outcome.Replies &&
		!slices.ContainsFunc(rest, func(v any) bool { doc, _ := v.(bson.D); return tree.HasField(doc, "_id") })
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

// densifies reports whether a $densify with partitions has the bounds; nil stands for those that are given.
func (x difference) densifies(bounds any) bool {
	found := false
	tree.Walk(x.Command, func(key string, v any) {
		if key != "$densify" || tree.Lookup(v, "partitionByFields") == nil {
			return
		}
		have := tree.Lookup(tree.Lookup(v, "range"), "bounds")
		found = found || bounds == nil && tree.IsArray(have) || bounds != nil && have == any(bounds)
	})
	return found
}
