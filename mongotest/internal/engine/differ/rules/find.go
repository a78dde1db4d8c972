package rules

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// findRules are of filters, sorts, projections and the expressions in them. Most of the expressions may also stand in
// stages and in updates by a pipeline.
var findRules = []rule{
	{
		// {$project: {a: {$divide: [1, 0]}}} on an empty collection: the server fails. The engine's reply shows no
		// document. Code 40228 is of a new root that isn't a document.
		"constants are computed for no document",
		"MongoDB's manual doesn't say when an expression without fields is computed; the engine does it for " +
			"each document that needs it, the server once and in any case.",
		func(x difference) bool {
			nothing := x.countReached() == 0 || len(x.Docs) == 0 && x.Uses("$unionWith", "$facet")
			return x.kind == outcome.OnlyServer && x.server.FailsComputing() && nothing &&
				(x.failsOnConstantIn(x.Command) || x.server.Code == 40228 && hasConstantRoot(x.Command))
		},
	},
	{
		// {$zip: {inputs: [{$range: [0, 2]}, "$a"]}}.
		"$zip takes no constant expression",
		"MongoDB takes any expression that resolves to an array ($zip).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyServer || x.kind == outcome.Codes) &&
				strings.HasPrefix(x.server.Text, "The $zip encountered an input that is not an array: { \"$")
		},
	},
	{
		// Only fields that depend on $dateTrunc differ. The amount is a matter of the date and the unit, so it isn't
		// checked.
		"$dateTrunc is off",
		"MongoDB truncates to the start of the unit in the time zone, before 1970 too ($dateTrunc).",
		func(x difference) bool {
			return x.sameOutside(sortFields, "$dateTrunc")
		},
	},
	{
		// {$ifNull: [5, {$divide: [1, 0]}]}: the server fails.
		"$ifNull, $switch and $convert compute what they don't need",
		"MongoDB returns the first operand that isn't null or missing, or of the first branch that is true ($ifNull, " +
			"$switch).",
		func(x difference) bool {
			return x.computesEagerly("$ifNull", "$switch", "$cond", "$convert")
		},
	},
	{
		// {$let: {vars: {v: {$divide: [1, 0]}}, in: 5}}: MongoDB fails, the server doesn't.
		"a variable of $let that nobody needs isn't computed",
		"MongoDB assigns each variable before it evaluates \"in\" ($let).",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.Uses("$let") &&
				(hasUnused(x.Command) && x.failsBecauseOf("$let") || x.sameFor(inlineVariables))
		},
	},
	{
		// {$let: {vars: {…}, in: {$add: [1, 2]}}}: the server returns the document {$add: [1, 2]}, or refuses it.
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
		// {$project: {b: 5, a: 1}}: the server returns {a: 1, b: 5}. So the order of all fields of such commands isn't
		// compared.
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
		// {$expr: {$gt: ["$z", MinKey]}}: z is missing, which is above MinKey for MongoDB. Other documents match, so
		// anything of them may be returned or fail: a rewriting that makes the difference go, or the choice of
		// documents, must explain it.
		"a missing field isn't compared with MinKey and MaxKey",
		"MongoDB orders every value, a missing one included, between them (Comparison/Sort Order).",
		func(x difference) bool {
			found := comparesExtreme(x.Filter()) || comparesExtreme(x.Get("pipeline"))
			fails := x.kind == outcome.OnlyEngine || x.kind == outcome.OnlyServer
			return (x.differsInChoice() || found && fails && (x.failsOnAnother() || x.server.Code == 11000) ||
				x.sameFor(replaceMissing) || found && x.sameFor(requireExists)) && x.HasValue(isExtreme) &&
				x.Uses("$gt", "$gte", "$lt", "$lte", "$cmp", "$eq", "$ne", "$min", "$max")
		},
	},
	{
		// {$regexMatch: {input: {$arrayElemAt: [[], 0]}, regex: "x"}}.
		"$regexMatch fails on a null that an operator returns",
		"MongoDB returns false or null for an input that is null ($regexMatch, $regexFind).",
		func(x difference) bool {
			return x.onlyServer() &&
				strings.HasSuffix(x.server.Text, "requires that the 'input' parameter must be of type string.")
		},
	},
	{
		// {$substrCP: ["", 0, -1]}. Code 34454 is of a negative length.
		"$substrCP of nothing takes a negative length",
		"MongoDB requires a length of at least 0 ($substrCP).",
		func(x difference) bool { return x.onlyEngine() && x.engine.Code == 34454 },
	},
	{
		// {$mergeObjects: "$a"} on {a: [{b: 1}, {c: 2}]} is {b: 1, c: 2}. The server fails.
		"$mergeObjects of one operand doesn't merge what is in an array",
		"Like $sum and the others, MongoDB's $mergeObjects goes through the array if its only operand is one " +
			"($mergeObjects).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$mergeObjects") &&
				strings.HasSuffix(x.server.Text, "has 'array' type")
		},
	},
	{
		// {$avg: [1, 3]} is the double 2 for MongoDB, an integer for the server. Everything that depends on it may
		// differ.
		"$avg returns the type of what it averages",
		"MongoDB returns a double, and a decimal if there is one among the values ($avg, \"Result Data Type\").",
		func(x difference) bool { return x.sameOutside(sortFields, "$avg") },
	},
	{
		// The sort {a: 1} of {a: []} and {a: null}. With a limit, or where a stage picks some of the documents, other
		// documents are returned. Without a limit, find returns the same documents in another order.
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
		// {$add: [null, "x"]}: the server fails with code 14, TypeMismatch.
		"$add looks at every operand",
		"MongoDB returns null as soon as an operand is null or missing ($add, $multiply).",
		func(x difference) bool {
			return x.onlyServer() && x.server.Code == 14 && x.Uses("$add", "$multiply")
		},
	},
	{
		// {a: {$gt: /x/}}.
		"a regular expression can be compared with by order",
		"MongoDB refuses it for $gt and the like ($regex).",
		func(x difference) bool {
			return x.onlyEngine() &&
				(strings.HasPrefix(x.engine.Text, "Can't have RegEx as arg to predicate") ||
					strings.HasPrefix(x.engine.Text, "Can't have regex as arg to $ne"))
		},
	},
	{
		// {$dateToString: {date: "$d", format: "%b"}}: Jan.
		"$dateToString doesn't know the names of months",
		"MongoDB has %b and %B ($dateToString, \"Format Specifiers\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && strings.HasPrefix(x.server.Text, "Invalid format character '%")
		},
	},
	{
		// {a: 5, $expr: {$divide: [1, "$b"]}} on {a: 4, b: 0}: whether it fails depends on which clause comes first.
		// One side fails, and it does so because of $expr, or the engine fails too if $expr stands alone.
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
		// {$getField: {field: "b", input: 5}}.
		"$getField fails on what is no document",
		"MongoDB returns a missing value ($getField).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$getField") &&
				strings.HasPrefix(x.server.Text, "expected a document or array to init iterator")
		},
	},
	{
		// "+000" and "000". Counts of characters depend on it, so numbers aren't compared if the text's length is
		// taken.
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
		// {$dateAdd: {startDate: "$d", unit: "second", amount: 1e10}}.
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
		// The engine fails too without the limit.
		"a projection is computed for documents beyond the limit",
		"MongoDB's find projects what it returns (find, \"projection\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Get("limit") != nil && x.Get("projection") != nil &&
				x.failsLike(x.dropLimits())
		},
	},
	{
		// {$regexFindAll: {input: "aaa", regex: "^a"}}: the server finds three matches, MongoDB one. In a group, nulls
		// in their place are left out.
		"$regexFindAll anchors anew after each match",
		"The beginning of a string is in one place (Regular Expressions; $regexFindAll).",
		func(x difference) bool {
			return x.HasValue(isAnchored) &&
				(x.sameOutside(sortFields, "$regexFindAll") || x.Uses("$group") &&
					x.sameOutside(func(v any) any { return dropNullElements(dropNullFields(v)) }, "$regexFindAll"))
		},
	},
	{
		// {$mod: [5.5, Long(2)]} is 1.5 for MongoDB. A $bitNot of the result fails, or doesn't, by its type.
		"$mod of a double by a long is a long, and that of a large long inexact",
		"From 7.2 on the result has the larger of the two types, a double if either is one ($mod).",
		func(x difference) bool {
			// $bitNot and its kin give this error.
			refused := x.kind == outcome.OnlyEngine && strings.Contains(x.engine.Text, "only supports int and long")
			dropTypes := func(v any) any {
				return sortFields(simplifyDecimals(simplifyZeros(convertToDoubles(v))))
			}
			return x.Uses("$mod") && (refused || x.sameAfter(dropTypes)) || x.sameOutside(sortFields, "$mod")
		},
	},
	{
		// {$reduce: {input: ["$z"], initialValue: 0, in: "$$this"}}, where z is missing. 0 is the type of a missing
		// value.
		"$reduce fails when it comes to a missing value",
		"MongoDB takes a missing value for any other ($reduce).",
		func(x difference) bool {
			return x.onlyServer() && x.Uses("$reduce") && x.server.Text == "Unrecognized BSON data type code 0"
		},
	},
	{
		// A large double is an integer, and has no digits to round.
		"$round of a large double loses digits",
		"MongoDB returns an integral double as it is ($round).",
		func(x difference) bool {
			return x.HasValue(isLarge) && x.sameOutside(sortFields, "$round", "$trunc")
		},
	},
	{
		// {b: {$slice: ["$a", 1, 2]}}, which is the expression, and not {a: {$slice: [1, 2]}}.
		"$slice of a projection can't be the expression",
		"Since 4.4 a projection takes any aggregation expression (find, \"projection\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && (strings.HasPrefix(x.server.Text, "$slice takes 2 arguments") ||
				strings.HasPrefix(x.server.Text, "Expected numeric value for first parameter of $slice"))
		},
	},
	{
		// {b: {c: "$a", d: 0}}. Codes 31252 to 31254 are of a mix of inclusion and exclusion.
		"a number inside a computed document of a projection isn't an inclusion or exclusion",
		"MongoDB refuses to mix them, below a field too (find, \"projection\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && (x.engine.Code == 31252 || x.engine.Code == 31253 ||
				x.engine.Code == 31254)
		},
	},
	{
		// {$toUpper: Code("x")}. Code 16007 is of a value that has no text.
		"JavaScript isn't a string, and a timestamp is one",
		"MongoDB's manual names neither among what becomes a string by itself ($toUpper, $strcasecmp, $substrBytes).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Code == 16007 &&
				strings.Contains(x.server.Text, "javascript") ||
				x.kind == outcome.OnlyEngine && x.engine.Code == 16007 && strings.Contains(x.engine.Text, "timestamp")
		},
	},
	{
		// {$dateToString: {date: "$d", timezone: "+01:00"}}: the server's text ends with Z. $toLower may write it as z.
		"$dateToString ends with Z in any time zone",
		"MongoDB writes Z for UTC alone ($dateToString, \"format\").",
		func(x difference) bool {
			return x.Uses("$dateToString") && x.Uses("timezone") &&
				(x.sameAfter(func(v any) any { return sortFields(dropZ(v)) }) || x.sameFor(appendZ) ||
					x.Uses("$strLenCP", "$strLenBytes", "$binarySize") && x.sameAfter(dropNumbers))
		},
	},
	{
		// {$add: [-0.0, 0]}.
		"-0 and 0 are mixed up in sums",
		"They are equal (Comparison/Sort Order, \"Numeric Types\").",
		func(x difference) bool { return x.Uses("$sum", "$add", "$avg") && x.sameAfter(simplifyZeros) },
	},
	{
		// {$setField: {field: "a", input: null, value: {$divide: [1, 0]}}}: the server fails.
		"$setField computes what null makes needless, and takes no missing document",
		"MongoDB returns null for an input that is null or missing ($setField).",
		func(x difference) bool { return x.computesEagerly("$setField") },
	},
	{
		// {$toDate: Timestamp(5, 1)}: the server returns the date of the second 5. With onError, MongoDB returns that
		// value.
		"a timestamp becomes a date",
		"MongoDB's page doesn't name a timestamp among what becomes a date ($toDate).",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && strings.HasPrefix(x.engine.Text,
				"Unsupported conversion from timestamp to date") ||
				x.Uses("onError") && x.sameFor(convertTimestamps)
		},
	},
	{
		// {$toDate: 1e15} is the date 33658-09-27.
		"$toDate of a large number fails",
		"A date is a 64-bit number of milliseconds (BSON Types, \"Date\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && strings.HasSuffix(x.server.Text, "is out of range for timestamps.")
		},
	},
	{
		// {$subtract: ["$d", 0.5]}.
		"$subtract of a fraction from a date rounds it",
		"MongoDB subtracts whole milliseconds ($subtract).",
		func(x difference) bool { return x.sameOutside(sortFields, "$subtract") },
	},
	{
		// {$toUpper: 1.23456789}: the server returns 1.23457.
		"a double becomes a string with six digits",
		"MongoDB writes up to 16 digits ($toLower, $toUpper, $toString).",
		func(x difference) bool {
			return x.Uses("$toLower", "$toUpper") && x.sameAfter(func(v any) any { return sortFields(roundTexts(v)) })
		},
	},
	{
		// {$toString: 1e15}: the server returns 1e+15, MongoDB 1000000000000000.
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
