package checks

import (
	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	tallied = denorm.NewCounter(anything, "publisher_id", anything.Named("publishers"), denorm.CounterSpec{
		Count: "countOfBooks", Sums: []denorm.CounterField{{From: "pages", To: "pages"}}, Tokens: "ops", Pending: "pending",
	})
	spanned = denorm.NewCounter(anything, "publisher_id", anything.Named("publishers"), denorm.CounterSpec{
		Count: "countOfBooks", Where: bson.D{{Key: "state", Value: bson.D{{Key: "$ne", Value: "draft"}}}, {Key: "pages", Value: bson.D{{Key: "$gt", Value: 0}}}},
		Averages: []denorm.CounterAverage{{From: "pages", To: "pages", Value: "meanPages"}},
		Mins:     []denorm.CounterField{{From: "price", To: "cheapest"}}, Maxs: []denorm.CounterField{{From: "price", To: "dearest"}},
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

// counterState is a child, its parent, and another one.
func counterState(more ...bson.E) func(s string) any {
	return func(s string) any {
		parent := func(id string, cheapest float64) denorm.CounterParent {
			return denorm.CounterParent{
				ID: rawOf(id), Doc: bson.Raw(rawOf(bson.D{
					{Key: "_id", Value: id}, {Key: "ops", Value: bson.A{oid(8)}}, {Key: "cheapest", Value: cheapest}, {Key: "dearest", Value: 99.0},
				}).Value),
				Next: map[string]bson.RawValue{"cheapest": rawOf(45.5)},
			}
		}
		return denorm.CounterState{
			Child: bson.Raw(rawOf(counterBook(s, more...)).Value), Parents: []denorm.CounterParent{parent(s+"1", 30.5), parent(s+"2", 20)},
		}
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
	change := func(method, reason string, state func(string) any, inputs func(s string) []any, call func(in []any, s string) any) Case {
		return Case{Method: "denorm.Counter." + method, Reason: reason, State: state, From: func(s string) ([]any, func() any) {
			in := inputs(s)
			return in, func() any { return call(in, s) }
		}}
	}
	book := func(s string) []any { return []any{counterBook(s)} }
	fields := func(list ...bson.E) func(s string) []any {
		return func(string) []any { return []any{roomy(bson.D(list))} }
	}
	id := func(s string) []any { return []any{roomy(bson.D{{Key: "k", Value: s}})} }
	state, docID := counterState(), func(s string) any {
		st := counterState()(s).(denorm.CounterState)
		st.Child = bson.Raw(rawOf(append(bson.D{{Key: "_id", Value: bson.D{{Key: "k", Value: s}}}}, counterBook(s)[1:]...)).Value)
		return st
	}
	empty := func(string) any { return denorm.CounterState{} }
	return []Case{
		change("Insert", "store with a mark, count, take the mark off", state, book, func(in []any, _ string) any { return tallied.Insert(in[0].(bson.D), oid(1)) }),
		change("Insert", "an average and extremes", state, book, func(in []any, _ string) any { return spanned.Insert(in[0].(bson.D), oid(1)) }),
		change("Insert", "without tokens", empty, book, func(in []any, _ string) any { return untokened.Insert(in[0].(bson.D), oid(1)) }),
		change("Insert", "a condition that doesn't hold", empty,
			func(s string) []any { return []any{counterBook(s, bson.E{Key: "state", Value: "draft"})} },
			func(in []any, _ string) any { return spanned.Insert(in[0].(bson.D), oid(1)) }),
		{Method: "denorm.Counter.Insert", Reason: "without a token is refused", State: empty,
			Make: func(s string) any { return tallied.Insert(counterBook(s), bson.NilObjectID) }},
		change("Set", "a number", state, fields(bson.E{Key: "pages", Value: int64(320)}), func(in []any, s string) any { return tallied.Set(s, in[0].(bson.D), oid(1)) }),
		{Method: "denorm.Counter.Set", Reason: "a field is taken away", State: state,
			Make: func(s string) any {
				return tallied.Set(s, bson.D{{Key: "pages", Value: 320}, {Key: "title", Value: bson.RawValue{}}}, oid(1))
			}},
		{Method: "denorm.Counter.Set", Reason: "a field that isn't counted", State: state,
			Make: func(s string) any { return tallied.Set(s, bson.D{{Key: "title", Value: s}}, oid(1)) }},
		{Method: "denorm.Counter.Set", Reason: "the cheapest gets dearer: the next one comes",
			State: state, Make: func(s string) any { return spanned.Set(s, bson.D{{Key: "price", Value: 60.5}}, oid(1)) }},
		{Method: "denorm.Counter.Set", Reason: "what another operation left is finished first",
			State: func(s string) any { return counterState(counterMark(s))(s) },
			Make:  func(s string) any { return tallied.Set(s, bson.D{{Key: "pages", Value: int64(1)}}, oid(1)) }},
		{Method: "denorm.Counter.Move", Reason: "both parents", State: state, Make: func(s string) any { return tallied.Move(s, s+"2", oid(1)) }},
		change("Move", "ids that are documents", docID, id, func(in []any, s string) any { return spanned.Move(in[0], s+"2", oid(1)) }),
		change("Delete", "mark, count, delete", docID, id, func(in []any, _ string) any { return tallied.Delete(in[0], oid(1)) }),
		{Method: "denorm.Counter.Delete", Reason: "the cheapest", State: state, Make: func(s string) any { return spanned.Delete(s, oid(1)) }},
		{Method: "denorm.Counter.Delete", Reason: "without tokens", State: state, Make: func(s string) any { return untokened.Delete(s, oid(1)) }},
		change("Settle", "an operation that was cut",
			func(s string) any { return counterState(counterMark(s))(s) }, id, func(in []any, _ string) any { return tallied.Settle(in[0]) }),
		{Method: "denorm.Counter.Settle", Reason: "a child without a mark", State: state, Make: func(s string) any { return tallied.Settle(s) }},
	}
}

func counterChecks() []Case {
	drift := func(s string) denorm.CounterDrift {
		return denorm.CounterDrift{
			ID: rawOf(s), Tokens: rawOf(bson.A{oid(8)}), Differs: true,
			Stored:  bson.Raw(rawOf(bson.D{{Key: "countOfBooks", Value: int64(3)}, {Key: "pages", Value: int64(9)}}).Value),
			Counted: bson.Raw(rawOf(bson.D{{Key: "countOfBooks", Value: 2}, {Key: "pages", Value: int64(8)}}).Value),
			Before:  []bson.ObjectID{oid(7), oid(8)}, After: []bson.ObjectID{oid(8), oid(7)},
		}
	}
	mend := func(reason string, change func(*denorm.CounterDrift), check model.Check) Case {
		return Case{Method: "denorm.Counter.Checks", Reason: "mend " + reason, From: func(s string) ([]any, func() any) {
			d := drift(s)
			change(&d)
			found := findings(check, d)
			return []any{found}, func() any { return check.Mend(found) }
		}}
	}
	none := func(*denorm.CounterDrift) {}
	return []Case{
		{Method: "denorm.Counter.Pending", Reason: "begun before noon", Make: func(string) any { return tallied.Pending(noon(0)) }},
		{Method: "denorm.Counter.Pending", Reason: "without marks is refused", Make: func(string) any { return untokened.Pending(noon(0)) }},
		{Method: "denorm.Counter.Recount", Reason: "what is under way is counted, and remembered",
			State: func(s string) any { return drift(s) }, From: func(s string) ([]any, func() any) {
				id := roomy(bson.D{{Key: "k", Value: s}})
				return []any{id}, func() any { return tallied.Recount(id) }
			}},
		{Method: "denorm.Counter.Checks", Reason: "a count and a sum", Make: func(string) any { return tallied.Checks()[0] }},
		{Method: "denorm.Counter.Checks", Reason: "an average, extremes, conditions", Make: func(string) any { return spanned.Checks()[0] }},
		{Method: "denorm.Counter.Checks", Reason: "without tokens", Make: func(string) any { return untokened.Checks()[0] }},
		mend("if no operation came between", none, tallied.Checks()[0]),
		mend("not what was disturbed", func(d *denorm.CounterDrift) { d.After = nil }, tallied.Checks()[0]),
		mend("without tokens, if it holds what it held", none, untokened.Checks()[0]),
		{Method: "denorm.Counter.Indexes", Reason: "the reference, and what is under way", Make: func(string) any { return tallied.Indexes() }},
		{Method: "denorm.Counter.Indexes", Reason: "with the extremes' fields", Make: func(string) any { return spanned.Indexes() }},
	}
}
