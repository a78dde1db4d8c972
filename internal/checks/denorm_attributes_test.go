package checks

import (
	"github.com/docmodel/docmodel/denorm/attributes"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type article struct {
	ID    string `bson:"_id"`
	Specs []struct {
		K string `bson:"k"`
		V any    `bson:"v"`
	} `bson:"specs,omitempty"`
}

var (
	articles     = model.NewCollection[article, string]("articles")
	articleSpecs = attributes.New(articles, "specs", attributes.Spec{})
)

func init() {
	register(attributesWrites()...)
	register(attributesReads()...)
}

func attributesWrites() []Case {
	set := func(list bson.D) model.Write { return articleSpecs.Set("a", list) }
	return []Case{
		{Method: "attributes.Attributes.Set", Reason: "one, where it stands or last", Make: func(s string) any {
			return articleSpecs.Set(s, bson.D{{Key: s, Value: s}})
		}},
		{
			Method: "attributes.Attributes.Set", Reason: "two, one of which is a document",
			From: func(s string) ([]any, func() any) {
				doc := bson.M{"to": s, "from": s}
				list := roomy(bson.D{{Key: "size", Value: doc}, {Key: "width", Value: s}})
				return []any{list, doc}, func() any { return set(list) }
			},
		},
		{Method: "attributes.Attributes.Set", Reason: "none is refused", Make: func(string) any { return set(nil) }},
		{
			Method: "attributes.Attributes.Set", Reason: "an empty name is refused",
			Make: func(string) any { return set(bson.D{{Value: 1}}) },
		},
		{Method: "attributes.Attributes.Unset", Reason: "some", From: func(s string) ([]any, func() any) {
			names := roomy([]string{s, s + "2"})
			return []any{names}, func() any { return articleSpecs.Unset("a", names...) }
		}},
		{
			Method: "attributes.Attributes.Unset", Reason: "none is refused",
			Make: func(string) any { return articleSpecs.Unset("a") },
		},
		{
			Method: "attributes.Attributes.Checks",
			Reason: "two names of one document, one of another",
			From: func(s string) ([]any, func() any) {
				check := articleSpecs.Checks()[0]
				found := findings(check, bson.M{"id": s, "name": s}, bson.M{"id": s, "name": "b"}, bson.M{"id": "c", "name": s})
				return []any{found}, func() any { return check.Mend(found) }
			},
		},
	}
}

func rawString(s string) bson.RawValue {
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: s}})
	if err != nil {
		panic(err)
	}
	return bson.Raw(raw).Lookup("v")
}

func attributesReads() []Case {
	less := func(s string) bson.D { return bson.D{{Key: "$lt", Value: s}} }
	return []Case{
		{
			Method: "attributes.Attributes.Equal", Reason: "by name and value",
			Make: func(s string) any { return articleSpecs.Equal(s, s) },
		},
		{
			Method: "attributes.Attributes.Equal", Reason: "a value that looks like a condition",
			From: func(s string) ([]any, func() any) {
				v := bson.D{{Key: "$gt", Value: s}}
				return []any{v}, func() any { return articleSpecs.Equal("size", v) }
			},
		},
		{
			Method: "attributes.Attributes.Equal", Reason: "an empty name is refused",
			Make: func(s string) any { return articleSpecs.Equal("", s) },
		},
		{Method: "attributes.Attributes.Match", Reason: "a range", From: func(s string) ([]any, func() any) {
			c := roomy(less(s))
			return []any{c}, func() any { return articleSpecs.Match(s, c) }
		}},
		{
			Method: "attributes.Attributes.Match", Reason: "no operator is refused",
			Make: func(s string) any { return articleSpecs.Match("size", bson.D{{Key: "a", Value: s}}) },
		},
		{Method: "attributes.Attributes.Has", Reason: "any value", Make: func(s string) any { return articleSpecs.Has(s) }},
		{Method: "attributes.Attributes.Match", Reason: "of two attributes", From: func(s string) ([]any, func() any) {
			c := roomy(less(s))
			return []any{c}, func() any { return articleSpecs.Match("size", c).Where(articleSpecs.Match(s, c).Filter) }
		}},
		{
			Method: "attributes.Attributes.Survey", Reason: "names and types",
			Make: func(string) any { return articleSpecs.Survey() },
		},
		{
			Method: "attributes.Attributes.Checks", Reason: "names that stand twice",
			Make: func(string) any { return articleSpecs.Checks()[0] },
		},
		{
			Method: "attributes.Attributes.Indexes", Reason: "one for all",
			Make: func(string) any { return articleSpecs.Indexes() },
		},
	}
}
