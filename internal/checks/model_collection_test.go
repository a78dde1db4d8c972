package checks

import (
	"errors"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func init() {
	register(collectionWrites()...)
	register(collectionReads()...)
	register(modelFunctions()...)
}

func collectionWrites() []Case {
	return []Case{
		{Method: "model.Collection.Insert", Reason: "a typed document",
			Make: func(s string) any { return products.Insert(product{ID: s, Name: s, Parts: []string{s}}) }},
		{Method: "model.Collection.Insert", Reason: "a document of any form",
			From: func(s string) ([]any, func() any) {
				d := roomy(bson.D{{Key: "_id", Value: s}, {Key: "a", Value: bson.A{s, bson.D{{Key: "b", Value: s}}}}})
				return []any{d}, func() any { return anything.Insert(d) }
			}},
		{Method: "model.Collection.InsertMany", Reason: "in order, in one command",
			From: func(s string) ([]any, func() any) {
				docs := roomy([]product{{ID: s, Parts: []string{s}}, {ID: s + "2"}})
				return []any{docs}, func() any { return products.InsertMany(docs) }
			}},
		{Method: "model.Collection.Replace", Reason: "the whole document, if it is there",
			From: func(s string) ([]any, func() any) {
				d := roomy(bson.D{{Key: "_id", Value: s}, {Key: "name", Value: s}})
				return []any{d}, func() any { return anything.Replace(d) }
			}},
		{Method: "model.Collection.Update", Reason: "by operators",
			From: func(s string) ([]any, func() any) {
				u := roomy(bson.D{{Key: "$set", Value: roomy(bson.D{{Key: "name", Value: s}, {Key: "tags", Value: bson.A{s}}})}})
				return []any{u}, func() any { return products.Unchecked().Update(s, u) }
			}},
		{Method: "model.Collection.Delete", Reason: "by _id",
			Make: func(s string) any { return products.Delete(s) }},
		{Method: "model.Collection.Modify", Reason: "findAndModify",
			From: func(s string) ([]any, func() any) {
				f := roomy(bson.D{{Key: "name", Value: s}, {Key: "tags", Value: bson.D{{Key: "$in", Value: bson.A{s}}}}})
				u := roomy(bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: s}, {Key: "tags", Value: bson.A{s}}}}})
				return []any{f, u}, func() any { return products.Unchecked().Modify(f, u) }
			}},
	}
}

func collectionReads() []Case {
	return []Case{
		{Method: "model.Collection.Find", Reason: "by a filter of the driver's",
			From: func(s string) ([]any, func() any) {
				f := roomy(bson.D{
					{Key: "name", Value: s},
					{Key: "cost", Value: bson.D{{Key: "$in", Value: bson.A{s, bson.M{"a": s}}}}},
				})
				return []any{f}, func() any { return parts.Unchecked().Find(f) }
			}},
		{Method: "model.Collection.Find", Reason: "everything",
			Make: func(string) any { return parts.Find(nil) }},
		{Method: "model.Collection.ByID", Reason: "one document",
			Make: func(s string) any { return parts.ByID(s) }},
		{Method: "model.Collection.ByID", Reason: "an id that is a document is compared, not read as a condition",
			From: func(s string) ([]any, func() any) {
				id := bson.D{{Key: "site", Value: s}}
				return []any{id}, func() any { return anything.ByID(id) }
			}},
		{Method: "model.Collection.Aggregate", Reason: "a pipeline of one's own",
			From: func(s string) ([]any, func() any) {
				p := roomy(mongo.Pipeline{{{
					Key:   "$match",
					Value: bson.D{{Key: "name", Value: s}, {Key: "tags", Value: bson.A{s}}},
				}}})
				return []any{p}, func() any { return parts.Unchecked().Aggregate(p) }
			}},
		{Method: "model.AggregateAs", Reason: "decoded as another type",
			From: func(s string) ([]any, func() any) {
				p := mongo.Pipeline{{{Key: "$match", Value: bson.D{{Key: "name", Value: s}}}}, {{Key: "$count", Value: "n"}}}
				return []any{p}, func() any { return model.AggregateAs[bson.Raw](parts, p) }
			}},
	}
}

func modelFunctions() []Case {
	return []Case{
		{Method: "model.NewPlan", Reason: "steps in order",
			From: func(s string) ([]any, func() any) {
				steps := roomy([]model.Step{parts.Insert(sparePart{ID: s}), uses.Add("bench", s)})
				return []any{steps}, func() any { return model.NewPlan(steps...) }
			}},
		{Method: "model.Concat", Reason: "plans in order, what each leaves too",
			From: func(s string) ([]any, func() any) {
				plans := roomy([]model.Plan{
					model.NewPlan(parts.Insert(sparePart{ID: s}), uses.Add("bench", s)),
					model.NewPlan(uses.RemoveEverywhere(s), parts.Delete(s)),
				})
				return []any{plans}, func() any { return model.Concat(plans...) }
			}},
		{Method: "model.MergePlans", Reason: "two plans that share a document",
			From: func(s string) ([]any, func() any) {
				plans := roomy([]model.Plan{
					model.NewPlan(uses.Add("bench", s), uses.Add("table", s)),
					model.NewPlan(products.Update("bench", bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: s}}}})),
				})
				return []any{plans}, func() any { return model.MergePlans(plans...) }
			}},
		{Method: "model.MergePlans", Reason: "two plans of the same path are refused, with both",
			Make: func(s string) any {
				set := func(v string) model.Plan {
					return model.NewPlan(products.Update("bench", bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: v}}}}))
				}
				return model.MergePlans(set(s), set(s+"2"))
			}},
		{Method: "model.Merge", Reason: "two techniques on one document",
			From: func(s string) ([]any, func() any) {
				writes := roomy([]model.Write{
					uses.Add(s, s),
					products.Update(s, bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: s}}}}),
				})
				return []any{writes}, func() any { return model.Merge(writes...) }
			}},
		{Method: "model.Merge", Reason: "the same path twice is refused, with both",
			Make: func(s string) any {
				set := func(v string) model.Write {
					return products.Update("bench", bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: v}}}})
				}
				return model.Merge(set(s), set(s+"2"))
			}},
		{Method: "model.Refused", Reason: "a write that sends nothing",
			Make: func(string) any { return model.Refused("products", errors.New("the reason")) }},
		{Method: "model.NewIndex", Reason: "named as the server would",
			From: func(string) ([]any, func() any) {
				keys := roomy(bson.D{{Key: "host", Value: 1}, {Key: "time", Value: -1}})
				return []any{keys}, func() any { return model.NewIndex("logmsgs", keys) }
			}},
		{Method: "model.Model.Indexes", Reason: "a shorter index is covered by a longer one",
			From: func(string) ([]any, func() any) {
				techniques := roomy([]model.Technique{from, plain, uses})
				return []any{techniques}, func() any { return model.New("test", techniques...).Indexes() }
			}},
		{
			Method: "model.Model.Checks", Reason: "of each technique",
			Make: func(string) any { return model.New("test", uses, lostParts, versioned).Checks() },
		},
		{
			Method: "model.MoveKeys",
			Reason: "a check of the scopes, and two stages for each keyed collection",
			From: func(string) ([]any, func() any) {
				list := []model.Technique{tenantSeq}
				return []any{list}, func() any { return model.MoveKeys(list...) }
			},
		},
		{Method: "model.Audit.Job", Reason: "a stage for each check", Make: func(string) any {
			return model.New("test", lostParts, versioned, keyLines).Audit().Job()
		}},
	}
}
