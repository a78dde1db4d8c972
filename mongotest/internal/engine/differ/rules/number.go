package rules

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// numberRules are of operators that count, choose by bits, and measure.
var numberRules = []rule{
	{
		"equal values of $minN and $maxN come in another order",
		"MongoDB's manual doesn't say in which order values of several types come that are equal ($minN, $maxN).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$minN", "$maxN") &&
				(x.sameAfter(sortElements) || x.sameAfter(asFloats))
		},
	},
	{
		"$minN and $maxN of null are null",
		"MongoDB refuses what isn't an array ($minN, $maxN, \"Array Operator\"; code 5788200).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyEngine || x.kind == outcome.Codes) && x.engine.Code == 5788200 &&
				x.Uses("$minN", "$maxN")
		},
	},
	{
		"$stdDevPop, $stdDevSamp, $percentile and $median aren't expressions, and $subtype is none",
		"They are, of the elements of an array ($stdDevPop, $stdDevSamp, $percentile, $median), and of binary data ($subtype).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyServer || x.kind == outcome.Codes) &&
				(strings.HasPrefix(x.server.Text, "Operator $stdDev") ||
					strings.HasPrefix(x.server.Text, "Unrecognized expression format: $") &&
						x.Uses("$percentile", "$median", "$subtype"))
		},
	},
	{
		"$atan2 of null and what is no number is null",
		"MongoDB's manual doesn't say which of the two counts; the first operand is looked at first.",
		func(x difference) bool { return x.kind == outcome.OnlyEngine && x.engine.Code == 51044 },
	},
	{
		"powers, logarithms, sines and their kin are off in the last digit, and $degreesToRadians and $radiansToDegrees of decimals in half of them",
		"MongoDB's manual doesn't say how they are rounded; what is computed here is the number next to the exact result.",
		func(x difference) bool {
			return x.Uses(rounded...) && x.HasValue(isNumber) &&
				(x.sameAfter(fewerDigits) || x.within(fewerDigits, rounded...))
		},
	},
	{
		"a sine or the like that is a fraction is false in $expr",
		"Every number but 0 is true (Boolean Expression Operators).",
		func(x difference) bool {
			return x.Uses("$expr") && x.Uses(rounded...) &&
				(x.kind == outcome.Replies || x.kind == outcome.States) && x.chosen()
		},
	},
	{
		"$stdDevPop and $stdDevSamp of a window are off in the last digit",
		"MongoDB's manual doesn't say how they are rounded.",
		func(x difference) bool {
			return x.Uses("$setWindowFields") && x.Uses("$stdDevPop", "$stdDevSamp") &&
				x.sameAfter(func(v any) any { return sortFields(fewerDigits(v)) })
		},
	},
	{
		"$covariancePop and $covarianceSamp of pairs that aren't finite are NaN or infinite, with too few others too",
		"MongoDB counts the finite pairs: of none or one it returns null or 0; its manual doesn't say so ($covariancePop, $covarianceSamp).",
		func(x difference) bool {
			return x.Uses("$covariancePop", "$covarianceSamp") && x.sameAfter(func(v any) any {
				if f, ok := v.(float64); v == nil || isNaN(v) || ok && (f == 0 || math.IsInf(f, 0)) {
					return 0.0
				}
				return sortFields(v)
			})
		},
	},
	{
		"$sum of NaN for every document of a group fails",
		"MongoDB's sum is NaN ($sum).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$sum") && x.Uses("$group", "$bucket") &&
				strings.HasPrefix(x.server.Text, "Attempt to convert NaN value to integer")
		},
	},
	{
		"$sampleRate may stand within $elemMatch",
		"$sampleRate is of whole documents ($match, \"$sampleRate\"): MongoDB's error 2.",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && x.Uses("$sampleRate") &&
				strings.HasPrefix(x.engine.Text, "$sampleRate can only be applied")
		},
	},
	{
		"decimals with a fraction, and those that are no number, have bits",
		"A number that can't be a 64-bit integer has none ($bitsAllSet, \"Integers\").",
		func(x difference) bool {
			return x.Uses("$bitsAllSet", "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear") &&
				x.HasValue(isBrokenDecimal) &&
				(x.chosen() || x.another() || x.sameForDocs(wholeDecimal) || x.sameFor(anyBits) ||
					cases.HasStage(x.Case, "$geoNear") &&
						almostEqual(x.run(x.MapCommand(anyBits)).Reply, x.server.Reply) ||
					x.kind == outcome.OnlyServer && x.IsUpdate() && x.finds(0))
		},
	},
}

// rounded are the operators whose results are rounded.
var rounded = []string{
	"$exp", "$ln", "$log", "$log10", "$pow", "$sqrt", "$sin", "$cos", "$tan", "$asin", "$acos",
	"$atan", "$atan2", "$sinh",

	"$cosh", "$tanh", "$asinh", "$acosh", "$atanh", "$degreesToRadians", "$radiansToDegrees",
}

func isNumber(v any) bool {
	switch v.(type) {
	case int32, int64, float64, bson.Decimal128:
		return true
	}
	return false
}

// asFloats makes a double of any number.
func asFloats(v any) any {
	if n, ok := v.(bson.Decimal128); ok {
		if f, err := strconv.ParseFloat(n.String(), 64); err == nil {
			return f
		}
	}
	return asDoubles(v)
}

// fewerDigits rounds a double, and a decimal, to what all but the last few digits say.
func fewerDigits(v any) any {
	switch x := v.(type) {
	case float64:
		f, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 13, 64), 64)
		return f
	case bson.Decimal128:
		if f, err := strconv.ParseFloat(x.String(), 64); err == nil && !math.IsInf(f, 0) && f != 0 {
			return strconv.FormatFloat(f, 'g', 13, 64)
		}
	}
	return v
}

// isBrokenDecimal reports whether a value is a decimal that isn't whole.
func isBrokenDecimal(v any) bool {
	n, ok := v.(bson.Decimal128)
	if !ok {
		return false
	}
	significand, exp, err := n.BigInt()
	if err != nil {
		return true
	}
	f, _ := significand.Float64()
	return exp < 0 && math.Mod(f, math.Pow10(-exp)) != 0
}

// wholeDecimal makes a number with the server's bits of a decimal that has none.
func wholeDecimal(v any) any {
	if !isBrokenDecimal(v) {
		return v
	}
	f, err := strconv.ParseFloat(v.(bson.Decimal128).String(), 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > math.MaxInt32 {
		return int64(0)
	}
	return int64(f)
}

// anyBits makes conditions on bits hold for any field.
func anyBits(v any) any {
	doc, _ := v.(bson.D)
	if len(doc) == 1 && strings.HasPrefix(doc[0].Key, "$bits") {
		return tree.D("$exists", true)
	}
	return v
}

// finds reports whether the engine's update finds so many documents.
func (x difference) finds(n int32) bool {
	return tree.Lookup(x.engine.Reply, "n") == n ||
		tree.Lookup(tree.Lookup(x.engine.Reply, "lastErrorObject"), "n") == n
}

// missingIsLeast makes MinKey of the missing operands of comparisons.
func missingIsLeast(v any) any {
	doc, _ := v.(bson.D)
	if len(doc) != 1 || !slices.Contains([]string{"$gt", "$gte", "$lt", "$lte", "$cmp", "$eq", "$ne"}, doc[0].Key) {
		return v
	}
	list, _ := doc[0].Value.(bson.A)
	if len(list) != 2 {
		return v
	}
	list = slices.Clone(list)
	for i, x := range list {
		list[i] = tree.D("$cond", bson.A{tree.D("$eq", bson.A{tree.D("$type", x), "missing"}), bson.MinKey{}, x})
	}
	return tree.D(doc[0].Key, list)
}

// exists makes a filter's comparisons by order with MinKey and MaxKey hold for fields that are there alone.
func exists(v any) any {
	doc, _ := v.(bson.D)
	for _, e := range doc {
		if isExtreme(e.Value) && slices.Contains([]string{"$gt", "$gte", "$lt", "$lte"}, e.Key) {
			return append(slices.Clone(doc), bson.E{Key: "$exists", Value: true})
		}
	}
	return v
}

// comparesExtreme reports whether an operator of the filter has MinKey or MaxKey for an operand, or in a list of
// operands.
func comparesExtreme(filter any) bool {
	found := false
	tree.Walk(filter, func(key string, v any) {
		list, _ := v.(bson.A)
		found = found || strings.HasPrefix(key, "$") && (isExtreme(v) || slices.ContainsFunc(list, isExtreme))
	})
	return found
}
