package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	// A product goes with its fittings and its own parts; those that other products list stay listed nowhere.
	productRules = relate.OnDeleteSpec{
		Cascade: []relate.Referrer{fitted.Left()}, Owns: []relate.Referrer{uses},
		Nullify: []relate.Referrer{uses}, Restrict: []relate.Referrer{fitted.Right()},
	}
	deletesProducts = relate.NewOnDelete(products, productRules)
	deletesInTurn   = relate.NewOnDelete(products, inTurn(productRules))
	deletesHosts    = relate.NewOnDelete(hosts, relate.OnDeleteSpec{Nullify: []relate.Referrer{from, lostOwner}})
	deletesStocks   = relate.NewOnDelete(stocks, relate.OnDeleteSpec{Nullify: []relate.Referrer{owns}})
	deletesAnything = relate.NewOnDelete(anything, relate.OnDeleteSpec{Cascade: []relate.Referrer{keyed}, Nullify: []relate.Referrer{below}})
)

func init() {
	register(onDeletePlans()...)
	register(onDeleteChanges()...)
}

// inTurn is a spec with one id in a command.
func inTurn(spec relate.OnDeleteSpec) relate.OnDeleteSpec {
	spec.ChunkIDs = 1
	return spec
}

// rawValues are values as they are stored, with room behind.
func rawValues(values ...any) []bson.RawValue {
	out := make([]bson.RawValue, len(values))
	for i, v := range values {
		out[i] = rawValue(v)
	}
	return roomy(out)
}

// alone is a reach of first documents, which nothing refers to that goes with them.
func alone(collection string, ids ...any) relate.Reach {
	return relate.Reach{Levels: roomy([]relate.ReachLevel{{Collection: collection, IDs: rawValues(ids...)}})}
}

// withFittings is the reach of a product, its fittings and its own part.
func withFittings(s string) relate.Reach {
	r := alone("products", s)
	r.Levels = append(r.Levels,
		relate.ReachLevel{Depth: 1, Collection: "fittings", IDs: rawValues(oid(1), oid(2)), Via: []relate.ReachVia{
			{From: "fittings", Path: "product", To: "products", IDs: rawValues(oid(1), oid(2)), Sources: rawValues(s)},
		}},
		relate.ReachLevel{Depth: 1, Collection: "parts", IDs: rawValues(s + "2"), Via: []relate.ReachVia{
			{From: "products", Path: "parts", To: "parts", Owned: true, IDs: rawValues(s + "2"), Sources: rawValues(s)},
		}},
	)
	return r
}

// blocked is the reach of a product whose part is fitted elsewhere.
func blocked(s string) relate.Reach {
	r := withFittings(s)
	r.Blocked = []model.Finding{{Collection: "fittings", ID: rawValue(oid(9)), Problem: "part → '" + s + "2'"}}
	return r
}

// nested is the reach of a document, and of one that lists it, whose ids are documents.
func nested(s string) relate.Reach {
	first, second := bson.D{{Key: "site", Value: s}}, bson.D{{Key: "site", Value: s + "2"}, {Key: "tags", Value: bson.A{s}}}
	r := alone("anything", first)
	r.Levels = append(r.Levels, relate.ReachLevel{Depth: 1, Collection: "anything", IDs: rawValues(second), Via: []relate.ReachVia{
		{From: "anything", Path: "refs", To: "anything", IDs: rawValues(second), Sources: rawValues(first)},
	}})
	return r
}

// planOrRefusal is a plan, or the error that came instead.
func planOrRefusal(p model.Plan, err error) model.Plan {
	if err != nil {
		return model.RefusedPlan("", err)
	}
	return p
}

func onDeletePlans() []Case {
	plan := func(reason string, reach func(s string) relate.Reach, decide func(relate.Reach) (model.Plan, error)) Case {
		return Case{Method: "relate.OnDelete.Delete", Reason: reason, From: func(s string) ([]any, func() any) {
			r := reach(s)
			return []any{&r}, func() any { return planOrRefusal(decide(r)) }
		}}
	}
	return []Case{
		plan("the deepest level first, and lists let go before", withFittings, deletesProducts.Delete("a").Decide),
		plan("one id in a command", withFittings, deletesInTurn.Delete("a").Decide),
		plan("what is forbidden is refused", blocked, deletesProducts.Delete("a").Decide),
		plan("a single reference and a link are let go of", func(s string) relate.Reach { return alone("hosts", s, "AAAB") }, deletesHosts.Delete("a").Decide),
		plan("whole elements are let go of", func(s string) relate.Reach { return alone("stocks", s) }, deletesStocks.Delete("a").Decide),
		plan("ids that are documents are compared, not read as conditions", nested, deletesAnything.Delete("a").Decide),
		plan("nothing was reached", func(string) relate.Reach { return relate.Reach{Levels: roomy([]relate.ReachLevel{})} }, deletesProducts.Delete("a").Decide),
		{Method: "relate.OnDelete.Indexes", Reason: "on each path that is asked for, once",
			Make: func(string) any { return deletesProducts.Indexes() }},
		{Method: "relate.OnDelete.Indexes", Reason: "on what refers to hosts",
			Make: func(string) any { return deletesHosts.Indexes() }},
	}
}

func onDeleteChanges() []Case {
	return []Case{
		{Method: "relate.OnDelete.Delete", Reason: "a product with all that goes with it",
			From: func(s string) ([]any, func() any) {
				ids := roomy([]string{s, "bench"})
				return []any{ids}, func() any { return deletesProducts.Delete(ids...) }
			},
			State: func(s string) any { return withFittings(s) }},
		{Method: "relate.OnDelete.Delete", Reason: "an id that is a document",
			From: func(s string) ([]any, func() any) {
				id := bson.D{{Key: "site", Value: s}}
				return []any{id}, func() any { return deletesAnything.Delete(id) }
			},
			State: func(s string) any { return nested(s) }},
		{Method: "relate.OnDelete.Sweep", Reason: "what came to refer to them since",
			From: func(s string) ([]any, func() any) {
				r := withFittings(s)
				return []any{&r}, func() any { return deletesProducts.Sweep(r) }
			},
			State: func(s string) any { return withFittings(s) }},
	}
}
