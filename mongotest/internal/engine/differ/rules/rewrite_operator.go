// Rewritings of commands by operators. Rules pass the functions that take a value to sameFor and failsFor, which call
// them for each value of the command, the inner values first. A rewriting makes the engine do what the server is known
// to do. It returns any other value as it is. truncateDecimal is called for the values of the documents instead.

package rules

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// removeOperators returns the case with null in place of every expression by one of the operators, and without the
// stages, the update operators and the filter operators of these names.
func (x difference) removeOperators(operators ...string) cases.Case {
	c := x.Case
	named := func(v any) bool {
		doc, ok := v.(bson.D)
		return ok && len(doc) == 1 && slices.Contains(operators, doc[0].Key)
	}
	takeOut := func(v any) any {
		switch v := v.(type) {
		case bson.A:
			return slices.DeleteFunc(v, func(x any) bool { return x == removed })
		case bson.D:
			if named(v) {
				return removed
			}
			return slices.DeleteFunc(v, func(e bson.E) bool { return slices.Contains(operators, e.Key) })
		}
		return v
	}
	c.Command, _ = tree.Map(c.Command, takeOut).(bson.D)
	c.Command, _ = tree.Map(c.Command, func(v any) any {
		if v == removed {
			return nil
		}
		return v
	}).(bson.D)
	return c
}

// removed marks what removeOperators takes out, until the list around it has been read.
var removed any = bson.Symbol("removed")

// replaceArrayFilters returns the case with array filters that match no element, and the case with array filters that
// match every element. [{x: {$in: []}}] matches none, [{x: {$nin: []}}] every element.
func (x difference) replaceArrayFilters() []cases.Case {
	out := []cases.Case{x.Case, x.Case}
	for i, condition := range []bson.D{tree.D("$in", bson.A{}), tree.D("$nin", bson.A{})} {
		replace := func(v any) any {
			doc, _ := v.(bson.D)
			for k, e := range doc {
				if e.Key == "arrayFilters" {
					doc[k].Value = bson.A{tree.D("x", condition)}
				}
			}
			return v
		}
		out[i].Command, _ = tree.Map(x.Command, replace).(bson.D)
	}
	return out
}

// replaceAll replaces $all, and $in of one value, by an equality with the first value. It walks through the whole
// command by itself.
//
//	{a: {$all: [1, 2]}}  becomes  {a: {$eq: 1}}
func replaceAll(v any) any {
	switch v := v.(type) {
	case bson.D:
		out := make(bson.D, len(v))
		for i, e := range v {
			list, _ := e.Value.(bson.A)
			if len(list) > 0 && (e.Key == "$all" || e.Key == "$in" && len(list) == 1) {
				out[i] = bson.E{Key: "$eq", Value: list[0]}
			} else {
				out[i] = bson.E{Key: e.Key, Value: replaceAll(e.Value)}
			}
		}
		return out
	case bson.A:
		out := make(bson.A, len(v))
		for i, x := range v {
			out[i] = replaceAll(x)
		}
		return out
	}
	return v
}

// dropLimits returns the find without limit and skip. The engine then projects all documents that the filter finds.
func (x difference) dropLimits() cases.Case {
	c := x.Case
	c.Command = slices.DeleteFunc(slices.Clone(c.Command), func(e bson.E) bool {
		return e.Key == "limit" || e.Key == "skip"
	})
	return c
}

// dropListDecimals removes the decimals from the lists of $in and $nin:
//
//	{$nin: [1, Decimal128("1.5")]}  becomes  {$nin: [1]}
func dropListDecimals(v any) any {
	doc, _ := v.(bson.D)
	for i, e := range doc {
		if list, ok := e.Value.(bson.A); ok && (e.Key == "$in" || e.Key == "$nin") {
			doc = slices.Clone(doc)
			doc[i].Value = slices.DeleteFunc(slices.Clone(list), isDecimal)
		}
	}
	if doc == nil {
		return v
	}
	return doc
}

// convertTimestamps makes $convert take a date for a timestamp of its input:
//
//	{$convert: {to: "date", input: "$a"}}
//	{$convert: {to: "date", input: {$cond: [<"$a" is a timestamp>, <its date>, "$a"]}}}
func convertTimestamps(v any) any {
	doc, _ := v.(bson.D)
	in := tree.Lookup(doc, "input")
	if !tree.HasField(doc, "to") || in == nil {
		return v
	}
	date := tree.D("$add", bson.A{bson.DateTime(0), tree.D("$multiply", bson.A{tree.D("$tsSecond", in), int32(1000)})})
	return append(dropField(doc, "input"), bson.E{
		Key:   "input",
		Value: tree.D("$cond", bson.A{tree.D("$eq", bson.A{tree.D("$type", in), "timestamp"}), date, in}),
	})
}

// truncateExpr makes the truth of a number in $expr depend on its whole part.
func truncateExpr(v any) any { return wrapExpr(v, "$trunc") }

// convertExpr makes the truth of a number in $expr depend on the int that it becomes, which fails for NaN and large
// numbers.
func convertExpr(v any) any { return wrapExpr(v, "$toInt") }

// wrapExpr applies an operator to the value of $expr if it is a number:
//
//	{$expr: "$a"}
//	{$expr: {$cond: [{$isNumber: "$a"}, {$trunc: "$a"}, "$a"]}}
func wrapExpr(v any, operator string) any {
	doc, _ := v.(bson.D)
	i := slices.IndexFunc(doc, func(e bson.E) bool { return e.Key == "$expr" })
	if i < 0 {
		return v
	}
	doc = slices.Clone(doc)
	e := doc[i].Value
	doc[i].Value = tree.D("$cond", bson.A{tree.D("$isNumber", e), tree.D(operator, e), e})
	return doc
}

// compareEach compares every operand of $setEquals with the first, so that all are computed:
//
//	{$setEquals: [x, y, z]}
//	{$arrayElemAt: [[{$setEquals: [x, y]}, {$setEquals: [x, z]}], 0]}
func compareEach(v any) any {
	doc, ok := v.(bson.D)
	list, _ := tree.Lookup(v, "$setEquals").(bson.A)
	if !ok || len(doc) != 1 || len(list) < 2 {
		return v
	}
	var pairs bson.A
	for _, x := range list[1:] {
		pairs = append(pairs, tree.D("$setEquals", bson.A{list[0], x}))
	}
	return tree.D("$arrayElemAt", bson.A{pairs, 0})
}

// isolateExpr removes the conditions beside $expr in a filter, or a $match before a $match with $expr. Then $expr is
// computed for all documents. There may be a $redact between the two stages.
func isolateExpr(v any) any {
	if list, ok := v.(bson.A); ok {
		list = slices.Clone(list)
		for i := len(list) - 1; i > 0; i-- {
			before := i - 1
			if before > 0 && tree.Lookup(list[before], "$redact") != nil {
				before--
			}
			if (cases.Case{Command: tree.D("m", tree.Lookup(list[i], "$match"))}).Uses("$expr") &&
				tree.Lookup(list[before], "$match") != nil {
				list = slices.Delete(list, before, before+1)
			}
		}
		v = list
		if i := slices.IndexFunc(list, func(x any) bool { return tree.Lookup(x, "$expr") != nil }); i >= 0 {
			return list[i : i+1]
		}
	}
	doc, _ := v.(bson.D)
	for _, e := range doc {
		logical := slices.Contains([]string{"$and", "$or", "$nor"}, e.Key) &&
			(cases.Case{Command: bson.D{e}}).Uses("$expr")
		if len(doc) > 1 && (e.Key == "$expr" || logical) {
			return bson.D{e}
		}
	}
	return v
}

// skipYear0 makes years before the year 1 one less, so that there is no year 0.
func skipYear0(v any) any {
	if doc, ok := v.(bson.D); ok && len(doc) == 1 && doc[0].Key == "$year" {
		return tree.D("$let",
			tree.D("vars", tree.D("y", doc), "in",
				tree.D("$cond", bson.A{
					tree.D("$lte", bson.A{"$$y", int32(0)}), tree.D("$subtract", bson.A{"$$y", int32(1)}), "$$y",
				})))
	}
	return v
}

// inlineVariables replaces each variable of a $let by its expression. So a variable that isn't used isn't computed.
// {$let: {vars: {v: 1}, in: {$add: ["$$v", 2]}}} becomes {$add: [1, 2]}.
func inlineVariables(v any) any {
	let := tree.Lookup(v, "$let")
	vars, _ := tree.Lookup(let, "vars").(bson.D)
	if vars == nil {
		return v
	}
	return tree.Map(tree.Lookup(let, "in"), func(v any) any {
		if s, ok := v.(string); ok && strings.HasPrefix(s, "$$") && tree.HasField(vars, s[2:]) {
			return tree.Lookup(vars, s[2:])
		}
		return v
	})
}

// acceptAnyBits makes conditions on bits match every document that has the field:
//
//	{a: {$bitsAllSet: 1}}  becomes  {a: {$exists: true}}
func acceptAnyBits(v any) any {
	doc, _ := v.(bson.D)
	if len(doc) == 1 && strings.HasPrefix(doc[0].Key, "$bits") {
		return tree.D("$exists", true)
	}
	return v
}

// truncateDecimal returns an integer with the bits that the server finds in a decimal which isn't an integer.
func truncateDecimal(v any) any {
	if !isBrokenDecimal(v) {
		return v
	}
	f, err := strconv.ParseFloat(v.(bson.Decimal128).String(), 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > math.MaxInt32 {
		return int64(0)
	}
	return int64(f)
}

// replaceMissing makes missing operands of comparisons MinKey. {$gt: ["$z", MinKey]} then compares MinKey with itself
// where z is missing.
func replaceMissing(v any) any {
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

// requireExists makes a filter's comparisons by order with MinKey and MaxKey match only documents that have the field.
// {a: {$gt: MinKey}} becomes {a: {$gt: MinKey, $exists: true}}.
func requireExists(v any) any {
	doc, _ := v.(bson.D)
	for _, e := range doc {
		if isExtreme(e.Value) && slices.Contains([]string{"$gt", "$gte", "$lt", "$lte"}, e.Key) {
			return append(slices.Clone(doc), bson.E{Key: "$exists", Value: true})
		}
	}
	return v
}

// dropOnNull removes onNull from a $convert. So failsOnConstant doesn't see a constant that stands in onNull.
func dropOnNull(v any) any {
	if convert, ok := tree.Lookup(v, "$convert").(bson.D); ok && tree.HasField(convert, "onNull") {
		return tree.D("$convert", dropField(convert, "onNull"))
	}
	return v
}

// quoteLet replaces a $let whose "in" is a constant by the constant as it is written, without computing it.
func quoteLet(v any) any {
	in := tree.Lookup(tree.Lookup(v, "$let"), "in")
	if _, isDoc := in.(bson.D); isDoc && !mentionsField(in) {
		return tree.D("$literal", in)
	}
	return v
}

// appendZ appends Z to the result of a $dateToString with a time zone and without a format.
func appendZ(v any) any {
	args := tree.Lookup(v, "$dateToString")
	if tree.Lookup(args, "timezone") != nil && tree.Lookup(args, "format") == nil {
		return tree.D("$concat", bson.A{v, "Z"})
	}
	return v
}

// acceptAnyPlace makes conditions on a place on the sphere match every document that has the field:
//
//	{a: {$geoIntersects: …}}  becomes  {a: {$exists: true}}
func acceptAnyPlace(v any) any {
	if doc, ok := v.(bson.D); ok && len(doc) == 1 &&
		(tree.Lookup(doc[0].Value, "$centerSphere") != nil || doc[0].Key == "$geoIntersects") {
		return tree.D("$exists", true)
	}
	return v
}

// scaleCircles returns a rewriting that multiplies the radius of each circle by a factor.
func scaleCircles(by float64) func(any) any {
	return func(v any) any {
		circle, _ := tree.Lookup(v, "$centerSphere").(bson.A)
		if len(circle) != 2 {
			return v
		}
		switch r := circle[1].(type) {
		case float64:
			return tree.D("$centerSphere", bson.A{circle[0], r * by})
		case int32:
			return tree.D("$centerSphere", bson.A{circle[0], float64(r) * by})
		}
		return v
	}
}
