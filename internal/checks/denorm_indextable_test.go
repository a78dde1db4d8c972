package checks

import (
	"github.com/docmodel/docmodel/denorm"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	dwellers = denorm.NewIndexTable(anything, "home.city", "byCity", denorm.IndexTableSpec{Copies: []string{"name", "home.zip"}})
	mailers  = denorm.NewIndexTable(anything, "mail", "byMail", denorm.IndexTableSpec{Unique: true})
	labelled = denorm.NewIndexTable(busyHosts, "labels", "byLabel")
)

func init() {
	register(indexTableWrites()...)
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

func indexTableWrites() []Case {
	write := func(method, reason string, call func(doc bson.D, s string) any) Case {
		return Case{Method: "denorm.IndexTable." + method, Reason: reason, From: func(s string) ([]any, func() any) {
			doc := dweller(s)
			return []any{doc}, func() any { return call(doc, s) }
		}}
	}
	set := func(path string, v any) bson.D { return bson.D{{Key: path, Value: v}} }
	return []Case{
		write("Insert", "enter, store, confirm", func(doc bson.D, _ string) any { return dwellers.Insert(doc, oid(1)) }),
		write("Insert", "reserve a unique value", func(doc bson.D, _ string) any { return mailers.Insert(doc, oid(1)) }),
		{Method: "denorm.IndexTable.Insert", Reason: "an entry for each element",
			Make: func(s string) any { return labelled.Insert(busyHost{ID: s, Labels: []string{s, "b", s}}, oid(1)) }},
		{Method: "denorm.IndexTable.Insert", Reason: "without a value",
			Make: func(s string) any { return labelled.Insert(busyHost{ID: s}, oid(1)) }},
		{Method: "denorm.IndexTable.Insert", Reason: "without a token is refused",
			Make: func(s string) any { return labelled.Insert(busyHost{ID: s}, bson.NilObjectID) }},
		write("Set", "another value", func(doc bson.D, s string) any { return dwellers.Set(&doc, set("home.city", s+"2"), oid(2)) }),
		write("Set", "the same value: what a first run has entered and left", func(doc bson.D, s string) any { return dwellers.Set(&doc, set("home.city", s), oid(2)) }),
		write("Set", "a copied field", func(doc bson.D, s string) any { return dwellers.Set(&doc, set("name", s+"2"), oid(2)) }),
		write("Set", "a field that no entry holds", func(doc bson.D, s string) any { return dwellers.Set(&doc, set("note", s), oid(2)) }),
		write("Set", "null takes the entry out", func(doc bson.D, _ string) any { return dwellers.Set(&doc, set("home.city", nil), oid(2)) }),
		write("Set", "another unique value", func(doc bson.D, s string) any { return mailers.Set(&doc, set("mail", s+"2"), oid(2)) }),
		{Method: "denorm.IndexTable.Set", Reason: "a document that holds the value and a copied field",
			From: func(s string) ([]any, func() any) {
				doc := dweller(s)
				fields := roomy(bson.D{{Key: "home", Value: roomy(bson.D{{Key: "city", Value: s + "2"}, {Key: "zip", Value: s}})}})
				return []any{doc, fields}, func() any { return dwellers.Set(&doc, fields, oid(2)) }
			}},
		write("Set", "below the value is refused", func(doc bson.D, s string) any { return dwellers.Set(&doc, set("home.city.x", s), oid(2)) }),
		write("Delete", "the document, then its entry", func(doc bson.D, _ string) any { return dwellers.Delete(&doc) }),
		{Method: "denorm.IndexTable.Delete", Reason: "a document that is gone: what a first run has left",
			Make: func(s string) any { return dwellers.Delete(&bson.D{{Key: "_id", Value: s}}) }},
		write("Delete", "the document, then its reservation", func(doc bson.D, _ string) any { return mailers.Delete(&doc) }),
	}
}

func indexTableReads() []Case {
	return []Case{
		{Method: "denorm.IndexTable.Lookup", Reason: "one range of _id",
			Make: func(s string) any { return labelled.Lookup(s) }},
		{Method: "denorm.IndexTable.Lookup", Reason: "a value that is a document",
			From: func(s string) ([]any, func() any) {
				v := roomy(bson.D{{Key: "a", Value: s}})
				return []any{v}, func() any { return dwellers.Lookup(v) }
			}},
		{Method: "denorm.IndexTable.Lookup", Reason: "a unique value is the _id",
			Make: func(s string) any { return mailers.Lookup(s) }},
		{Method: "denorm.IndexTable.Lookup", Reason: "null is refused",
			Make: func(string) any { return mailers.Lookup(nil) }},
		{Method: "denorm.IndexTable.Documents", Reason: "each document is asked again",
			Make: func(s string) any { return labelled.Documents(s) }},
		{Method: "denorm.IndexTable.Documents", Reason: "of a unique value that is a document",
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
	repair := func(reason string, x *denorm.IndexTable[bson.D, any], drift func(s string) denorm.IndexDrift) Case {
		return Case{Method: "denorm.IndexTable.Repair", Reason: reason, From: func(s string) ([]any, func() any) {
			list := roomy([]denorm.IndexDrift{drift(s)})
			return []any{list}, func() any { return x.Repair(list, noon(0)) }
		}}
	}
	docs := func(s string) any { return []bson.Raw{bson.Raw(value(dweller(s)).Value)} }
	return []Case{
		{Method: "denorm.IndexTable.Rebuild", Reason: "enter what is missing",
			Make: func(string) any { return dwellers.Rebuild() }, State: docs},
		{Method: "denorm.IndexTable.Rebuild", Reason: "reserve what nobody holds",
			Make: func(string) any { return mailers.Rebuild() }, State: docs},
		{Method: "denorm.IndexTable.CheckEntries", Reason: "with copied fields",
			Make: func(string) any { return dwellers.CheckEntries() }},
		{Method: "denorm.IndexTable.CheckEntries", Reason: "of reservations",
			Make: func(string) any { return mailers.CheckEntries() }},
		{Method: "denorm.IndexTable.CheckDocuments", Reason: "with copied fields",
			Make: func(string) any { return dwellers.CheckDocuments() }},
		{Method: "denorm.IndexTable.CheckDocuments", Reason: "of reservations, and whose they are",
			Make: func(string) any { return mailers.CheckDocuments() }},
		repair("an entry too many", dwellers, func(s string) denorm.IndexDrift {
			return denorm.IndexDrift{Fault: denorm.Surplus, Value: value(s), ID: value(s), Ops: []bson.ObjectID{{11: 1}}}
		}),
		repair("an entry whose operation may be under way stays", dwellers, func(s string) denorm.IndexDrift {
			return denorm.IndexDrift{Fault: denorm.Surplus, Value: value(s), ID: value(s), Ops: []bson.ObjectID{bson.NewObjectIDFromTimestamp(noon(1))}}
		}),
		repair("a missing entry", dwellers, func(s string) denorm.IndexDrift {
			return denorm.IndexDrift{Fault: denorm.Missing, Value: value(s), ID: value(s), Want: copies(s)}
		}),
		repair("a missing reservation", mailers, func(s string) denorm.IndexDrift {
			return denorm.IndexDrift{Fault: denorm.Missing, Value: value(s), ID: value(s)}
		}),
		repair("copies that are old", dwellers, func(s string) denorm.IndexDrift {
			return denorm.IndexDrift{Fault: denorm.StaleCopy, Value: value(s), ID: value(s), Found: copies(s + "2"), Want: copies(s)}
		}),
		repair("a conflict stays", mailers, func(s string) denorm.IndexDrift {
			return denorm.IndexDrift{Fault: denorm.Conflict, Value: value(s), ID: value(s), Other: value(s + "2")}
		}),
		{Method: "denorm.IndexTable.Indexes", Reason: "everything is found by _id",
			Make: func(string) any { return dwellers.Indexes() }},
	}
}
