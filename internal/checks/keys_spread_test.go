package checks

import (
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	spreadDocs = model.NewCollection[bson.D, string]("spread")
	spreadByID = keys.NewSpread(spreadDocs, "day", keys.SpreadSpec{
		Parts: 2, By: "_id", Order: bson.D{{Key: "at", Value: -1}},
	})
	spreadMore = keys.NewSpread(spreadDocs, "day", keys.SpreadSpec{Parts: 3, Was: []int{2, 0}, By: "user"})
	spreadAny  = keys.NewSpread(spreadDocs, "day", keys.SpreadSpec{Parts: 2})
)

func init() {
	register(spreadCases()...)
	register(spreadStoreCases()...)
}

// spreadStoreCases are what a store of spread documents sends.
func spreadStoreCases() []Case {
	store := func(spread model.Technique) *model.Store[bson.D, string] {
		return model.NewStore(model.New("spread", spread), spreadDocs)
	}
	byID, more, chosen := store(spreadByID), store(spreadMore), store(spreadAny)
	stored := func(s string) testkit.Docs {
		return testkit.Docs{
			"spread": {bson.D{{Key: "_id", Value: s}, {Key: "day", Value: "monday#000"}, {Key: "user", Value: "u2"}}},
		}
	}
	type change = model.ChangeOf[model.Stored[bson.D]]
	doc := func(s, day string) bson.D {
		return bson.D{
			{Key: "_id", Value: "e1"}, {Key: "user", Value: "u1"}, {Key: "at", Value: noon(0)}, {Key: "text", Value: s},
			{Key: "day", Value: day},
		}
	}
	return []Case{
		storeCase("Insert", "in the part of its _id", stored, func(s string) change {
			return byID.Insert(doc(s, "2014-03-28"))
		}),
		storeCase("Insert", "in the part of another field", stored, func(s string) change {
			return more.Insert(doc(s, "2014-03-28"))
		}),
		storeCase("Insert", "in a part that was picked", stored, func(s string) change {
			return chosen.Insert(doc(s, "2014-03-28#001"))
		}),
		storeCase("Insert", "in a part that nobody picked", stored, func(s string) change {
			return chosen.Insert(doc(s, "2014-03-28"))
		}),
		storeCase("Set", "the field that chooses the part", stored, func(s string) change {
			return more.Set(s, bson.D{{Key: "user", Value: "u1"}})
		}),
	}
}

func spreadCases() []Case {
	one := func(method, reason string, call func(s string) any) Case {
		return Case{Method: "keys.Spread." + method, Reason: reason, Make: call}
	}
	of := func(reason string, c Case) Case {
		c.MayRefuse = reason
		return c
	}
	return []Case{
		{Method: "keys.Spread.Point", Reason: "in one part", From: func(string) ([]any, func() any) {
			by := roomy(bson.D{{Key: "site", Value: "a"}})
			return []any{by}, func() any { return spreadByID.Point("2014-03-28", by) }
		}},
		one("Point", "under three numbers of parts", func(string) any { return spreadMore.Point("2014-03-28", "u1") }),
		one("Point", "without a By is refused", func(s string) any { return spreadAny.Point("2014-03-28", s) }),
		of("it holds the separator, or is empty",
			one("Find", "in order", func(s string) any { return spreadByID.Find(s, nil) })),
		{Method: "keys.Spread.Find", Reason: "some, under three numbers of parts", From: func(s string) ([]any, func() any) {
			filter := roomy(bson.D{{Key: "user", Value: s}})
			return []any{filter}, func() any { return spreadMore.Find("2014-03-28", filter) }
		}},
		one("Checks", "what it reads", func(string) any { return spreadMore.Checks()[0] }),
		{Method: "keys.Spread.Checks", Reason: "moves as found", From: func(s string) ([]any, func() any) {
			check := spreadMore.Checks()[0]
			found := findings(check, bson.M{"_id": s, "key": "2014-03-28#001", "by": s, "want": "2014-03-28#002"})
			return []any{found}, func() any { return check.Mend(found) }
		}},
		{Method: "keys.Spread.Checks", Reason: "moves as found, by the _id", From: func(s string) ([]any, func() any) {
			check := spreadByID.Checks()[0]
			found := findings(check, bson.M{"_id": s, "key": "2014-03-28", "by": s, "want": "2014-03-28#001"})
			return []any{found}, func() any { return check.Mend(found) }
		}},
		one("Indexes", "of order, and of points", func(string) any { return spreadMore.Indexes() }),
	}
}
