package checks

import (
	"github.com/docmodel/docmodel/denorm/numbered"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	skillFields = numbered.New(anything, "skills", numbered.Spec{
		Max: 2, Fields: []string{"skill", "level"}, Key: "skill",
	})
	langFields = numbered.New(anything, "langs", numbered.Spec{Max: 2})
)

func init() {
	register(numberedWrites()...)
	register(numberedReads()...)
}

// resume is a document with skills, and one of them.
func resumeOf(s string) (doc, skill bson.D) {
	skill = roomy(bson.D{{Key: "skill", Value: s}, {Key: "level", Value: roomy(bson.D{{Key: "years", Value: s}})}})
	return roomy(bson.D{
		{Key: "_id", Value: s},
		{Key: "skills", Value: bson.A{skill, bson.D{{Key: "skill", Value: s + "2"}}}},
		{Key: "name", Value: s},
	}), skill
}

func numberedWrites() []Case {
	write := func(method, reason string, call func(doc, skill bson.D, s string) any) Case {
		return Case{Method: "numbered.Numbered." + method, Reason: reason, From: func(s string) ([]any, func() any) {
			doc, skill := resumeOf(s)
			return []any{doc, skill}, func() any { return call(doc, skill, s) }
		}}
	}
	return []Case{
		write("Insert", "flat", func(doc, _ bson.D, _ string) any { return skillFields.Insert(doc) }),
		write("Replace", "flat", func(doc, _ bson.D, _ string) any { return skillFields.Replace(doc) }),
		write("Set", "one, and nothing after it", func(_, skill bson.D, s string) any { return skillFields.Set(s, skill) }),
		write("Set", "none", func(_, _ bson.D, s string) any { return skillFields.Set(s) }),
		write("Set", "too many are refused", func(_, skill bson.D, s string) any {
			return skillFields.Set(s, skill, skill, skill)
		}),
		{Method: "numbered.Numbered.Set", Reason: "plain values", From: func(s string) ([]any, func() any) {
			list := roomy([]any{s, s})
			return []any{list}, func() any { return langFields.Set(s, list...) }
		}},
		write("AppendAt", "the first", func(_, skill bson.D, s string) any { return skillFields.AppendAt(s, 0, skill) }),
		write("AppendAt", "one more, without a field", func(_, _ bson.D, s string) any {
			return skillFields.AppendAt(s, 1, bson.D{{Key: "skill", Value: s}})
		}),
		write("AppendAt", "a full list refuses", func(_, skill bson.D, s string) any {
			return skillFields.AppendAt(s, 2, skill)
		}),
		{Method: "numbered.Numbered.Append", Reason: "after what was read", From: func(s string) ([]any, func() any) {
			_, skill := resumeOf(s)
			return []any{skill}, func() any { return skillFields.Append(s, skill) }
		}, State: asRead(func(s string) model.Change { return skillFields.Append(s, bson.D{{Key: "skill", Value: s}}) },
			func(s string) testkit.Docs {
				return testkit.Docs{
					"anything": {bson.D{{Key: "_id", Value: s}, {Key: "skills", Value: 1}, {Key: "skill_1", Value: s + "2"}}},
				}
			})},
		{Method: "numbered.Numbered.Append", Reason: "without a key is refused", From: func(s string) ([]any, func() any) {
			skill := roomy(bson.D{{Key: "level", Value: s}})
			return []any{skill}, func() any { return skillFields.Append(s, skill) }
		}, State: func(string) any { return struct{}{} }},
		{
			Method: "numbered.Numbered.Convert", Reason: "as it was read",
			Make: func(string) any { return skillFields.Convert() },
			State: func(s string) any {
				doc, _ := resumeOf(s)
				raw, err := bson.Marshal(doc)
				if err != nil {
					panic(err)
				}
				return []bson.Raw{raw}
			},
		},
		{Method: "numbered.Numbered.Restore", Reason: "on the server", Make: func(string) any { return skillFields.Restore() }},
		{Method: "numbered.Numbered.Checks", Reason: "counted anew", From: func(s string) ([]any, func() any) {
			check := skillFields.Checks()[0]
			found := findings(check, bson.M{"_id": s}, bson.M{"_id": "b"})
			return []any{found}, func() any { return check.Mend(found) }
		}},
	}
}

func numberedReads() []Case {
	query := func(method, reason string, make func(s string) bson.D, call func(bson.D) any) Case {
		return Case{Method: "numbered.Numbered." + method, Reason: reason, From: func(s string) ([]any, func() any) {
			d := roomy(make(s))
			return []any{d}, func() any { return call(d) }
		}}
	}
	both := func(s string) bson.D { return bson.D{{Key: "level", Value: s}, {Key: "skill", Value: s}} }
	equal := func(d bson.D) any { return skillFields.Equal(d) }
	match := func(d bson.D) any { return skillFields.Match(d) }
	return []Case{
		query("Equal", "at one position, in the order of the index", both, equal),
		query("Equal", "null, where there is an element",
			func(string) bson.D { return bson.D{{Key: "skill", Value: nil}} }, equal),
		query("Equal", "a document is data", func(s string) bson.D {
			return bson.D{{Key: "level", Value: roomy(bson.D{{Key: "$gt", Value: s}})}}
		}, equal),
		query("Equal", "a field that elements don't have is refused",
			func(s string) bson.D { return bson.D{{Key: "name", Value: s}} }, equal),
		query("Match", "operators, where there is an element", func(s string) bson.D {
			return bson.D{{Key: "level", Value: roomy(bson.D{{Key: "$gte", Value: s}})}}
		}, match),
		query("Match", "no operator is refused", both, match),
		query("Documents", "nested again", both, func(d bson.D) any { return skillFields.Documents(skillFields.Equal(d)) }),
		query("Documents", "a page of them", both, func(d bson.D) any {
			q := &model.Find[bson.Raw]{Query: model.Query{Filter: d, Sort: d, Limit: 2, Skip: 1}}
			q.Sort = bson.D{{Key: "_id", Value: 1}}
			return langFields.Documents(q)
		}),
		{
			Method: "numbered.Numbered.Checks", Reason: "counts of documents",
			Make: func(string) any { return skillFields.Checks()[0] },
		},
		{
			Method: "numbered.Numbered.Checks", Reason: "counts of plain values",
			Make: func(string) any { return langFields.Checks()[0] },
		},
		{
			Method: "numbered.Numbered.Checks", Reason: "what isn't flat",
			Make: func(string) any { return skillFields.Checks()[1] },
		},
		{
			Method: "numbered.Numbered.Indexes", Reason: "one for each position",
			Make: func(string) any { return skillFields.Indexes() },
		},
	}
}
