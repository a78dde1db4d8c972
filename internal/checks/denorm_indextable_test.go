package checks

import (
	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	dwellers = indextable.New(anything, "home.city", "byCity",
		indextable.Spec{Copies: []string{"name", "home.zip"}})
	mailers  = indextable.New(anything, "mail", "byMail", indextable.Spec{Unique: true})
	labelled = indextable.New(busyHosts, "labels", "byLabel", indextable.Spec{})
)

func init() {
	register(indexTableReads()...)
	register(indexTableChecks()...)
}

// dweller is a document with a value for each table.
func dweller(s string) bson.D {
	return roomy(bson.D{
		{Key: "_id", Value: s}, {Key: "name", Value: s}, {Key: "mail", Value: s},
		{Key: "home", Value: roomy(bson.D{{Key: "city", Value: s}, {Key: "zip", Value: bson.A{s}}})},
	})
}

func indexTableReads() []Case {
	return []Case{
		{Method: "indextable.IndexTable.Lookup", Reason: "one range of _id",
			Make: func(s string) any { return labelled.Lookup(s) }},
		{Method: "indextable.IndexTable.Lookup", Reason: "a value that is a document",
			From: func(s string) ([]any, func() any) {
				v := roomy(bson.D{{Key: "a", Value: s}})
				return []any{v}, func() any { return dwellers.Lookup(v) }
			}},
		{Method: "indextable.IndexTable.Lookup", Reason: "a unique value is the _id",
			Make: func(s string) any { return mailers.Lookup(s) }},
		{Method: "indextable.IndexTable.Lookup", Reason: "null is refused",
			Make: func(string) any { return mailers.Lookup(nil) }},
		{Method: "indextable.IndexTable.Documents", Reason: "each document is asked again",
			Make: func(s string) any { return labelled.Documents(s) }},
		{Method: "indextable.IndexTable.Documents", Reason: "of a unique value that is a document",
			From: func(s string) ([]any, func() any) {
				v := roomy(bson.D{{Key: "a", Value: s}})
				return []any{v}, func() any { return mailers.Documents(v) }
			}},
	}
}

func indexTableChecks() []Case {
	value := func(v any) bson.RawValue {
		raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
		if err != nil {
			panic(err)
		}
		return bson.Raw(raw).Lookup("v")
	}
	copies := func(s string) bson.Raw { return bson.Raw(value(bson.D{{Key: "name", Value: s}}).Value) }
	mend := func(reason string, check model.Check, detail func(s string) bson.D) Case {
		return Case{Method: "indextable.IndexTable.Checks", Reason: "mend " + reason, From: func(s string) ([]any, func() any) {
			found := findings(check, detail(s))
			return []any{found}, func() any { return check.Mend(found) }
		}}
	}
	of := func(s string, more ...bson.E) bson.D {
		return append(bson.D{{Key: "v", Value: s}, {Key: "id", Value: s}}, more...)
	}
	docs := func(s string) any { return []bson.Raw{bson.Raw(value(dweller(s)).Value)} }
	return []Case{
		{Method: "indextable.IndexTable.Rebuild", Reason: "enter what is missing",
			Make: func(string) any { return dwellers.Rebuild() }, State: docs},
		{Method: "indextable.IndexTable.Rebuild", Reason: "reserve what nobody holds",
			Make: func(string) any { return mailers.Rebuild() }, State: docs},
		{
			Method: "indextable.IndexTable.Checks", Reason: "surplus entries",
			Make: func(string) any { return dwellers.Checks()[0] },
		},
		{Method: "indextable.IndexTable.Checks", Reason: "stale copies", Make: func(string) any { return dwellers.Checks()[1] }},
		{
			Method: "indextable.IndexTable.Checks", Reason: "missing entries, with copied fields",
			Make: func(string) any { return dwellers.Checks()[2] },
		},
		{
			Method: "indextable.IndexTable.Checks", Reason: "surplus reservations",
			Make: func(string) any { return mailers.Checks()[0] },
		},
		{
			Method: "indextable.IndexTable.Checks", Reason: "missing reservations",
			Make: func(string) any { return mailers.Checks()[1] },
		},
		{
			Method: "indextable.IndexTable.Checks",
			Reason: "reservations of other documents, and whose they are",
			Make:   func(string) any { return mailers.Checks()[2] },
		},
		mend("an entry too many", dwellers.Checks()[0], func(s string) bson.D {
			return of(s, bson.E{Key: "ops", Value: bson.A{bson.ObjectID{11: 1}}})
		}),
		mend("a reservation too many, which nothing claims", mailers.Checks()[0], func(s string) bson.D { return of(s) }),
		mend("a missing entry", dwellers.Checks()[2], func(s string) bson.D {
			return of(s, bson.E{Key: "want", Value: copies(s)})
		}),
		mend("a missing reservation", mailers.Checks()[1], func(s string) bson.D { return of(s) }),
		mend("copies that are old", dwellers.Checks()[1], func(s string) bson.D {
			return of(s, bson.E{Key: "found", Value: copies(s + "2")}, bson.E{Key: "want", Value: copies(s)})
		}),
		mend("copies that are not there", dwellers.Checks()[1], func(s string) bson.D {
			return of(s, bson.E{Key: "want", Value: copies(s)})
		}),
	}
}
