package checks

import (
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	from  = parentref.New(logmsgs, "host", hosts, parentref.Spec{By: "time"})
	plain = parentref.New(logmsgs, "host", hosts, parentref.Spec{})
	below = parentref.New(anything, "parent.id", anything, parentref.Spec{})

	countedBelow = parentref.New(anything, "parent.id", anything, parentref.Spec{CountUp: "version"})
)

func init() {
	register(parentRefWrites()...)
	register(parentRefReads()...)
}

func parentRefWrites() []Case {
	return []Case{
		{Method: "parentref.ParentRef.MoveAll", Reason: "each child's version is counted up",
			From: func(s string) ([]any, func() any) {
				old, next := bson.D{{Key: "site", Value: s}}, bson.D{{Key: "site", Value: s + "2"}}
				return []any{old, next}, func() any { return countedBelow.MoveAll(old, next) }
			}},
		{Method: "parentref.ParentRef.MoveAll", Reason: "every child of a parent",
			Make: func(s string) any { return from.MoveAll(s, s+"2") }},
	}
}

func parentRefReads() []Case {
	return []Case{
		{Method: "parentref.ParentRef.Children", Reason: "newest first",
			Make: func(s string) any { return from.Children(s) }},
		{Method: "parentref.ParentRef.Children", Reason: "in the order of _id",
			Make: func(s string) any { return plain.Children(s) }},
		{Method: "parentref.ParentRef.Children", Reason: "the first page",
			Make: func(s string) any { return from.Children(s).Limited(20) }},
		{Method: "parentref.ParentRef.Children", Reason: "the next page",
			Make: func(s string) any { return from.Children(s).Limited(20).After(noon(0), oid(9)) }},
		{Method: "parentref.ParentRef.Lookup", Reason: "the newest few of each parent, for a pipeline of one's own",
			Make: func(string) any { return from.Lookup("lastMsgs", 3) }},
		{Method: "parentref.ParentRef.Lookup", Reason: "all",
			Make: func(string) any { return plain.Lookup("msgs", 0) }},
		{Method: "parentref.ParentRef.Load", Reason: "parents with their newest children",
			From: func(s string) ([]any, func() any) {
				f := roomy(bson.D{{Key: "name", Value: s}})
				return []any{f}, func() any { return from.Load(f, 3) }
			}},
		{Method: "parentref.ParentRef.Load", Reason: "all parents with all their children",
			Make: func(string) any { return plain.Load(nil, 0) }},
		{Method: "parentref.ParentRef.Counts", Reason: "of some parents",
			From: func(s string) ([]any, func() any) {
				ids := roomy([]string{s, "AAAB"})
				return []any{ids}, func() any { return from.Counts(ids...) }
			}},
		{Method: "parentref.ParentRef.Counts", Reason: "of none is refused",
			Make: func(string) any { return from.Counts() }},
		{Method: "parentref.ParentRef.Indexes", Reason: "by parent and time",
			Make: func(string) any { return from.Indexes() }},
		{Method: "parentref.ParentRef.Indexes", Reason: "by parent and _id",
			Make: func(string) any { return plain.Indexes() }},
	}
}
