package rules

import (
	"math"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
)

// numberRules are of operators that count, choose by bits, and measure.
var numberRules = []rule{
	{
		// {$minN: {n: 2, input: [1, 1.0]}}.
		"equal values of $minN and $maxN come in another order",
		"MongoDB's manual doesn't say in which order values of several types come that are equal ($minN, $maxN).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$minN", "$maxN") &&
				(x.sameAfter(sortElements) || x.sameAfter(convertToFloats))
		},
	},
	{
		// {$minN: {n: 2, input: null}}.
		"$minN and $maxN of null are null",
		"MongoDB refuses what isn't an array ($minN, $maxN, \"Array Operator\"; code 5788200).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyEngine || x.kind == outcome.Codes) && x.engine.Code == 5788200 &&
				x.Uses("$minN", "$maxN")
		},
	},
	{
		// {$stdDevPop: [1, 2]} outside a group.
		"$stdDevPop, $stdDevSamp, $percentile and $median aren't expressions, and $subtype is none",
		"They are, of the elements of an array ($stdDevPop, $stdDevSamp, $percentile, $median), and of binary data " +
			"($subtype).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyServer || x.kind == outcome.Codes) &&
				(strings.HasPrefix(x.server.Text, "Operator $stdDev") ||
					strings.HasPrefix(x.server.Text, "Unrecognized expression format: $") &&
						x.Uses("$percentile", "$median", "$subtype"))
		},
	},
	{
		// {$atan2: [null, "x"]}. Code 51044 is of an operand that isn't a number.
		"$atan2 of null and what is no number is null",
		"MongoDB's manual doesn't say which of the two counts; the first operand is looked at first.",
		func(x difference) bool { return x.kind == outcome.OnlyEngine && x.engine.Code == 51044 },
	},
	{
		// A difference after the 13th digit. If another operator makes the difference larger, what depends on it isn't
		// compared.
		"powers, logarithms, sines and their kin are off in the last digit, and $degreesToRadians and " +
			"$radiansToDegrees of decimals in half of them",
		"MongoDB's manual doesn't say how they are rounded; what is computed here is the number next to the exact " +
			"result.",
		func(x difference) bool {
			return x.Uses(roundedOperators...) && x.HasValue(bsonval.IsNumber) &&
				(x.sameAfter(roundDigits) || x.sameOutside(roundDigits, roundedOperators...))
		},
	},
	{
		// {$expr: {$sin: 1}}: as in the rule on fractions, the server takes 0.84 for 0.
		"a sine or the like that is a fraction is false in $expr",
		"Every number but 0 is true (Boolean Expression Operators).",
		func(x difference) bool {
			return x.Uses("$expr") && x.Uses(roundedOperators...) &&
				(x.kind == outcome.Replies || x.kind == outcome.States) && x.differsInChoice()
		},
	},
	{
		// A difference after the 13th digit.
		"$stdDevPop and $stdDevSamp of a window are off in the last digit",
		"MongoDB's manual doesn't say how they are rounded.",
		func(x difference) bool {
			return x.Uses("$setWindowFields") && x.Uses("$stdDevPop", "$stdDevSamp") &&
				x.sameAfter(func(v any) any { return sortFields(roundDigits(v)) })
		},
	},
	{
		// All results that can mean "no pairs" are equal here: null, 0, NaN and infinity.
		"$covariancePop and $covarianceSamp of pairs that aren't finite are NaN or infinite, with too few others too",
		"MongoDB counts the finite pairs: of none or one it returns null or 0; its manual doesn't say so " +
			"($covariancePop, $covarianceSamp).",
		func(x difference) bool {
			return x.Uses("$covariancePop", "$covarianceSamp") && x.sameAfter(func(v any) any {
				if f, ok := v.(float64); v == nil || bsonval.IsNaN(v) || ok && (f == 0 || math.IsInf(f, 0)) {
					return 0.0
				}
				return sortFields(v)
			})
		},
	},
	{
		// {$group: {_id: null, s: {$sum: NaN}}}.
		"$sum of NaN for every document of a group fails",
		"MongoDB's sum is NaN ($sum).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$sum") && x.Uses("$group", "$bucket") &&
				strings.HasPrefix(x.server.Text, "Attempt to convert NaN value to integer")
		},
	},
	{
		// {a: {$elemMatch: {$sampleRate: 1}}}.
		"$sampleRate may stand within $elemMatch",
		"$sampleRate is of whole documents ($match, \"$sampleRate\"): MongoDB's error 2.",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && x.Uses("$sampleRate") &&
				strings.HasPrefix(x.engine.Text, "$sampleRate can only be applied")
		},
	},
	{
		// {a: {$bitsAllSet: 1}} on {a: Decimal128("1.5")}: the server looks at the bits of 1. So it gives the engine's
		// outcome for integers in the place of these decimals, or for a condition that each document meets, or for
		// another choice of documents. A $geoNear also has distances that differ.
		"decimals with a fraction, and those that are no number, have bits",
		"A number that can't be a 64-bit integer has none ($bitsAllSet, \"Integers\").",
		func(x difference) bool {
			return x.Uses("$bitsAllSet", "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear") &&
				x.HasValue(isBrokenDecimal) &&
				(x.differsInChoice() || x.failsOnAnother() || x.sameForDocs(truncateDecimal) ||
					x.sameFor(acceptAnyBits) ||
					cases.HasStage(x.Case, "$geoNear") &&
						almostEqual(x.run(x.MapCommand(acceptAnyBits)).Reply, x.server.Reply) ||
					x.kind == outcome.OnlyServer && x.IsUpdate() && x.matchesCount(0))
		},
	},
}

// roundedOperators are the operators whose results may differ from the server's in the last digits.
var roundedOperators = []string{
	"$exp", "$ln", "$log", "$log10", "$pow", "$sqrt", "$sin", "$cos", "$tan", "$asin", "$acos", "$atan", "$atan2",
	"$sinh", "$cosh", "$tanh", "$asinh", "$acosh", "$atanh", "$degreesToRadians", "$radiansToDegrees",
}
