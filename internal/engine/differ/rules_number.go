package differ

import (
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// numberRules are of operators that count, choose by bits, and measure.
var numberRules = []rule{
	{
		"$minN and $maxN of null are null",
		"MongoDB refuses what isn't an array ($minN, $maxN, \"Array Operator\"; code 5788200).",
		func(x difference) bool {
			return (x.kind == OnlyEngine || x.kind == Codes) && x.engine.Code == 5788200 && x.uses("$minN", "$maxN")
		},
	},
	{
		"$stdDevPop and $stdDevSamp aren't expressions",
		"Both are, of the elements of an array ($stdDevPop, $stdDevSamp).",
		func(x difference) bool {
			return (x.kind == OnlyServer || x.kind == Codes) && strings.HasPrefix(x.server.Text, "Operator $stdDev") &&
				strings.HasSuffix(x.server.Text, "is currently not supported")
		},
	},
	{
		"decimals with a fraction, and those that are no number, have bits",
		"A number that can't be a 64-bit integer has none ($bitsAllSet, \"Integers\").",
		func(x difference) bool {
			return x.uses("$bitsAllSet", "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear") && x.holds(isBrokenDecimal) &&
				(x.chosen() || x.another() || x.updates())
		},
	},
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
