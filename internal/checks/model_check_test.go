package checks

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func init() {
	check := func(s string) model.Check {
		return model.Check{
			Name: "people.name: one name", Collection: "people", Rule: "nobody has this name",
			Pipeline: mongo.Pipeline{{{Key: "$match", Value: bson.D{{Key: "name", Value: mql.Eq(s)}}}}},
		}
	}
	register(
		Case{Method: "model.Check.In", Reason: "narrowed", From: func(s string) ([]any, func() any) {
			filter := roomy(bson.D{{Key: "city", Value: mql.Eq(s)}})
			return []any{filter}, func() any { return check(s).In(filter) }
		}},
		Case{Method: "model.Check.In", Reason: "twice", From: func(s string) ([]any, func() any) {
			one, two := roomy(bson.D{{Key: "city", Value: mql.Eq(s)}}), roomy(bson.D{{Key: "age", Value: 1}})
			return []any{one, two}, func() any { return check(s).In(one).In(two) }
		}},
		Case{Method: "model.Check.Find", Reason: "of all documents", Make: func(s string) any { return check(s).Find() }},
		Case{
			Method: "model.Check.Job", Reason: "that can't mend is refused",
			Make: func(s string) any { return check(s).Job() },
		},
	)
}
