package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Workers list their tasks and tasks name their owner.
type (
	worker = bareEnd
	task   = bareEnd
)

var (
	workers = model.NewCollection[worker, string]("workers")
	tasks   = model.NewCollection[task, string]("tasks")

	owned       = twosided.NewTwoWay(workers, "tasks", tasks, "owner", twosided.TwoWaySpec{})
	ownedListed = twosided.NewTwoWay(workers, "tasks", tasks, "owner", twosided.TwoWaySpec{TrustLists: true})
)

func init() {
	register(twoWayChecks()...)
	register(twoWayReads()...)
}

// mendsHalves is a case of what it mends, by the details of findings.
func mendsHalves(reason, method string, check model.Check, details func(s string) []any) Case {
	return Case{Method: method, Reason: reason, From: func(s string) ([]any, func() any) {
		found := findings(check, details(s)...)
		return []any{found}, func() any { return check.Mend(found) }
	}}
}

func twoWayChecks() []Case {
	type list = []any
	mends := func(reason string, check model.Check, details func(s string) []any) Case {
		return mendsHalves(reason, "twosided.TwoWay.Checks", check, details)
	}
	names := func(s string) bson.A { return bson.A{s} }
	lists, refs := owned.Checks()[0], owned.Checks()[1]
	listsTrusted, refsTrusted := ownedListed.Checks()[0], ownedListed.Checks()[1]
	out := []Case{
		mends("the items are believed: off the list", lists, func(s string) []any {
			return list{bson.M{"list": true, "a": "ann", "b": s}}
		}),
		mends("the items are believed: onto the list", refs, func(s string) []any { return list{bson.M{"a": s, "b": "t"}} }),
		mends("the lists are believed: the item is given", listsTrusted, func(s string) []any {
			return list{bson.M{"list": true, "a": "ann", "b": s}}
		}),
		mends("the lists are believed: the item is freed", refsTrusted, func(s string) []any {
			return list{bson.M{"a": s, "b": "t"}}
		}),
		mends("what leads nowhere goes, and of two lists one keeps the item", listsTrusted, func(s string) []any {
			return list{
				bson.M{"list": true, "a": "ann", "b": s, "gone": true},
				bson.M{"list": true, "a": "ann", "b": "t", "names": names(s), "kept": true},
				bson.M{"list": true, "a": s, "b": "u", "names": names(s)},
				bson.M{"list": true, "a": "bob", "b": "u", "names": names(s)},
			}
		}),
		mends("an owner that is gone", refsTrusted, func(s string) []any {
			return list{bson.M{"a": s, "b": "t", "gone": true}}
		}),
		mends("documents as the check has read them", refs, func(s string) []any {
			return list{bson.M{"a": s, "b": "t", "markA": bson.M{"ops": bson.A{oid(4)}}}}
		}),
		mends("a finding without an id is refused", lists, func(s string) []any {
			return list{bson.M{"list": true, "a": s}}
		}),
	}
	for i, reason := range []string{"in lists", "in items"} {
		out = append(out, Case{
			Method: "twosided.TwoWay.Checks", Reason: reason,
			Make: func(string) any { return owned.Checks()[i] },
		})
	}
	return out
}

func twoWayReads() []Case {
	return []Case{
		{
			Method: "twosided.Side.Others", Reason: "by the index on the reference",
			Make: func(s string) any { return owned.Left.Others(s) },
		},
		{
			Method: "twosided.Side.Others", Reason: "an empty id of an owner is refused",
			Make: func(string) any { return owned.Left.Others("") },
		},
		{Method: "twosided.Side.Listed", Reason: "of an owner in hand", From: func(s string) ([]any, func() any) {
			p := &worker{ID: s, Tasks: roomy([]string{s, "t"})}
			return []any{p}, func() any { return owned.Left.Listed(p) }
		}},
		{
			Method: "twosided.Side.Listed", Reason: "of no owner is refused",
			Make: func(string) any { return owned.Left.Listed(nil) },
		},
		{
			Method: "twosided.Side.Others", Reason: "by the index on the list",
			Make: func(s string) any { return owned.Right.Others(s) },
		},
		{Method: "twosided.TwoWay.Indexes", Reason: "of both sides", Make: func(string) any { return owned.Indexes() }},
	}
}
