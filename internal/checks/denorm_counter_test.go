package checks

import (
	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	tallied = denorm.NewCounter(anything, "publisher_id", anything.Named("publishers"), denorm.CounterSpec{
		Count: "countOfBooks", Sums: []denorm.Field{{From: "pages", To: "pages"}}, Tokens: "ops", Pending: "pending",
	})
	spanned = denorm.NewCounter(anything, "publisher_id", anything.Named("publishers"), denorm.CounterSpec{
		Count: "countOfBooks", Where: bson.D{{Key: "state", Value: bson.D{{Key: "$ne", Value: "draft"}}}, {Key: "pages", Value: bson.D{{Key: "$gt", Value: 0}}}},
		Averages: []denorm.CounterAverage{{From: "pages", To: "pages", Value: "meanPages"}},
		Mins:     []denorm.Field{{From: "price", To: "cheapest"}}, Maxs: []denorm.Field{{From: "price", To: "dearest"}},
		Tokens: "ops", Pending: "pending", Keep: 20,
	})
	untokened = denorm.NewCounter(anything, "publisher_id", anything.Named("publishers"), denorm.CounterSpec{Count: "countOfBooks", Partial: true})
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
		{Key: "_id", Value: s}, {Key: "publisher_id", Value: s + "1"}, {Key: "pages", Value: int64(300)}, {Key: "price", Value: 30.5},
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
			return bson.D{{Key: "_id", Value: id}, {Key: "ops", Value: bson.A{oid(8)}}, {Key: "cheapest", Value: cheapest}, {Key: "dearest", Value: 99.0}}
		}
		dearer := bson.D{{Key: "_id", Value: 2}, {Key: "publisher_id", Value: s + "1"}, {Key: "pages", Value: int64(1)}, {Key: "price", Value: 45.5}}
		return testkit.Docs{anything.Name(): {child, dearer}, "publishers": {parent(s+"1", 30.5), parent(s+"2", 20)}}
	}
}

// counterMark is an operation under way on a child.
func counterMark(s string) bson.E {
	return bson.E{Key: "pending", Value: bson.D{
		{Key: "op", Value: oid(7)}, {Key: "parents", Value: bson.A{s + "1"}},
		{Key: "was", Value: bson.D{{Key: "parent", Value: s + "1"}, {Key: "values", Value: bson.D{{Key: "pages", Value: int64(100)}}}}},
	}}
}

func counterWrites() []Case {
	itself := func(s string) any { return s }
	of := func(method, reason string, stored func(s string) testkit.Docs, inputs func(s string) []any, call func(in []any, s string) model.Change[any]) Case {
		c := Case{Method: "denorm.Counter." + method, Reason: reason}
		if inputs == nil {
			inputs = func(string) []any { return nil }
			c.Make = func(s string) any { return call(nil, s) }
		} else {
			c.From = func(s string) ([]any, func() any) {
				in := inputs(s)
				return in, func() any { return call(in, s) }
			}
		}
		c.State = asRead(func(s string) model.Change[any] { return call(inputs(s), s) }, stored)
		return c
	}
	book := func(s string) []any { return []any{counterBook(s)} }
	fields := func(list ...bson.E) func(s string) []any {
		return func(string) []any { return []any{roomy(bson.D(list))} }
	}
	id := func(s string) []any { return []any{roomy(bson.D{{Key: "k", Value: s}})} }
	stored, docID := counterStored(itself), func(s string) any { return bson.D{{Key: "k", Value: s}} }
	return []Case{
		of("Insert", "store with a mark, count, take the mark off", stored, book, func(in []any, _ string) model.Change[any] { return tallied.Insert(in[0].(bson.D), oid(1)) }),
		of("Insert", "an average and extremes", stored, book, func(in []any, _ string) model.Change[any] { return spanned.Insert(in[0].(bson.D), oid(1)) }),
		of("Insert", "without tokens", stored, book, func(in []any, _ string) model.Change[any] { return untokened.Insert(in[0].(bson.D), oid(1)) }),
		of("Insert", "a condition that doesn't hold", stored,
			func(s string) []any { return []any{counterBook(s, bson.E{Key: "state", Value: "draft"})} },
			func(in []any, _ string) model.Change[any] { return spanned.Insert(in[0].(bson.D), oid(1)) }),
		of("Insert", "without a token is refused", stored, book, func(in []any, _ string) model.Change[any] { return tallied.Insert(in[0].(bson.D), bson.NilObjectID) }),
		of("Set", "a number", stored, fields(bson.E{Key: "pages", Value: int64(320)}), func(in []any, s string) model.Change[any] { return tallied.Set(s, in[0].(bson.D), oid(1)) }),
		of("Set", "a field is taken away", stored, fields(bson.E{Key: "pages", Value: 320}, bson.E{Key: "title", Value: bson.RawValue{}}),
			func(in []any, s string) model.Change[any] { return tallied.Set(s, in[0].(bson.D), oid(1)) }),
		of("Set", "a field that isn't counted", stored, nil, func(_ []any, s string) model.Change[any] {
			return tallied.Set(s, bson.D{{Key: "title", Value: s}}, oid(1))
		}),
		of("Set", "the cheapest gets dearer: the next one comes", stored, fields(bson.E{Key: "price", Value: 60.5}),
			func(in []any, s string) model.Change[any] { return spanned.Set(s, in[0].(bson.D), oid(1)) }),
		of("Set", "what another operation left is finished first", counterStored(itself, counterMark), fields(bson.E{Key: "pages", Value: int64(1)}),
			func(in []any, s string) model.Change[any] { return tallied.Set(s, in[0].(bson.D), oid(1)) }),
		of("SetIf", "a number", stored, func(s string) []any {
			return []any{roomy(bson.D{{Key: "state", Value: s}}), roomy(bson.D{{Key: "pages", Value: int64(320)}})}
		},
			func(in []any, s string) model.Change[any] {
				return tallied.SetIf(s, in[0].(bson.D), in[1].(bson.D), oid(1))
			}),
		of("SetIf", "a field that isn't counted", stored, nil, func(_ []any, s string) model.Change[any] {
			return tallied.SetIf(s, bson.D{{Key: "state", Value: bson.D{{Key: "$ne", Value: s}}}}, bson.D{{Key: "title", Value: s}}, oid(1))
		}),
		of("SetIf", "without a guard is refused", stored, fields(bson.E{Key: "pages", Value: int64(320)}), func(in []any, s string) model.Change[any] {
			return untokened.SetIf(s, nil, in[0].(bson.D), oid(1))
		}),
		of("Move", "both parents", stored, nil, func(_ []any, s string) model.Change[any] { return tallied.Move(s, s+"2", oid(1)) }),
		of("Move", "ids that are documents", counterStored(docID), id, func(in []any, s string) model.Change[any] { return spanned.Move(in[0], s+"2", oid(1)) }),
		of("Delete", "mark, count, delete", counterStored(docID), id, func(in []any, _ string) model.Change[any] { return tallied.Delete(in[0], oid(1)) }),
		of("Delete", "the cheapest", stored, nil, func(_ []any, s string) model.Change[any] { return spanned.Delete(s, oid(1)) }),
		of("Delete", "without tokens", stored, nil, func(_ []any, s string) model.Change[any] { return untokened.Delete(s, oid(1)) }),
		of("Settle", "an operation that was cut", counterStored(itself, counterMark), nil, func(_ []any, s string) model.Change[any] { return tallied.Settle(s) }),
		of("Settle", "a child without a mark", stored, nil, func(_ []any, s string) model.Change[any] { return tallied.Settle(s) }),
	}
}

func counterChecks() []Case {
	drift := func(s string) bson.M {
		return bson.M{
			"_id": s, "tokens": bson.A{oid(8)}, "differs": true,
			"stored":  bson.D{{Key: "countOfBooks", Value: int64(3)}, {Key: "pages", Value: int64(9)}},
			"counted": bson.D{{Key: "countOfBooks", Value: 2}, {Key: "pages", Value: int64(8)}},
			"before":  bson.A{oid(7), oid(8)}, "after": bson.A{oid(8), oid(7)},
		}
	}
	mend := func(reason string, change func(bson.M), check model.Check) Case {
		return Case{Method: "denorm.Counter.Checks", Reason: "mend " + reason, From: func(s string) ([]any, func() any) {
			d := drift(s)
			change(d)
			found := findings(check, d)
			return []any{found}, func() any { return check.Mend(found) }
		}}
	}
	none := func(bson.M) {}
	return []Case{
		{Method: "denorm.Counter.Pending", Reason: "begun before noon", Make: func(string) any { return tallied.Pending(noon(0)) }},
		{Method: "denorm.Counter.Pending", Reason: "without marks is refused", Make: func(string) any { return untokened.Pending(noon(0)) }},
		{Method: "denorm.Counter.Recount", Reason: "what is under way is counted, and remembered",
			State: func(s string) any { return findings(tallied.Checks()[0], drift(s))[0] }, From: func(s string) ([]any, func() any) {
				id := roomy(bson.D{{Key: "k", Value: s}})
				return []any{id}, func() any { return tallied.Recount(id) }
			}},
		{Method: "denorm.Counter.Checks", Reason: "a count and a sum", Make: func(string) any { return tallied.Checks()[0] }},
		{Method: "denorm.Counter.Checks", Reason: "an average, extremes, conditions", Make: func(string) any { return spanned.Checks()[0] }},
		{Method: "denorm.Counter.Checks", Reason: "without tokens", Make: func(string) any { return untokened.Checks()[0] }},
		{Method: "denorm.Counter.Checks", Reason: "missing parents", Make: func(string) any { return tallied.Checks()[1] }},
		mend("if no operation came between", none, tallied.Checks()[0]),
		mend("not what was disturbed", func(d bson.M) { delete(d, "after") }, tallied.Checks()[0]),
		mend("without tokens, if it holds what it held", none, untokened.Checks()[0]),
		{Method: "denorm.Counter.Indexes", Reason: "the reference, and what is under way", Make: func(string) any { return tallied.Indexes() }},
		{Method: "denorm.Counter.Indexes", Reason: "with the extremes' fields", Make: func(string) any { return spanned.Indexes() }},
	}
}
