package checks

import (
	"github.com/docmodel/docmodel/denorm/proximity"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	skillText = proximity.New(anything, "skills", proximity.Spec{
		Text: "skillText", Fields: []string{"skill", "level"},
	})
	langText = proximity.New(anything, "cv.langs", proximity.Spec{Text: "langText", IgnoreCase: true})
)

const (
	longPattern = "a pattern has at most 32,000 bytes"
	oneWord     = "a word has no spaces, and a pattern at most 32,000 bytes"
)

func init() {
	register(proximityWrites()...)
	register(proximityReads()...)
}

// skillOf is a skill whose fields are all text.
func skillOf(s string) bson.D {
	return roomy(bson.D{{Key: "skill", Value: s}, {Key: "level", Value: s}})
}

func proximityWrites() []Case {
	write := func(method, reason string, call func(skill bson.D, s string) any) Case {
		return Case{Method: "proximity.Proximity." + method, Reason: reason, From: func(s string) ([]any, func() any) {
			skill := skillOf(s)
			return []any{skill}, func() any { return call(skill, s) }
		}}
	}
	return []Case{
		write("Add", "unless it is there", func(skill bson.D, s string) any { return skillText.Add(s, skill) }),
		write("Add", "what is no text is refused", func(_ bson.D, s string) any {
			return skillText.Add(s, bson.D{{Key: "skill", Value: 1}})
		}),
		{Method: "proximity.Proximity.Add", Reason: "a string", Make: func(s string) any { return langText.Add(s, s) }},
		write("Remove", "from both", func(skill bson.D, s string) any { return skillText.Remove(s, skill) }),
		write("Remove", "nothing is refused", func(_ bson.D, s string) any { return skillText.Remove(s) }),
		{Method: "proximity.Proximity.Checks", Reason: "made anew, of documents", From: func(s string) ([]any, func() any) {
			check := skillText.Checks()[0]
			found := findings(check, bson.M{"_id": s}, bson.M{"_id": "b"})
			return []any{found}, func() any { return check.Mend(found) }
		}},
	}
}

func proximityReads() []Case {
	equal := func(reason string, make func(s string) bson.D, x *proximity.Proximity[bson.D, any]) Case {
		return Case{
			Method: "proximity.Proximity.Equal", Reason: reason, MayRefuse: longPattern,
			From: func(s string) ([]any, func() any) {
				d := roomy(make(s))
				return []any{d}, func() any { return x.Equal(d) }
			},
		}
	}
	near := func(reason string, between int, order proximity.WordOrder) Case {
		return Case{
			Method: "proximity.Proximity.Near", Reason: reason, MayRefuse: oneWord,
			Make: func(s string) any { return skillText.Near(s, s+"2", between, order) },
		}
	}
	return []Case{
		equal("all fields", skillOf, skillText),
		equal("one of the fields", func(s string) bson.D { return bson.D{{Key: "level", Value: s}} }, skillText),
		equal("a field that an element hasn't",
			func(s string) bson.D { return bson.D{{Key: "level", Value: s}, {Key: "skill", Value: nil}} }, skillText),
		equal("strings, of either case", func(s string) bson.D { return bson.D{{Key: "langs", Value: s}} }, langText),
		equal("what is no text is refused",
			func(s string) bson.D { return bson.D{{Key: "skill", Value: bson.D{{Key: "$gt", Value: s}}}} }, skillText),
		near("next to each other", 0, proximity.InOrder),
		near("with two words between, in any order", 2, proximity.AnyOrder),
		near("too many between is refused", 101, proximity.AnyOrder),
		{Method: "proximity.Proximity.Checks", Reason: "of documents", Make: func(string) any { return skillText.Checks()[0] }},
		{Method: "proximity.Proximity.Checks", Reason: "of strings", Make: func(string) any { return langText.Checks()[0] }},
		{Method: "proximity.Proximity.Indexes", Reason: "the text", Make: func(string) any { return skillText.Indexes() }},
	}
}
