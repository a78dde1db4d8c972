package checks

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func init() {
	register(findCopies()...)
	register(underScope()...)
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
func tenant(s string) *model.Scope {
	return &model.Scope{
		Tenant: roomy(bson.D{{Key: "tenant", Value: s}}),
		Set:    roomy(bson.D{{Key: "updatedAt", Value: noon(0)}}),
		Delete: roomy(bson.D{{Key: "deletedAt", Value: noon(0)}}),
	}
}

// underScope are plans under a scope, which must not be scribbled on. A tenant without a name is refused.
func underScope() []Case {
	var out []Case
	for _, c := range []struct {
		reason string
		steps  func(s string) []model.Step
	}{
		{"an update", func(s string) []model.Step { return []model.Step{uses.Add("bench", s)} }},
		{"an insert", func(s string) []model.Step { return []model.Step{parts.Insert(sparePart{ID: s})} }},
		{"a delete marks", func(s string) []model.Step { return []model.Step{parts.Delete(s)} }},
		{"each step", func(s string) []model.Step { return []model.Step{uses.RemoveEverywhere(s), parts.Delete(s)} }},
		{"what is read and what is written", func(s string) []model.Step {
			return []model.Step{model.MergeInto{Collection: "parts", Idempotent: true, Pipeline: mongo.Pipeline{
				{{Key: "$match", Value: bson.D{{Key: "name", Value: s}}}},
				{{Key: "$merge", Value: bson.D{{Key: "into", Value: "products"}}}},
			}}}
		}},
	} {
		out = append(out, Case{Method: "model.Scope.Plan", Reason: c.reason, From: func(s string) ([]any, func() any) {
			scope := tenant(s)
			return []any{scope}, func() any { return scope.Plan(model.NewPlan(c.steps(s)...)) }
		}})
	}
	return append(out, Case{
		Method: "model.Scope.Indexes",
		Reason: "the tenant leads, and what is marked isn't unique",
		From: func(s string) ([]any, func() any) {
			scope, set := tenant(s), model.IndexSet{
				Needed: []model.Index{unique(model.NewIndex("parts", bson.D{{Key: "name", Value: 1}}))},
			}
			return []any{scope, set.Needed}, func() any {
				led, err := scope.Indexes(set)
				if err != nil {
					return model.NewPlan(model.Refused("parts", err))
				}
				return led
			}
		},
	})
}

func unique(x model.Index) model.Index {
	x.Unique = true
	return x
}

func alsoCases() []Case {
	rename := func(s string) model.Plan {
		return model.NewPlan(parts.Update("nut", bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: s}}}}))
	}
	renaming := model.ChangeOf[string]{
		Read:   func(context.Context, model.DB) (string, error) { return "", nil },
		Decide: func(read string) (model.Plan, error) { return rename(read), nil },
	}
	also := func(method string, c interface {
		Also(...model.Action) model.Change
	}) Case {
		return Case{
			Method: "model." + method, Reason: "two plans of one attempt",
			From: func(s string) ([]any, func() any) {
				others := []model.Action{
					parts.Unchecked().Update("nut", bson.D{{Key: "$set", Value: bson.D{{Key: "maker", Value: s}}}}),
				}
				return []any{others}, func() any { return c.Also(others...) }
			},
			State: func(s string) any { return []any{s, nil} },
		}
	}
	return []Case{
		also("Change.Also", renaming.Change()), also("ChangeOf.Also", renaming),
		{
			Method: "model.ChangeOf.Change", Reason: "of a read", State: anyState,
			Make: func(string) any { return renaming.Change() },
		},
		{
			Method: "model.Change.Change", Reason: "itself", State: anyState,
			Make: func(string) any { return renaming.Change().Change() },
		},
		{Method: "model.Change.Decide", Reason: "of a state", From: func(s string) ([]any, func() any) {
			state := roomy(bson.D{{Key: "name", Value: s}})
			setting := model.ChangeOf[bson.D]{
				Read: func(context.Context, model.DB) (bson.D, error) { return nil, nil },
				Decide: func(set bson.D) (model.Plan, error) {
					return model.NewPlan(parts.Unchecked().Update("nut", bson.D{{Key: "$set", Value: set}})), nil
				},
			}
			return []any{state}, func() any {
				p, err := setting.Change().Decide(state)
				if err != nil {
					return err
				}
				return p
			}
		}},
		{
			Method: "model.Plan.Change", Reason: "a plan", State: anyState,
			Make: func(s string) any { return rename(s).Change() },
		},
		{Method: "model.Write.Change", Reason: "an insert", State: anyState, From: func(s string) ([]any, func() any) {
			in := roomy(bson.D{{Key: "_id", Value: s}})
			return []any{in}, func() any { return anything.Insert(in).Change() }
		}},
		{Method: "model.MergeInto.Change", Reason: "a $merge", State: anyState, Make: func(s string) any {
			return model.MergeInto{
				Collection: s,
				Pipeline:   mongo.Pipeline{{{Key: "$merge", Value: bson.D{{Key: "into", Value: "other"}}}}},
			}.Change()
		}},
	}
}

func anyState(s string) any { return s }

func init() { register(alsoCases()...) }
