package grammar

// This file has the tables of operators on strings and dates.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// stringOps are the operators on strings. é, of two bytes, tells bytes and code points apart.
func stringOps() map[string]form {
	table := map[string]form{
		"$concat":      {str, makeSome(str, 0, 3)},
		"$toLower":     {str, makeSingle(str)},
		"$toUpper":     {str, makeSingle(str)},
		"$strLenCP":    {num, makeSingle(str)},
		"$strcasecmp":  {num, makeArgs(str, str)},
		"$split":       {arr, func(g *gen) any { return bson.A{g.expr(str), pick(g, "b", ",", ".", " ", "aé")} }},
		"$replaceOne":  {str, replacement},
		"$replaceAll":  {str, replacement},
		"$strLenBytes": {num, makeSingle(str)},
	}
	for _, name := range []string{"$substr", "$substrCP", "$substrBytes"} {
		table[name] = form{str, func(g *gen) any {
			return bson.A{
				g.expr(str), pick[any](g, int32(0), int32(1), int32(2)),
				pick[any](g, int32(0), int32(1), int32(9), int32(-1)),
			}
		}}
	}
	for _, name := range []string{"$indexOfCP", "$indexOfBytes"} {
		table[name] = form{num, func(g *gen) any {
			out := bson.A{g.expr(str), pick[any](g, "b", "a", "é", "", g.expr(str))}
			for range g.IntN(3) {
				out = append(out, pick[any](g, int32(0), int32(1), int32(2)))
			}
			return out
		}}
	}
	for _, name := range []string{"$trim", "$ltrim", "$rtrim"} {
		table[name] = form{str, func(g *gen) any {
			out := tree.D("input", pick[any](g, g.expr(str), "  a b\t\n"))
			if g.chance(50) {
				out = append(out, bson.E{Key: "chars", Value: pick(g, "a", " b", "éa", "1")})
			}
			return out
		}}
	}
	// The order of this map doesn't matter: entries are put into a table, and draw nothing from the generator yet.
	for name, out := range map[string]kind{"$regexMatch": boolean, "$regexFind": obj, "$regexFindAll": arr} {
		table[name] = form{out, func(g *gen) any {
			patterns := []any{g.pattern(), "(a)(b)?", "(?=(.b))a", bson.Regex{Pattern: g.pattern()}}
			if name != "$regexMatch" { // which that server compiles without groups
				patterns = append(patterns, `(.)\1`, "(?:(a)|b)(?(1)b|a)")
			}
			doc := tree.D("input", g.expr(str), "regex", pick(g, patterns...))
			if g.chance(30) {
				doc = append(doc, bson.E{Key: "options", Value: pick(g, "i", "m", "s", "x")})
			}
			return doc
		}}
	}
	return table
}

// replacement makes the operand of $replaceOne and $replaceAll.
func replacement(g *gen) any {
	return tree.D("input", g.expr(str), "find", pick[any](g, "a", "b", "é", g.expr(str)), "replacement",
		pick[any](g, "", "zz", g.expr(str)))
}

// dateOps are the operators on dates. Parts and time zones are chosen to cross days, months and leap years.
func dateOps() map[string]form {
	table := map[string]form{
		"$dateAdd":      {date, func(g *gen) any { return g.dateStep("startDate", "amount", g.smallNumber()) }},
		"$dateSubtract": {date, func(g *gen) any { return g.dateStep("startDate", "amount", g.smallNumber()) }},
		"$dateDiff": {num, func(g *gen) any {
			return g.addZone(tree.D("startDate", g.expr(date), "endDate", g.expr(date), "unit", g.unit()))
		}},
		// Bins of several units are counted from a date that the manual gives.
		"$dateTrunc": {date, func(g *gen) any {
			out := tree.D("date", g.expr(date), "unit", g.unit())
			if g.chance(30) {
				out = append(out, bson.E{Key: "binSize", Value: pick[any](g, int32(1), int32(2), int64(7))})
			}
			return g.addZone(out)
		}},
		"$dateToString": {str, func(g *gen) any {
			out := tree.D("date", g.expr(date))
			if g.chance(70) {
				out = append(out, bson.E{
					Key:   "format",
					Value: pick(g, "%Y-%m-%d", "%H:%M:%S.%L", "%G-W%V-%u", "%j %w %U", "%z %Z %%", "%B %b %d"),
				})
			}
			if g.chance(20) {
				out = append(out, bson.E{Key: "onNull", Value: "none"})
			}
			return g.addZone(out)
		}},
		"$dateToParts": {obj, func(g *gen) any {
			if g.chance(30) {
				return tree.D("date", g.expr(date), "iso8601", true)
			}
			return g.addZone(tree.D("date", g.expr(date)))
		}},
		// Parts beyond their ranges carry over into the next month or day.
		"$dateFromParts": {date, func(g *gen) any {
			out := tree.D("year", pick(g, 2000, 2024, 1970), "month", pick(g, 1, 2, 12, 14),
				"day", pick(g, 1, 29, 31, 0))
			if g.chance(40) {
				out = append(out, tree.D("hour", pick(g, 0, 23, 25), "minute", 5, "second", 7, "millisecond", 8)...)
			}
			return g.addZone(out)
		}},
		// onError and onNull make of texts that are no dates something that can be compared.
		"$dateFromString": {date, func(g *gen) any {
			if g.chance(40) {
				return tree.D("dateString", pick(g, "2024-02-29", "01/02/2024"), "format",
					pick(g, "%Y-%m-%d", "%d/%m/%Y"), "onError", "bad")
			}
			return tree.D("dateString",
				pick[any](g, "2024-02-29T01:02:03Z", "2024-02-29", "2024-02-29T01:02:03.456+02:00", nil),
				"onNull", "none", "onError", "bad")
		}},
	}
	for _, name := range []string{"$year", "$month", "$dayOfMonth", "$hour", "$minute", "$second", "$millisecond",
		"$dayOfYear", "$dayOfWeek", "$week", "$isoWeek", "$isoWeekYear", "$isoDayOfWeek"} {
		table[name] = form{num, func(g *gen) any {
			if g.chance(70) {
				return g.expr(date)
			}
			return g.addZone(tree.D("date", g.expr(date)))
		}}
	}
	return table
}

// unit picks a unit of time.
func (g *gen) unit() string {
	return pick(g, "year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond")
}

// dateStep makes the operand of what adds to a date.
func (g *gen) dateStep(start, amount string, n any) bson.D {
	return g.addZone(tree.D(start, g.expr(date), "unit", g.unit(), amount, n))
}

// addZone adds a time zone, now and then.
func (g *gen) addZone(doc bson.D) bson.D {
	if g.chance(20) {
		return append(doc, bson.E{Key: "timezone", Value: pick(g, "UTC", "+02:00", "Europe/Paris", "America/New_York")})
	}
	return doc
}
