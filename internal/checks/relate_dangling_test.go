package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An errand belongs to whoever has taken it.
type errand = linkedTask

var (
	errands = model.NewCollection[errand, string]("errands")

	lostParts = relate.NewDangling(products, "parts", parts, relate.DanglingSpec{Repair: relate.DetachIDs})
	lostStock = relate.NewDangling(portfolios, "holdings.stockId", stocks, relate.DanglingSpec{Repair: relate.DetachIDs})
	lostHosts = relate.NewDangling(logmsgs, "host", hosts, relate.DanglingSpec{Repair: relate.DeleteReferrers})
	lostOwner = relate.NewDangling(errands, "owner.id", hosts, relate.DanglingSpec{Repair: relate.DetachIDs})
	onlyTold  = relate.NewDangling(logmsgs, "host", hosts)
	untyped   = relate.NewDangling(anything, "ref", anything, relate.DanglingSpec{Repair: relate.DetachIDs})
	untypedIn = relate.NewDangling(anything, "refs.id", anything, relate.DanglingSpec{Repair: relate.DetachIDs, List: "refs"})
)

func init() {
	register(danglingReads()...)
	register(danglingRepairs()...)
	register(danglingDeferred()...)
}

// rawValue is a value as it is stored.
func rawValue(v any) bson.RawValue {
	t, data, err := bson.MarshalValue(v)
	if err != nil {
		panic(err)
	}
	return bson.RawValue{Type: t, Value: data}
}

// missing are ids as a check returns them.
func missing(ids ...any) []relate.MissingID {
	out := make([]relate.MissingID, len(ids))
	for i, id := range ids {
		out[i] = relate.MissingID{ID: rawValue(id), Documents: int64(i + 1)}
	}
	return roomy(out)
}

// rawDocs are documents as a job reads them.
func rawDocs(docs ...any) []bson.Raw {
	out := make([]bson.Raw, len(docs))
	for i, d := range docs {
		raw, err := bson.Marshal(d)
		if err != nil {
			panic(err)
		}
		out[i] = raw
	}
	return out
}

// replacing puts an id in the place of missing ones.
func replacing(s string) *relate.Dangling[product, string, sparePart, string] {
	return relate.NewDangling(products, "parts", parts, relate.DanglingSpec{Repair: relate.ReplaceIDs, ReplaceBy: s})
}

func replacingStock(s string) *relate.Dangling[portfolio, string, stock, string] {
	return relate.NewDangling(portfolios, "holdings.stockId", stocks, relate.DanglingSpec{Repair: relate.ReplaceIDs, ReplaceBy: s})
}

func replacingHost(s string) *relate.Dangling[logmsg, bson.ObjectID, host, string] {
	return relate.NewDangling(logmsgs, "host", hosts, relate.DanglingSpec{Repair: relate.ReplaceIDs, ReplaceBy: s})
}

func danglingReads() []Case {
	return []Case{
		{Method: "relate.Dangling.Check", Reason: "of some documents with a list",
			From: func(s string) ([]any, func() any) {
				f := roomy(bson.D{{Key: "name", Value: s}, {Key: "tags", Value: bson.A{s}}})
				return []any{f}, func() any { return lostParts.Check(f) }
			}},
		{Method: "relate.Dangling.Check", Reason: "of all documents with a single id",
			Make: func(string) any { return onlyTold.Check(nil) }},
		{Method: "relate.Dangling.Missing", Reason: "of some documents with elements",
			From: func(s string) ([]any, func() any) {
				f := roomy(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{s}}}}})
				return []any{f}, func() any { return lostStock.Missing(f) }
			}},
		{Method: "relate.Dangling.Missing", Reason: "of all documents of any form",
			Make: func(string) any { return untypedIn.Missing(nil) }},
		{Method: "relate.Dangling.Indexes", Reason: "on the ids of elements",
			Make: func(string) any { return lostStock.Indexes() }},
	}
}

func danglingRepairs() []Case {
	repair := func(reason string, plan func(s string, ids []relate.MissingID) any) Case {
		return Case{Method: "relate.Dangling.Repair", Reason: reason, From: func(s string) ([]any, func() any) {
			ids := missing(s, s+"2")
			return []any{ids}, func() any { return plan(s, ids) }
		}}
	}
	return []Case{
		repair("ids out of a list", func(_ string, ids []relate.MissingID) any { return lostParts.Repair(ids...) }),
		repair("elements out of a list", func(_ string, ids []relate.MissingID) any { return lostStock.Repair(ids...) }),
		repair("elements of documents of any form", func(_ string, ids []relate.MissingID) any { return untypedIn.Repair(ids...) }),
		repair("a single id, where no list is", func(_ string, ids []relate.MissingID) any { return untyped.Repair(ids...) }),
		repair("a link ends", func(_ string, ids []relate.MissingID) any { return lostOwner.Repair(ids...) }),
		repair("the referring documents go", func(_ string, ids []relate.MissingID) any { return lostHosts.Repair(ids...) }),
		repair("another id in a list", func(s string, ids []relate.MissingID) any { return replacing(s + "3").Repair(ids...) }),
		repair("another id in elements", func(s string, ids []relate.MissingID) any { return replacingStock(s + "3").Repair(ids...) }),
		repair("another single id", func(s string, ids []relate.MissingID) any { return replacingHost(s + "3").Repair(ids...) }),
		repair("nothing, but told", func(_ string, ids []relate.MissingID) any { return onlyTold.Repair(ids...) }),
		{Method: "relate.Dangling.Repair", Reason: "ids that are documents are compared, not read as conditions",
			Make: func(s string) any {
				return untyped.Repair(missing(bson.D{{Key: "site", Value: s}}, bson.D{{Key: "tags", Value: bson.A{s}}})...)
			}},
		{Method: "relate.Dangling.Repair", Reason: "a condition is refused, for no id can be one",
			Make: func(s string) any { return untyped.Repair(missing(bson.D{{Key: "$gt", Value: s}})...) }},
		{Method: "relate.Dangling.Repair", Reason: "a pattern is refused, for it would match others",
			Make: func(string) any { return lostParts.Repair(missing(bson.Regex{Pattern: "^a"})...) }},
		{Method: "relate.Dangling.Repair", Reason: "no id at all does nothing",
			Make: func(string) any { return lostParts.Repair() }},
	}
}

func danglingDeferred() []Case {
	job := func(reason string, make func(s string, ids []relate.MissingID) model.Job, docs func(s string) []bson.Raw) Case {
		return Case{Method: "relate.Dangling.RepairJob", Reason: reason,
			From: func(s string) ([]any, func() any) {
				ids := missing(s, s+"2")
				return []any{ids}, func() any { return make(s, ids) }
			},
			State: func(s string) any { return docs(s) },
		}
	}
	withParts := func(s string) []bson.Raw {
		return rawDocs(product{ID: s, Parts: []string{s, "bolt", s + "2", s}}, product{ID: "bench", Parts: []string{"bolt"}})
	}
	withHost := func(s string) []bson.Raw {
		return rawDocs(logmsg{ID: oid(1), Host: s}, logmsg{ID: oid(2), Host: s + "2"})
	}
	return []Case{
		job("ids out of lists", func(_ string, ids []relate.MissingID) model.Job { return lostParts.RepairJob(ids...) }, withParts),
		job("elements out of lists", func(_ string, ids []relate.MissingID) model.Job { return lostStock.RepairJob(ids...) },
			func(s string) []bson.Raw {
				return rawDocs(portfolio{ID: s, Holdings: []holding{{StockID: s, Note: s}, {StockID: "b"}}})
			}),
		job("the referring documents go", func(_ string, ids []relate.MissingID) model.Job { return lostHosts.RepairJob(ids...) }, withHost),
		job("another id in lists", func(s string, ids []relate.MissingID) model.Job { return replacing(s + "3").RepairJob(ids...) }, withParts),
		job("another single id", func(s string, ids []relate.MissingID) model.Job { return replacingHost(s + "3").RepairJob(ids...) }, withHost),
		job("nothing, but told", func(_ string, ids []relate.MissingID) model.Job { return onlyTold.RepairJob(ids...) }, withHost),
		{Method: "relate.Dangling.Mend", Reason: "what is missing after the age",
			Make:  func(string) any { return lostParts.Mend(0) },
			State: func(s string) any { return missing(s, "bolt") }},
		{Method: "relate.Dangling.Mend", Reason: "nothing was found",
			Make:  func(string) any { return lostStock.Mend(0) },
			State: func(string) any { return missing() }},
	}
}
