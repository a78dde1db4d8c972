package grammar

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

func stringOps() map[string]form {
	table := map[string]form{
		"$concat":      {str, some(str, 0, 3)},
		"$toLower":     {str, single(str)},
		"$toUpper":     {str, single(str)},
		"$strLenCP":    {num, single(str)},
		"$strcasecmp":  {num, args(str, str)},
		"$split":       {arr, func(g *gen) any { return bson.A{g.expr(str), pick(g, "b", ",", ".", " ", "aé")} }},
		"$replaceOne":  {str, replacement},
		"$replaceAll":  {str, replacement},
		"$strLenBytes": {num, single(str)},
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

func replacement(g *gen) any {
	return tree.D("input", g.expr(str), "find", pick[any](g, "a", "b", "é", g.expr(str)), "replacement",
		pick[any](g, "", "zz", g.expr(str)))
}

func dateOps() map[string]form {
	table := map[string]form{
		"$dateAdd":      {date, func(g *gen) any { return g.dateStep("startDate", "amount", g.small()) }},
		"$dateSubtract": {date, func(g *gen) any { return g.dateStep("startDate", "amount", g.small()) }},
		"$dateDiff": {num, func(g *gen) any {
			return g.zoned(tree.D("startDate", g.expr(date), "endDate", g.expr(date), "unit", g.unit()))
		}},
		"$dateTrunc": {date, func(g *gen) any {
			out := tree.D("date", g.expr(date), "unit", g.unit())
			if g.chance(30) {
				out = append(out, bson.E{Key: "binSize", Value: pick[any](g, int32(1), int32(2), int64(7))})
			}
			return g.zoned(out)
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
			return g.zoned(out)
		}},
		"$dateToParts": {obj, func(g *gen) any {
			if g.chance(30) {
				return tree.D("date", g.expr(date), "iso8601", true)
			}
			return g.zoned(tree.D("date", g.expr(date)))
		}},
		"$dateFromParts": {date, func(g *gen) any {
			out := tree.D("year", pick(g, 2000, 2024, 1970), "month", pick(g, 1, 2, 12, 14),
				"day", pick(g, 1, 29, 31, 0))
			if g.chance(40) {
				out = append(out, tree.D("hour", pick(g, 0, 23, 25), "minute", 5, "second", 7, "millisecond", 8)...)
			}
			return g.zoned(out)
		}},
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
			return g.zoned(tree.D("date", g.expr(date)))
		}}
	}
	return table
}

func (g *gen) unit() string {
	return pick(g, "year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond")
}

func (g *gen) dateStep(start, amount string, n any) bson.D {
	return g.zoned(tree.D(start, g.expr(date), "unit", g.unit(), amount, n))
}

// zoned adds a time zone, now and then.
func (g *gen) zoned(doc bson.D) bson.D {
	if g.chance(20) {
		return append(doc, bson.E{Key: "timezone", Value: pick(g, "UTC", "+02:00", "Europe/Paris", "America/New_York")})
	}
	return doc
}
