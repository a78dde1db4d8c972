package checks

import (
	"context"

	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var (
	slotDocs  = model.NewCollection[slots.Doc[string], string]("slots")
	hits      = slots.New(slotDocs, slots.Spec{Slots: 2, Keep: 3})
	freeSeats = slots.New(slotDocs, slots.Spec{Slots: 2, Stock: true})
)

func init() { register(slotsCases()...) }

// slotted are slots of the key "b": n, of, sum and free of each, with more fields of the last.
func slotted(list [][4]int64, more ...bson.E) func(string) testkit.Docs {
	return func(string) testkit.Docs {
		var out []any
		for i, s := range list {
			d := bson.D{
				{Key: "_id", Value: "b#000" + string(rune('0'+s[0]))}, {Key: "key", Value: "b"}, {Key: "n", Value: int32(s[0])},
				{Key: "of", Value: int32(s[1])}, {Key: "sum", Value: s[2]}, {Key: "seq", Value: int64(4)},
				{Key: "free", Value: s[3]},
			}
			if i == len(list)-1 {
				d = append(d, more...)
			}
			out = append(out, d)
		}
		return testkit.Docs{"slots": out}
	}
}

// unread is the state of a first attempt that reads nothing.
func unread(c model.Change) any {
	state, err := c.Read(runctx.First(context.Background(), true), (&mongo.Client{}).Database("none"))
	if err != nil {
		return err
	}
	return state
}

func slotsCases() []Case {
	op, other := bson.ObjectID{11: 1}, bson.ObjectID{11: 2} // of slot 1 and 1 of 2
	change := func(method, reason string, docs func(string) testkit.Docs, of func(s string) model.Change) Case {
		c := Case{Method: "slots.Slots." + method, Reason: reason, Make: func(s string) any { return of(s) }}
		c.State = asRead(of, docs)
		if docs == nil {
			c.State = func(s string) any { return unread(of(s)) }
		}
		return c
	}
	add := func(x *slots.Slots[string], n int64) func(s string) model.Change {
		return func(s string) model.Change { return x.Add(s, n, op) }
	}
	take := func(n int64) func(string) model.Change {
		return func(string) model.Change { return freeSeats.Take("b", n, op) }
	}
	resize := func(n int) func(string) model.Change {
		return func(string) model.Change { return hits.Resize("b", n) }
	}
	resizeStock := func(n int) func(string) model.Change {
		return func(string) model.Change { return freeSeats.Resize("b", n) }
	}
	token := func(op bson.ObjectID, n int64) bson.D {
		return bson.D{{Key: "op", Value: op}, {Key: "n", Value: n}, {Key: "h", Value: int32(1)}}
	}
	sent := bson.E{Key: "out", Value: bson.D{
		{Key: "seq", Value: int64(4)}, {Key: "to", Value: int32(0)}, {Key: "of", Value: int32(0)},
		{Key: "free", Value: int64(3)},
		{Key: "for", Value: append(token(other, -2), bson.E{Key: "of", Value: int32(2)})},
	}}
	merging := []bson.E{{Key: "out", Value: bson.D{
		{Key: "seq", Value: int64(4)}, {Key: "to", Value: int32(0)}, {Key: "of", Value: int32(1)},
		{Key: "free", Value: int64(3)}, {Key: "ops", Value: bson.A{token(other, 3)}},
	}}}
	splitting := slotted([][4]int64{{0, 2, 9, 5}}, bson.E{Key: "out", Value: bson.D{
		{Key: "seq", Value: int64(4)}, {Key: "to", Value: int32(1)}, {Key: "of", Value: int32(2)},
		{Key: "free", Value: int64(4)}, {Key: "ops", Value: bson.A{token(other, 3)}},
	}})
	two := slotted([][4]int64{{0, 2, 9, 9}, {1, 2, 3, 3}})
	awaited := slotted([][4]int64{{1, 2, 9, 9}, {0, 2, 3, 3}}, bson.E{
		Key:   "in",
		Value: bson.D{{Key: "from", Value: int32(1)}, {Key: "seq", Value: int64(5)}},
	})
	return []Case{
		change("Add", "the first attempt reads nothing", nil, add(hits, 5)),
		change("Add", "to a stock", nil, add(freeSeats, 5)),
		change("Add", "a new key", func(string) testkit.Docs { return nil }, add(freeSeats, 5)),
		change("Add", "other slots, of which some are missing", slotted([][4]int64{{0, 4, 9, 9}, {1, 4, 3, 3}}),
			func(string) model.Change { return freeSeats.Add("b", 5, op) }),
		change("Add", "a transfer is finished first", slotted([][4]int64{{0, 2, 9, 9}, {1, 2, 3, 0}}, sent),
			func(string) model.Change { return freeSeats.Add("b", 5, op) }),
		change("Add", "a token that was counted",
			slotted([][4]int64{{0, 2, 9, 9}, {1, 2, 5, 5}}, bson.E{Key: "ops", Value: bson.A{token(op, 5)}}),
			func(string) model.Change { return hits.Add("b", 5, op) }),
		change("Add", "no token is refused", nil, func(s string) model.Change {
			return hits.Add(s, 5, bson.NilObjectID)
		}),
		change("Take", "the first attempt reads nothing", nil, func(s string) model.Change {
			return freeSeats.Take(s, 5, op)
		}),
		change("Take", "another slot gives", two, take(5)),
		change("Take", "all slots give",
			slotted([][4]int64{{0, 4, 5, 5}, {1, 4, 2, 2}, {2, 4, 3, 3}, {3, 4, 1, 1}}), take(11)),
		change("Take", "from a counter is refused", nil, func(s string) model.Change { return hits.Take(s, 5, op) }),
		change("Resize", "twice as many begins", two, resizeStock(4)),
		change("Resize", "twice as many of a counter begins", two, resize(4)),
		change("Resize", "twice as many ends", splitting, resizeStock(2)),
		change("Resize", "half as many begins", two, resizeStock(1)),
		change("Resize", "half as many goes on", awaited, resizeStock(1)),
		change("Resize", "half as many ends", slotted([][4]int64{{0, 2, 9, 9}, {1, 0, 3, 0}}, merging...), resizeStock(1)),
		change("Resize", "three are refused", nil, resize(3)),
		{Method: "slots.Slots.Totals", Reason: "of a counter", Make: func(s string) any { return hits.Totals(s) }},
		{Method: "slots.Slots.Totals", Reason: "of a stock", Make: func(s string) any { return freeSeats.Totals(s) }},
		{
			Method: "slots.Slots.Totals", Reason: "of no key is refused",
			Make: func(string) any { return hits.Totals("") },
		},
		{Method: "slots.Slots.Totals", Reason: "of two keys", From: func(s string) ([]any, func() any) {
			list := roomy([]string{s, s + "2"})
			return []any{list}, func() any { return hits.Totals(list...) }
		}},
		{Method: "slots.Slots.Totals", Reason: "of all keys", Make: func(string) any { return freeSeats.Totals() }},
		{Method: "slots.Slots.Checks", Reason: "transfers", Make: func(string) any { return freeSeats.Checks()[0].Find() }},
		{Method: "slots.Slots.Checks", Reason: "slots of a key", Make: func(string) any { return freeSeats.Checks()[1] }},
		{Method: "slots.Slots.Checks", Reason: "contents", Make: func(string) any { return freeSeats.Checks()[2].Find() }},
		{Method: "slots.Slots.Checks", Reason: "transfers are finished", From: func(s string) ([]any, func() any) {
			check := freeSeats.Checks()[0]
			found := findings(check, bson.D{
				{Key: "_id", Value: "b#0001"}, {Key: "key", Value: s}, {Key: "n", Value: int32(1)}, sent,
			})
			return []any{found}, func() any { return check.Mend(found) }
		}},
		{Method: "slots.Slots.Checks", Reason: "missing slots are stored", From: func(s string) ([]any, func() any) {
			check := freeSeats.Checks()[1]
			found := findings(check, bson.D{
				{Key: "_id", Value: "b#0000"}, {Key: "key", Value: s}, {Key: "of", Value: int32(4)},
				{Key: "missing", Value: bson.A{int32(2), int32(3)}},
			})
			return []any{found}, func() any { return check.Mend(found) }
		}},
	}
}
