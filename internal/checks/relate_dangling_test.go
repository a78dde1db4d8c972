package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/dangling"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An errand belongs to whoever has taken it.
type errand struct {
	ID    string `bson:"_id"`
	Owner struct {
		ID string `bson:"id"`
	} `bson:"owner"`
}

var (
	errands = model.NewCollection[errand, string]("errands")

	lostParts = dangling.New(products, "parts", parts, dangling.Spec{Repair: dangling.DetachIDs})
	lostStock = dangling.New(portfolios, "holdings.stockId", stocks, dangling.Spec{Repair: dangling.DetachIDs})
	lostHosts = dangling.New(logmsgs, "host", hosts, dangling.Spec{Repair: dangling.DeleteReferrers})
	lostOwner = dangling.New(errands, "owner.id", hosts, dangling.Spec{Repair: dangling.DetachIDs})
	onlyTold  = dangling.New(logmsgs, "host", hosts, dangling.Spec{})
	untyped   = dangling.New(anything, "ref", anything, dangling.Spec{Repair: dangling.DetachIDs})
	untypedIn = dangling.New(anything, "refs.id", anything,
		dangling.Spec{Repair: dangling.DetachIDs, List: "refs"})
)

func init() {
	register(danglingReads()...)
	register(danglingRepairs()...)
}

// rawValue is a value as it is stored.
func rawValue(v any) bson.RawValue {
	t, data, err := bson.MarshalValue(v)
	if err != nil {
		panic(err)
	}
	return bson.RawValue{Type: t, Value: data}
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
func replacing(s string) *dangling.Dangling[product, string, sparePart, string] {
	return dangling.New(products, "parts", parts, dangling.Spec{ReplaceBy: s})
}

func replacingStock(s string) *dangling.Dangling[portfolio, string, stock, string] {
	return dangling.New(portfolios, "holdings.stockId", stocks, dangling.Spec{ReplaceBy: s})
}

func replacingHost(s string) *dangling.Dangling[logmsg, bson.ObjectID, host, string] {
	return dangling.New(logmsgs, "host", hosts, dangling.Spec{ReplaceBy: s})
}

func danglingReads() []Case {
	return []Case{
		{
			Method: "dangling.Dangling.Checks", Reason: "of documents with a list",
			Make: func(string) any { return lostParts.Checks()[0] },
		},
		{
			Method: "dangling.Dangling.Checks", Reason: "of documents with a single id",
			Make: func(string) any { return onlyTold.Checks()[0] },
		},
		{Method: "dangling.Dangling.Checks", Reason: "of some documents with elements",
			From: func(s string) ([]any, func() any) {
				f := roomy(bson.D{{Key: "name", Value: s}, {Key: "tags", Value: bson.A{s}}})
				return []any{f}, func() any { return lostStock.Checks()[0].In(f) }
			}},
		{Method: "dangling.Dangling.Missing", Reason: "of some documents with elements",
			From: func(s string) ([]any, func() any) {
				f := roomy(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{s}}}}})
				return []any{f}, func() any { return lostStock.Missing(f) }
			}},
		{Method: "dangling.Dangling.Missing", Reason: "of all documents of any form",
			Make: func(string) any { return untypedIn.Missing(nil) }},
		{Method: "dangling.Dangling.Indexes", Reason: "on the ids of elements",
			Make: func(string) any { return lostStock.Indexes() }},
	}
}

func danglingRepairs() []Case {
	// mends are two ids of one document, one of another.
	mends := func(reason string, check func(s string) model.Check) Case {
		return Case{Method: "dangling.Dangling.Checks", Reason: reason, From: func(s string) ([]any, func() any) {
			c := check(s)
			found := findings(c, bson.M{"doc": s, "id": s}, bson.M{"doc": s, "id": s + "2"}, bson.M{"doc": "bench", "id": s})
			return []any{found}, func() any { return c.Mend(found) }
		}}
	}
	of := func(check model.Check) func(string) model.Check { return func(string) model.Check { return check } }
	one := func(check model.Check, ids ...any) any {
		var details []any
		for _, id := range ids {
			details = append(details, bson.M{"doc": "a", "id": id})
		}
		return check.Mend(findings(check, details...))
	}
	return []Case{
		mends("ids out of a list", of(lostParts.Checks()[0])),
		mends("elements out of a list", of(lostStock.Checks()[0])),
		mends("elements of documents of any form", of(untypedIn.Checks()[0])),
		mends("a single id, where no list is", of(untyped.Checks()[0])),
		mends("a single id in a document", of(lostOwner.Checks()[0])),
		mends("the referring documents go", of(lostHosts.Checks()[0])),
		mends("another id in a list", func(s string) model.Check { return replacing(s + "3").Checks()[0] }),
		mends("another id in elements", func(s string) model.Check { return replacingStock(s + "3").Checks()[0] }),
		mends("another single id", func(s string) model.Check { return replacingHost(s + "3").Checks()[0] }),
		{
			Method: "dangling.Dangling.Checks", Reason: "a job of what only tells is refused",
			Make: func(string) any { return onlyTold.Checks()[0].Job() },
		},
		{Method: "dangling.Dangling.Checks", Reason: "ids that are documents are compared, not read as conditions",
			Make: func(s string) any {
				return one(untyped.Checks()[0], bson.D{{Key: "site", Value: s}}, bson.D{{Key: "tags", Value: bson.A{s}}})
			}},
		{Method: "dangling.Dangling.Checks", Reason: "a condition is refused, for no id can be one",
			Make: func(s string) any { return one(untyped.Checks()[0], bson.D{{Key: "$gt", Value: s}}) }},
		{Method: "dangling.Dangling.Checks", Reason: "a pattern is refused, for it would match others",
			Make: func(string) any { return one(lostParts.Checks()[0], bson.Regex{Pattern: "^a"}) }},
		{Method: "dangling.Dangling.Checks", Reason: "no finding at all does nothing",
			Make: func(string) any { return one(lostParts.Checks()[0]) }},
	}
}
