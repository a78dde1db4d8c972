package rules

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

var findRules = []rule{
	{
		"constants are computed for no document",
		"MongoDB's manual doesn't say when an expression without fields is computed; the engine does it for " +
			"each document that needs it, the server once and in any case.",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.FailsComputing() && (x.countReached() == 0 || len(x.Docs) == 0 && x.Uses("$unionWith", "$facet")) && (x.failsOnConstantIn(x.Command) || x.server.Code == 40228 && hasConstantRoot(x.Command))
		},
	},
	{
		"$zip takes no constant expression",
		"MongoDB takes any expression that resolves to an array ($zip).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyServer || x.kind == outcome.Codes) &&
				strings.HasPrefix(x.server.Text, "The $zip encountered an input that is not an array: { \"$")
		},
	},
	{
		"$dateTrunc is off",
		"MongoDB truncates to the start of the unit in the time zone, before 1970 too ($dateTrunc).",
		func(x difference) bool {
			return x.sameOutside(sortFields, "$dateTrunc")
		},
	},
	{
		"$ifNull, $switch and $convert compute what they don't need",
		"MongoDB returns the first operand that isn't null or missing, or of the first branch that is true ($ifNull, $switch).",
		func(x difference) bool {
			return x.computesEagerly("$ifNull", "$switch", "$cond", "$convert")
		},
	},
	{
		"a variable of $let that nobody needs isn't computed",
		"MongoDB assigns each variable before it evaluates \"in\" ($let).",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.Uses("$let") &&
				(hasUnused(x.Command) && x.failsBecauseOf("$let") || x.sameFor(inlineVariables))
		},
	},
	{
		"$let of a constant isn't computed",
		"MongoDB evaluates the expression \"in\" ($let).",
		func(x difference) bool {
			return x.Uses("$let") && !x.server.Fails() && (hasKeyWithDollar(x.server) && !hasKeyWithDollar(x.engine) ||
				x.sameFor(quoteLet)) ||
				x.Uses("$let") && x.kind == outcome.OnlyServer &&
					(strings.Contains(x.server.Text, "'$'-prefixed fields") || x.failsFor(quoteLet))
		},
	},
	{
		"constants and joined documents are placed last",
		"MongoDB puts computed fields in the order in which they are given, in place of the field that they " +
			"replace ($project, $addFields, $fill).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) &&
				(x.sameAfter(sortFields) || tree.IsArray(x.Change()) && x.sameAfter(sortChanged)) &&
				(x.Uses("$project", "$addFields", "$set", "$fill", "$lookup", "$unwind") ||
					x.Get("projection") != nil || x.Get("fields") != nil)
		},
	},
	{
		"a missing field isn't compared with MinKey and MaxKey",
		"MongoDB orders every value, a missing one included, between them (Comparison/Sort Order).",
		func(x difference) bool {
			found, fails := comparesExtreme(x.Filter()) || comparesExtreme(x.Get("pipeline")), x.kind == outcome.OnlyEngine || x.kind == outcome.OnlyServer
			return (x.differsInChoice() || found && fails && (x.failsOnAnother() || x.server.Code == 11000) ||
				x.sameFor(replaceMissing) || found && x.sameFor(requireExists)) && x.HasValue(isExtreme) &&
				x.Uses("$gt", "$gte", "$lt", "$lte", "$cmp", "$eq", "$ne", "$min", "$max")
		},
	},
	{
		"$regexMatch fails on a null that an operator returns",
		"MongoDB returns false or null for an input that is null ($regexMatch, $regexFind).",
		func(x difference) bool {
			return x.onlyServer() &&
				strings.HasSuffix(x.server.Text, "requires that the 'input' parameter must be of type string.")
		},
	},
	{
		"$substrCP of nothing takes a negative length",
		"MongoDB requires a length of at least 0 ($substrCP).",
		func(x difference) bool { return x.onlyEngine() && x.engine.Code == 34454 },
	},
	{
		"$mergeObjects of one operand doesn't merge what is in an array",
		"Like $sum and the others, MongoDB's $mergeObjects goes through the array if its only operand is one ($mergeObjects).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$mergeObjects") &&
				strings.HasSuffix(x.server.Text, "has 'array' type")
		},
	},
	{
		"$avg returns the type of what it averages",
		"MongoDB returns a double, and a decimal if there is one among the values ($avg, \"Result Data Type\").",
		func(x difference) bool { return x.sameOutside(sortFields, "$avg") },
	},
	{
		"an empty array sorts as null does",
		"MongoDB sorts an empty array before null (Comparison/Sort Order, \"Arrays\").",
		func(x difference) bool {
			if x.picksOneBy(tree.IsEmptyArray) {
				return x.differsInChoice() || x.failsOnAnother()
			}
			return x.differsInChoice() && (x.kind == outcome.Replies || x.kind == outcome.States) &&
				x.HasValue(tree.IsEmptyArray) && (x.Get("sort") != nil ||
				x.Uses("$sort", "$top", "$topN", "$bottom", "$bottomN", "$sortArray")) &&
				(x.Verb() != "find" || x.Get("limit") != nil || x.sameAfter(sortElements))
		},
	},
	{
		"$add looks at every operand",
		"MongoDB returns null as soon as an operand is null or missing ($add, $multiply).",
		func(x difference) bool {
			return x.onlyServer() && x.server.Code == 14 && x.Uses("$add", "$multiply")
		},
	},
	{
		"a regular expression can be compared with by order",
		"MongoDB refuses it for $gt and the like ($regex).",
		func(x difference) bool {
			return x.onlyEngine() &&
				(strings.HasPrefix(x.engine.Text, "Can't have RegEx as arg to predicate") ||
					strings.HasPrefix(x.engine.Text, "Can't have regex as arg to $ne"))
		},
	},
	{
		"$dateToString doesn't know the names of months",
		"MongoDB has %b and %B ($dateToString, \"Format Specifiers\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && strings.HasPrefix(x.server.Text, "Invalid format character '%")
		},
	},
	{
		"a filter computes $expr in another order",
		"MongoDB's manual doesn't say in which order the clauses of a filter are computed.",
		func(x difference) bool {
			filter, _ := x.Filter().(bson.D)
			return x.engine.FailsComputing() && x.failsBecauseOf("$expr") &&
				(len(filter) > 1 || x.Uses("$and", "$or", "$nor")) ||
				x.kind == outcome.OnlyServer && x.Uses("$expr") && (x.failsFor(isolateExpr) ||
					x.withCase(x.MapCommand(isolateExpr)).computesEagerly("$ifNull", "$switch", "$cond", "$convert"))
		},
	},
	{
		"$getField fails on what is no document",
		"MongoDB returns a missing value ($getField).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$getField") &&
				strings.HasPrefix(x.server.Text, "expected a document or array to init iterator")
		},
	},
	{
		"%Z of UTC has no sign",
		"MongoDB writes the offset in minutes with its sign ($dateToString, \"Format Specifiers\").",
		func(x difference) bool {
			x.engine.Reply, x.server.Reply = dropField(x.engine.Reply, "lastErrorObject"), dropField(x.server.Reply,
				"lastErrorObject")
			return x.HasValue(isZoneFormat) && (x.sameOutside(sortFields, "$dateToString") ||
				x.Uses("$strLenCP", "$strLenBytes", "$binarySize") && x.sameAfter(dropNumbers))
		},
	},
	{
		"$dateAdd overflows before the type does",
		"A date is a 64-bit number of milliseconds (BSON Types, \"Date\").",
		func(x difference) bool {
			over := x.kind == outcome.OnlyServer && (strings.HasSuffix(x.server.Text, " overflowed") ||
				x.server.Text == "interval out of range")
			return x.Uses("$dateAdd", "$dateSubtract") && (over || x.HasValue(isTenDigits) &&
				x.sameOutside(sortFields, "$dateAdd", "$dateSubtract"))
		},
	},
	{
		"a projection is computed for documents beyond the limit",
		"MongoDB's find projects what it returns (find, \"projection\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Get("limit") != nil && x.Get("projection") != nil &&
				x.failsLike(x.dropLimits())
		},
	},
	{
		"$regexFindAll anchors anew after each match",
		"The beginning of a string is in one place (Regular Expressions; $regexFindAll).",
		func(x difference) bool {
			return x.HasValue(isAnchored) &&
				(x.sameOutside(sortFields, "$regexFindAll") || x.Uses("$group") &&
					x.sameOutside(func(v any) any { return dropNullElements(dropNullFields(v)) }, "$regexFindAll"))
		},
	},
	{
		"$mod of a double by a long is a long, and that of a large long inexact",
		"From 7.2 on the result has the larger of the two types, a double if either is one ($mod).",
		func(x difference) bool {
			refused := x.kind == outcome.OnlyEngine && strings.Contains(x.engine.Text,
				"only supports int and long") // by $bitNot and its kin
			return refused && x.Uses("$mod") || x.Uses("$mod") && x.sameAfter(func(v any) any { return sortFields(simplifyDecimals(simplifyZeros(convertToDoubles(v)))) }) || x.sameOutside(sortFields, "$mod")
		},
	},
	{
		"$reduce fails when it comes to a missing value",
		"MongoDB takes a missing value for any other ($reduce).",
		func(x difference) bool {
			return x.onlyServer() && x.Uses("$reduce") && x.server.Text == "Unrecognized BSON data type code 0"
		},
	},
	{
		"$round of a large double loses digits",
		"MongoDB returns an integral double as it is ($round).",
		func(x difference) bool {
			return x.HasValue(isLarge) && x.sameOutside(sortFields, "$round", "$trunc")
		},
	},
	{
		"$slice of a projection can't be the expression",
		"Since 4.4 a projection takes any aggregation expression (find, \"projection\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && (strings.HasPrefix(x.server.Text, "$slice takes 2 arguments") ||
				strings.HasPrefix(x.server.Text, "Expected numeric value for first parameter of $slice"))
		},
	},
	{
		"a number inside a computed document of a projection isn't an inclusion or exclusion",
		"MongoDB refuses to mix them, below a field too (find, \"projection\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && (x.engine.Code == 31252 || x.engine.Code == 31253 ||
				x.engine.Code == 31254)
		},
	},
	{
		"JavaScript isn't a string, and a timestamp is one",
		"MongoDB's manual names neither among what becomes a string by itself ($toUpper, $strcasecmp, $substrBytes).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Code == 16007 &&
				strings.Contains(x.server.Text, "javascript") ||
				x.kind == outcome.OnlyEngine && x.engine.Code == 16007 && strings.Contains(x.engine.Text, "timestamp")
		},
	},
	{
		"$dateToString ends with Z in any time zone",
		"MongoDB writes Z for UTC alone ($dateToString, \"format\").",
		func(x difference) bool {
			return x.Uses("$dateToString") && x.Uses("timezone") &&
				(x.sameAfter(func(v any) any { return sortFields(dropZ(v)) }) || x.sameFor(appendZ) ||
					x.Uses("$strLenCP", "$strLenBytes", "$binarySize") && x.sameAfter(dropNumbers))
		},
	},
	{
		"-0 and 0 are mixed up in sums",
		"They are equal (Comparison/Sort Order, \"Numeric Types\").",
		func(x difference) bool { return x.Uses("$sum", "$add", "$avg") && x.sameAfter(simplifyZeros) },
	},
	{
		"$setField computes what null makes needless, and takes no missing document",
		"MongoDB returns null for an input that is null or missing ($setField).",
		func(x difference) bool { return x.computesEagerly("$setField") },
	},
	{
		"a timestamp becomes a date",
		"MongoDB's page doesn't name a timestamp among what becomes a date ($toDate).",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && strings.HasPrefix(x.engine.Text,
				"Unsupported conversion from timestamp to date") ||
				x.Uses("onError") && x.sameFor(convertTimestamps)
		},
	},
	{
		"$toDate of a large number fails",
		"A date is a 64-bit number of milliseconds (BSON Types, \"Date\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && strings.HasSuffix(x.server.Text, "is out of range for timestamps.")
		},
	},
	{
		"$subtract of a fraction from a date rounds it",
		"MongoDB subtracts whole milliseconds ($subtract).",
		func(x difference) bool { return x.sameOutside(sortFields, "$subtract") },
	},
	{
		"a double becomes a string with six digits",
		"MongoDB writes up to 16 digits ($toLower, $toUpper, $toString).",
		func(x difference) bool {
			return x.Uses("$toLower", "$toUpper") && x.sameAfter(func(v any) any { return sortFields(roundTexts(v)) })
		},
	},
	{
		"a large double becomes a string with an exponent",
		"MongoDB writes up to 16 digits before it does ($toLower, $toUpper, $toString).",
		func(x difference) bool {
			return x.Uses("$toLower", "$toUpper", "$toString", "$strcasecmp", "$convert", "$substr", "$substrCP",
				"$substrBytes") &&
				(x.HasValue(isTenDigits) || x.Uses("$toDouble") || x.server.HasValue(hasExponent)) &&
				x.sameAfter(dropNumerals)
		},
	},
}
