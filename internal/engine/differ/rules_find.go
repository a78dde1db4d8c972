package differ

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

var findRules = []rule{
	{
		"constants are computed for no document",
		"MongoDB's manual doesn't say when an expression without fields is computed; the engine does it for " +
			"each document that needs it, the server once and in any case.",
		func(x difference) bool {
			return x.kind == OnlyServer && x.server.Code > 10000 && x.reached() == 0
		},
	},
	{
		"$zip takes no constant expression",
		"MongoDB takes any expression that resolves to an array ($zip).",
		func(x difference) bool {
			return x.kind == OnlyServer && strings.HasPrefix(x.server.Text, "The $zip encountered an input that is not an array: { \"$")
		},
	},
	{
		"$dateTrunc is off",
		"MongoDB truncates to the start of the unit in the time zone, before 1970 too ($dateTrunc).",
		func(x difference) bool { return x.uses("$dateTrunc") && x.sameAfter(dropScalars) },
	},
	{
		"$ifNull and $switch compute what they don't need",
		"MongoDB returns the first operand that isn't null or missing, or of the first branch that is true ($ifNull, $switch).",
		func(x difference) bool {
			return x.kind == OnlyServer && x.uses("$ifNull", "$switch", "$cond") && (x.server.Code > 10000 || x.server.Code == 241)
		},
	},
	{
		"a variable of $let that nobody uses isn't computed",
		"MongoDB assigns each variable before it evaluates \"in\" ($let).",
		func(x difference) bool {
			return x.kind == OnlyEngine && x.uses("$let") && x.engine.Code > 10000 && !mentions(x.Command, "$$x")
		},
	},
	{
		"$let of a constant isn't computed",
		"MongoDB evaluates the expression \"in\" ($let).",
		func(x difference) bool {
			return x.uses("$let") && !x.server.failed() && keyWithDollar(x.server) && !keyWithDollar(x.engine) ||
				x.uses("$let") && x.kind == OnlyServer && strings.Contains(x.server.Text, "'$'-prefixed fields")
		},
	},
	{
		"constants and joined documents are placed last",
		"MongoDB puts computed fields in the order in which they are given, in place of the field that they " +
			"replace ($project, $addFields).",
		func(x difference) bool {
			return (x.kind == Replies || x.kind == States) && x.uses("$project", "$addFields", "$set", "$lookup") && x.sameAfter(sortFields)
		},
	},
	{
		"a missing field isn't compared with MinKey and MaxKey",
		"MongoDB orders every value, a missing one included, between them (Comparison/Sort Order).",
		func(x difference) bool {
			return (x.kind == Replies || x.kind == States) && x.holds(isExtreme) &&
				x.uses("$gt", "$gte", "$lt", "$lte", "$cmp", "$eq", "$ne", "$min", "$max")
		},
	},
	{
		"$regexMatch fails on a null that an operator returns",
		"MongoDB returns false or null for an input that is null ($regexMatch, $regexFind).",
		func(x difference) bool {
			return x.kind == OnlyServer && strings.HasSuffix(x.server.Text, "requires that the 'input' parameter must be of type string.")
		},
	},
	{
		"$substrCP of nothing takes a negative length",
		"MongoDB requires a length of at least 0 ($substrCP).",
		func(x difference) bool { return x.kind == OnlyEngine && x.engine.Code == 34454 },
	},
	{
		"$mergeObjects of one operand doesn't merge what is in an array",
		"Like $sum and the others, MongoDB's $mergeObjects goes through the array if its only operand is one.",
		func(x difference) bool {
			return x.kind == OnlyServer && x.uses("$mergeObjects") && strings.HasSuffix(x.server.Text, "has 'array' type")
		},
	},
	{
		"$avg returns the type of what it averages",
		"MongoDB returns a double, and a decimal if there is one among the values ($avg, \"Result Data Type\").",
		func(x difference) bool { return x.uses("$avg") && x.sameAfter(asDoubles) },
	},
	{
		"an empty array sorts as null does",
		"MongoDB sorts an empty array before null (Comparison/Sort Order, \"Arrays\").",
		func(x difference) bool {
			return (x.kind == Replies || x.kind == States) && x.holds(isEmptyArray) && (x.get("sort") != nil ||
				x.uses("$sort", "$top", "$topN", "$bottom", "$bottomN", "$sortArray"))
		},
	},
	{
		"$add looks at every operand",
		"MongoDB returns null as soon as an operand is null or missing ($add, $multiply).",
		func(x difference) bool {
			return x.kind == OnlyServer && x.server.Code == 14 && x.uses("$add", "$multiply")
		},
	},
	{
		"a regular expression can be compared with by order",
		"MongoDB refuses it for $gt and the like ($regex).",
		func(x difference) bool {
			return x.kind == OnlyEngine && strings.HasPrefix(x.engine.Text, "Can't have RegEx as arg to predicate")
		},
	},
	{
		"$dateToString doesn't know the names of months",
		"MongoDB has %b and %B ($dateToString, \"Format Specifiers\").",
		func(x difference) bool {
			return x.kind == OnlyServer && strings.HasPrefix(x.server.Text, "Invalid format character '%")
		},
	},
	{
		"sets come in another order",
		"MongoDB leaves the order of the elements unspecified ($setUnion, $setIntersection, $setDifference).",
		func(x difference) bool {
			return x.uses("$setUnion", "$setIntersection", "$setDifference") && x.sameAfter(sortElements)
		},
	},
}

// reached is the number of documents that the engine's answer tells of.
func (x difference) reached() int {
	n := len(batch(x.engine.Reply))
	for _, e := range x.engine.Reply {
		switch v := e.Value.(type) {
		case int32:
			n += int(v)
		case bson.A:
			n += len(v)
		case bson.D:
			count, _ := lookup(v, "n").(int32)
			n += int(count)
		}
	}
	return n
}

func asDoubles(v any) any {
	switch n := v.(type) {
	case int32:
		return float64(n)
	case int64:
		return float64(n)
	case bson.Decimal128:
		f, err := strconv.ParseFloat(n.String(), 64)
		if err == nil {
			return f
		}
	}
	return v
}

// dropScalars keeps the shape of documents and arrays alone.
func dropScalars(v any) any {
	switch v.(type) {
	case bson.D, bson.A:
		return v
	}
	return nil
}

// keyWithDollar reports whether an expression stands where its value should.
func keyWithDollar(o Outcome) bool {
	found := false
	for _, doc := range append([]bson.D{o.Reply}, o.State...) {
		walk(doc, func(key string, _ any) { found = found || strings.HasPrefix(key, "$") })
	}
	return found
}

func sortElements(v any) any {
	if list, ok := v.(bson.A); ok {
		slices.SortFunc(list, func(x, y any) int { return bytes.Compare(encode(x), encode(y)) })
	}
	return v
}
