package checks

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func init() {
	register(findCopies()...)
	register(underPolicy()...)
}

// named is a query whose filter and sort have room behind them.
func named(s string) *model.Find[sparePart] {
	f := parts.Find(bson.D{{Key: "name", Value: s}})
	f.Filter, f.Sort = roomy(f.Filter), roomy(bson.D{{Key: "cost", Value: -1}})
	return f
}

func findCopies() []Case {
	return []Case{
		{Method: "model.Find.Where", Reason: "a condition on the same field narrows, it doesn't replace",
			From: func(s string) ([]any, func() any) {
				f, more := named(s), roomy(bson.D{{Key: "name", Value: bson.D{{Key: "$ne", Value: s + "2"}}}})
				return []any{more}, func() any { return f.Where(more) }
			}},
		{Method: "model.Find.Where", Reason: "a condition on another field",
			From: func(s string) ([]any, func() any) {
				f, more := named(s), roomy(bson.D{{Key: "cost", Value: bson.D{{Key: "$gt", Value: 1.5}}}})
				return []any{more, f.Filter}, func() any { return f.Where(more) }
			}},
		{Method: "model.Find.Sorted", Reason: "another order",
			From: func(s string) ([]any, func() any) {
				f, sort := parts.Find(bson.D{{Key: "name", Value: s}}), roomy(bson.D{{Key: "cost", Value: 1}})
				return []any{sort}, func() any { return f.Sorted(sort) }
			}},
		{Method: "model.Find.Limited", Reason: "at most five",
			Make: func(s string) any { return named(s).Limited(5) }},
		{Method: "model.Find.After", Reason: "the next page, in a total order",
			From: func(s string) ([]any, func() any) {
				f, values := named(s), roomy([]any{1.5, s})
				return []any{values}, func() any { return f.After(values...) }
			}},
		{Method: "model.Project", Reason: "the fields that another type has",
			From: func(s string) ([]any, func() any) {
				f := named(s)
				f.Projection = roomy(bson.D{{Key: "cost", Value: 1}})
				return []any{f.Projection}, func() any { return model.Project[partName](f) }
			}},
	}
}

// tenant is what an application adds to everything.
func tenant(s string) *model.Policy {
	return &model.Policy{
		Filter: roomy(bson.D{{Key: "tenant", Value: s}, {Key: "deletedAt", Value: nil}}),
		Insert: roomy(bson.D{{Key: "tenant", Value: s}}),
		Set:    roomy(bson.D{{Key: "updatedAt", Value: noon(0)}}),
		Delete: roomy(bson.D{{Key: "deletedAt", Value: noon(0)}}),
	}
}

// under is a case whose value is put under a policy. What a policy is put on is the receiver, and not scribbled on.
func under(method, reason string, apply func(p model.Policy, s string) any) Case {
	return Case{Method: method, Reason: reason, From: func(s string) ([]any, func() any) {
		p := tenant(s)
		return []any{p}, func() any { return apply(*p, s) }
	}}
}

func underPolicy() []Case {
	return []Case{
		under("model.Find.Under", "a filter more", func(p model.Policy, s string) any { return named(s).Under(p) }),
		under("model.Aggregate.Under", "a filter on every collection that is read", func(p model.Policy, s string) any {
			return uses.ChildrenOf(s).Under(p)
		}),
		under("model.Modify.Under", "a filter and a field more", func(p model.Policy, s string) any {
			return parts.Modify(bson.D{{Key: "name", Value: s}}, bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: s}}}}).Under(p)
		}),
		under("model.Write.Under", "an update", func(p model.Policy, s string) any { return uses.Add("bench", s).Under(p) }),
		under("model.Write.Under", "an insert", func(p model.Policy, s string) any { return parts.Insert(sparePart{ID: s}).Under(p) }),
		under("model.Write.Under", "a delete marks", func(p model.Policy, s string) any { return parts.Delete(s).Under(p) }),
		under("model.Plan.Under", "each step", func(p model.Policy, s string) any { return uses.DeleteChild(s).Under(p) }),
		under("model.MergeInto.Under", "what is read and what is written", func(p model.Policy, s string) any {
			return model.MergeInto{Collection: "parts", Once: true, Pipeline: mongo.Pipeline{
				{{Key: "$match", Value: bson.D{{Key: "name", Value: s}}}},
				{{Key: "$merge", Value: bson.D{{Key: "into", Value: "products"}}}},
			}}.Under(p)
		}),
	}
}

func deferredUnderPolicy() []Case {
	rename := func(s string) model.Plan {
		return model.NewPlan(parts.Update("nut", bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: s}}}}))
	}
	change := under("model.Change.Under", "what it decides", func(p model.Policy, s string) any {
		return model.Change[string]{Decide: func(s string) (model.Plan, error) { return rename(s), nil }}.Under(p)
	})
	change.State = func(s string) any { return s }
	job := under("model.Job.Under", "what it reads and plans", func(p model.Policy, s string) any {
		return model.Job{Name: "rename", Stages: []model.Stage{{Collection: "parts", Plan: func([]bson.Raw) (model.Plan, error) { return rename(s), nil }}}}.Under(p)
	})
	job.State = func(s string) any {
		raw, _ := bson.Marshal(bson.D{{Key: "_id", Value: "nut"}, {Key: "name", Value: s}})
		return []bson.Raw{raw}
	}
	also := Case{Method: "model.Change.Also", Reason: "two plans of one attempt",
		Make: func(s string) any {
			c := model.Change[string]{Decide: func(read string) (model.Plan, error) { return rename(read), nil }}
			return c.Also(func(read string) (model.Plan, error) {
				return model.NewPlan(parts.Unchecked().Update("nut", bson.D{{Key: "$set", Value: bson.D{{Key: "maker", Value: read}}}})), nil
			})
		},
		State: func(s string) any { return s }}
	return []Case{change, job, also}
}

func init() { register(deferredUnderPolicy()...) }
