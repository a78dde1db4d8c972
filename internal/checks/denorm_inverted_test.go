package checks

import (
	"github.com/docmodel/docmodel/denorm/inverted"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	thingsBy = inverted.New(anything, "by", "home.city", "sites")
	hostsBy  = inverted.New(busyHosts, "hostsBy", "labels")
)

func init() {
	register(invertedJobs()...)
	register(invertedReads()...)
}

func surferOf(s string) bson.D {
	return roomy(bson.D{
		{Key: "_id", Value: s},
		{Key: "home", Value: roomy(bson.D{{Key: "city", Value: s}})},
		{Key: "sites", Value: bson.A{s, s + "2"}},
	})
}

func invertedJobs() []Case {
	return []Case{
		{
			Method: "inverted.Inverted.Rebuild", Reason: "enter what is missing, of each path",
			Make: func(string) any { return thingsBy.Rebuild() },
			State: func(s string) any {
				raw, err := bson.Marshal(surferOf(s))
				if err != nil {
					panic(err)
				}
				return []bson.Raw{raw}
			},
		},
	}
}

func invertedReads() []Case {
	city := func(s string) inverted.Query { return thingsBy.Is("home.city", s) }
	site := func(s string) inverted.Query { return thingsBy.Is("sites", s) }
	// A query is handed in as a list of others too, which the caller may change.
	list := func(method, reason string, call func(inverted.Query) any) Case {
		return Case{Method: "inverted.Inverted." + method, Reason: reason, From: func(s string) ([]any, func() any) {
			others := roomy([]inverted.Query{site(s), site(s + "2")})
			texts := roomy([]string{s})
			return []any{texts}, func() any { return call(city(s).And(city(s + "2").Or(others...)).Minus(site(s + "3"))) }
		}}
	}
	one := func(method, reason string, call func(s string) any) Case {
		return Case{Method: "inverted.Inverted." + method, Reason: reason, Make: call}
	}
	return []Case{
		list("IDs", "of several values of two paths", func(q inverted.Query) any { return thingsBy.IDs(q) }),
		one("IDs", "of one value", func(s string) any { return thingsBy.IDs(site(s)) }),
		one("IDs", "a value that is a document", func(s string) any {
			return thingsBy.IDs(thingsBy.Is("sites", bson.D{{Key: "a", Value: s}}))
		}),
		one("IDs", "what no document can hold is refused", func(s string) any {
			return thingsBy.IDs(thingsBy.Is("sites", bson.D{{Key: "$gt", Value: s}}))
		}),
		one("IDs", "null is refused", func(string) any { return thingsBy.IDs(thingsBy.Is("sites", nil)) }),
		list("Count", "of several values", func(q inverted.Query) any { return thingsBy.Count(q) }),
		one("Count", "of an unknown path is refused", func(s string) any { return thingsBy.Count(thingsBy.Is("name", s)) }),
		list("Documents", "of several values", func(q inverted.Query) any { return thingsBy.Documents(q) }),
		one("Documents", "of one value", func(s string) any { return hostsBy.Documents(hostsBy.Is("labels", s)) }),
		list("Report", "by a field", func(q inverted.Query) any { return thingsBy.Report(q, "category") }),
		one("Values", "from the entries", func(string) any { return thingsBy.Values("sites") }),
		{Method: "inverted.Inverted.Direct", Reason: "two", From: func(s string) ([]any, func() any) {
			ids := roomy([]any{s, s + "2"})
			return []any{ids}, func() any { return thingsBy.Direct(ids...) }
		}},
		one("Checks", "those of each path's entries", func(string) any { return thingsBy.Checks()[2] }),
	}
}
