package checks

import (
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	tallied = counter.New(anything, "publisher_id", anything.Named("publishers"), counter.Spec{
		Count: "countOfBooks", Sums: []counter.Field{{From: "pages", To: "pages"}},
	})
	spanned = counter.New(anything, "publisher_id", anything.Named("publishers"), counter.Spec{
		Count: "countOfBooks",
		Where: bson.D{
			{Key: "state", Value: bson.D{{Key: "$ne", Value: "draft"}}},
			{Key: "pages", Value: bson.D{{Key: "$gt", Value: 0}}},
		},
		Averages: []counter.AverageField{{From: "pages", To: "pages", Value: "meanPages"}},
		Mins:     []counter.Field{{From: "price", To: "cheapest"}}, Maxs: []counter.Field{{From: "price", To: "dearest"}},
	})
	spannedStore = model.NewStore(model.New("spanned", spanned), anything)
)

func init() {
	register(counterWrites()...)
	register(counterChecks()...)
}

// rawOf is a value as it is stored.
func rawOf(v any) bson.RawValue {
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		panic(err)
	}
	return bson.Raw(raw).Lookup("v")
}

// counterBook is a child as it is stored, with more fields.
func counterBook(s string, more ...bson.E) bson.D {
	return roomy(append(bson.D{
		{Key: "_id", Value: s}, {Key: "publisher_id", Value: s + "1"}, {Key: "pages", Value: int64(300)},
		{Key: "price", Value: 30.5},
	}, more...))
}

// counterStored is a child, its parent, another parent, and a dearer child.
func counterStored(id func(s string) any, more ...func(s string) bson.E) func(s string) testkit.Docs {
	return func(s string) testkit.Docs {
		child := append(bson.D{{Key: "_id", Value: id(s)}}, counterBook(s)[1:]...)
		for _, e := range more {
			child = append(child, e(s))
		}
		parent := func(id string, cheapest float64) bson.D {
			return bson.D{{Key: "_id", Value: id}, {Key: "cheapest", Value: cheapest}, {Key: "dearest", Value: 99.0}}
		}
		dearer := bson.D{
			{Key: "_id", Value: 2}, {Key: "publisher_id", Value: s + "1"}, {Key: "pages", Value: int64(1)},
			{Key: "price", Value: 45.5},
		}
		return testkit.Docs{anything.Name(): {child, dearer}, "publishers": {parent(s+"1", 30.5), parent(s+"2", 20)}}
	}
}

func newBook(s string) bson.D {
	return append(bson.D{{Key: "_id", Value: s + "0"}}, counterBook(s)[1:4]...)
}

func counterWrites() []Case {
	itself := func(s string) any { return s }
	of :=
		func(method, reason string, id func(s string) any, call func(s string) model.ChangeOf[model.Stored[bson.D]]) Case {
			return Case{
				Method: "model.Store." + method, Reason: "counter.Counter: " + reason,
				Make:  func(s string) any { return call(s) },
				State: asRead(func(s string) model.Change { return call(s).Change() }, counterStored(id)),
			}
		}
	set := func(reason string, field bson.E) Case {
		return of("Set", reason, itself, func(s string) model.ChangeOf[model.Stored[bson.D]] {
			return spannedStore.Set(s, bson.D{field})
		})
	}
	return []Case{
		of("Insert", "an average and extremes", itself, func(s string) model.ChangeOf[model.Stored[bson.D]] {
			return spannedStore.Insert(newBook(s))
		}),
		of("Insert", "a condition that doesn't hold", itself, func(s string) model.ChangeOf[model.Stored[bson.D]] {
			return spannedStore.Insert(append(newBook(s), bson.E{Key: "state", Value: "draft"}))
		}),
		set("a number", bson.E{Key: "pages", Value: int64(320)}),
		set("the cheapest gets dearer: the next one comes", bson.E{Key: "price", Value: 60.5}),
		of("Set", "both parents", func(s string) any { return bson.D{{Key: "k", Value: s}} },
			func(s string) model.ChangeOf[model.Stored[bson.D]] {
				return spannedStore.Set(bson.D{{Key: "k", Value: s}}, bson.D{{Key: "publisher_id", Value: s + "2"}})
			}),
		of("Delete", "the cheapest", itself, func(s string) model.ChangeOf[model.Stored[bson.D]] {
			return spannedStore.Delete(s)
		}),
	}
}

func counterChecks() []Case {
	drift := func(s string) bson.M {
		return bson.M{
			"_id": s, "tokens": bson.A{oid(8)}, "differs": true,
			"stored":  bson.D{{Key: "countOfBooks", Value: int64(3)}, {Key: "pages", Value: int64(9)}},
			"counted": bson.D{{Key: "countOfBooks", Value: 2}, {Key: "pages", Value: int64(8)}},
		}
	}
	check := tallied.Checks()[0]
	return []Case{
		{Method: "counter.Counter.Recount", Reason: "if it holds what it held",
			State: func(s string) any { return findings(check, drift(s))[0] },
			From: func(s string) ([]any, func() any) {
				id := roomy(bson.D{{Key: "k", Value: s}})
				return []any{id}, func() any { return tallied.Recount(id) }
			}},
		{Method: "counter.Counter.Checks", Reason: "a count and a sum", Make: func(string) any { return check }},
		{
			Method: "counter.Counter.Checks", Reason: "an average, extremes, conditions",
			Make: func(string) any { return spanned.Checks()[0] },
		},
		{
			Method: "counter.Counter.Checks", Reason: "missing parents",
			Make: func(string) any { return tallied.Checks()[1] },
		},
		{
			Method: "counter.Counter.Checks", Reason: "mend if it holds what it held",
			From: func(s string) ([]any, func() any) {
				found := findings(check, drift(s))
				return []any{found}, func() any { return check.Mend(found) }
			},
		},
		{
			Method: "counter.Counter.Indexes", Reason: "the reference",
			Make: func(string) any { return tallied.Indexes() },
		},
		{
			Method: "counter.Counter.Indexes", Reason: "with the extremes' fields",
			Make: func(string) any { return spanned.Indexes() },
		},
	}
}
