package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Workers list their tasks and tasks name their owner, by bare ids and by versioned links.
type (
	worker       = bareEnd
	task         = bareEnd
	linkedWorker = linkList
	linkedTask   struct {
		ID    string              `bson:"_id"`
		Owner relate.Link[string] `bson:"owner"`
	}
)

var (
	workers       = model.NewCollection[worker, string]("workers")
	tasks         = model.NewCollection[task, string]("tasks")
	linkedWorkers = model.NewCollection[linkedWorker, string]("workers")
	linkedTasks   = model.NewCollection[linkedTask, string]("tasks")

	owned       = relate.NewTwoWay(workers, "tasks", tasks, "owner", relate.TwoWaySpec{})
	ownedFew    = relate.NewTwoWay(workers, "tasks", tasks, "owner", relate.TwoWaySpec{Max: 3})
	ownedListed = relate.NewTwoWay(workers, "tasks", tasks, "owner", relate.TwoWaySpec{TrustLists: true})
	linkedOwned = relate.NewTwoWay(linkedWorkers, "tasks", linkedTasks, "owner", relate.TwoWaySpec{Max: 3})
)

func init() {
	register(twoWayAssigns()...)
	register(twoWayChecks()...)
	register(twoWayReads()...)
}

// linked is a task that an owner holds, as it was read; without an owner it never had one.
func linked(id, owner string) *linkedTask {
	if owner == "" {
		return &linkedTask{ID: id}
	}
	return &linkedTask{ID: id, Owner: relate.Link[string]{ID: owner, V: 4, Op: oid(4)}}
}

func twoWayAssigns() []Case {
	none := bson.NilObjectID
	bare := func(way *relate.TwoWay[worker, string, task, string], was string) func(s string) ([]any, func() any) {
		return func(s string) ([]any, func() any) {
			item := &task{ID: s, Owner: was}
			return []any{item}, func() any { return way.Assign(item, s, none) }
		}
	}
	versioned := func(was string) func(s string) ([]any, func() any) {
		return func(s string) ([]any, func() any) {
			item := linked(s, was)
			return []any{item}, func() any { return linkedOwned.Assign(item, s, oid(5)) }
		}
	}
	return []Case{
		{Method: "relate.TwoWay.Assign", Reason: "a first owner: the list, then the item", From: bare(owned, "")},
		{Method: "relate.TwoWay.Assign", Reason: "another owner: the old list in between", From: bare(owned, "ann")},
		{Method: "relate.TwoWay.Assign", Reason: "a bound: only a list that has room", From: bare(ownedFew, "ann")},
		{Method: "relate.TwoWay.Assign", Reason: "the owner that it has, by bare ids", Make: func(s string) any { return owned.Assign(&task{ID: "t", Owner: s}, s, none) }},
		{Method: "relate.TwoWay.Assign", Reason: "a first owner by a link: the list first, the item decides", From: versioned("")},
		{Method: "relate.TwoWay.Assign", Reason: "another owner by a link: off the old list up to the version read", From: versioned("ann")},
		{Method: "relate.TwoWay.Assign", Reason: "the owner that it has: older links are swept off every list", Make: func(s string) any { return linkedOwned.Assign(linked(s, s), s, oid(5)) }},
		{Method: "relate.TwoWay.Assign", Reason: "to an empty id is refused", Make: func(s string) any { return owned.Assign(&task{ID: s}, "", none) }},
		{Method: "relate.TwoWay.Assign", Reason: "a link without a token is refused", Make: func(s string) any { return linkedOwned.Assign(linked(s, ""), s, none) }},
		{Method: "relate.TwoWay.Assign", Reason: "bare ids with a token are refused", Make: func(s string) any { return owned.Assign(&task{ID: s}, s, oid(5)) }},
		{Method: "relate.TwoWay.Unassign", Reason: "the list, then the reference", From: func(s string) ([]any, func() any) {
			item := &task{ID: s, Owner: s}
			return []any{item}, func() any { return owned.Unassign(item, none) }
		}},
		{Method: "relate.TwoWay.Unassign", Reason: "a link ends, and its version counts on", From: func(s string) ([]any, func() any) {
			item := linked(s, s)
			return []any{item}, func() any { return linkedOwned.Unassign(item, oid(5)) }
		}},
		{Method: "relate.TwoWay.Unassign", Reason: "an item without an owner: nothing", Make: func(s string) any { return owned.Unassign(&task{ID: s}, none) }},
		{Method: "relate.TwoWay.Unassign", Reason: "a link that has ended: older links are swept off every list", Make: func(s string) any {
			return linkedOwned.Unassign(&linkedTask{ID: s, Owner: relate.Link[string]{V: 4, Op: oid(4), Ended: true}}, oid(4))
		}},
		{Method: "relate.TwoWay.Unassign", Reason: "of no item is refused", Make: func(string) any { return owned.Unassign(nil, none) }},
	}
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
		return mendsHalves(reason, "relate.TwoWay.Checks", check, details)
	}
	names := func(s string) bson.A { return bson.A{s} }
	lists, refs := owned.Checks()[0], owned.Checks()[1]
	listsTrusted, refsTrusted := ownedListed.Checks()[0], ownedListed.Checks()[1]
	undecided, linkedLists, linkedRefs := linkedOwned.Checks()[0], linkedOwned.Checks()[1], linkedOwned.Checks()[2]
	out := []Case{
		mends("the items are believed: off the list", lists, func(s string) []any { return list{bson.M{"list": true, "a": "ann", "b": s}} }),
		mends("the items are believed: onto the list", refs, func(s string) []any { return list{bson.M{"a": s, "b": "t"}} }),
		mends("the lists are believed: the item is given", listsTrusted, func(s string) []any { return list{bson.M{"list": true, "a": "ann", "b": s}} }),
		mends("the lists are believed: the item is freed", refsTrusted, func(s string) []any { return list{bson.M{"a": s, "b": "t"}} }),
		mends("what leads nowhere goes, and of two lists one keeps the item", listsTrusted, func(s string) []any {
			return list{
				bson.M{"list": true, "a": "ann", "b": s, "gone": true}, bson.M{"list": true, "a": "ann", "b": "t", "names": names(s), "kept": true},
				bson.M{"list": true, "a": s, "b": "u", "names": names(s)}, bson.M{"list": true, "a": "bob", "b": "u", "names": names(s)},
			}
		}),
		mends("an owner that is gone", refsTrusted, func(s string) []any { return list{bson.M{"a": s, "b": "t", "gone": true}} }),
		mends("a link to an owner that is gone is ended", linkedRefs, func(s string) []any {
			return list{bson.M{"a": s, "b": s, "v": 4, "op": oid(4), "now": 4, "gone": true}}
		}),
		mends("links: one off, by its version", linkedLists, func(s string) []any {
			return list{bson.M{"list": true, "a": "ann", "b": s, "v": 3, "op": oid(3), "now": 4}}
		}),
		mends("links: one added, by its version", linkedRefs, func(s string) []any { return list{bson.M{"a": s, "b": "t", "v": 4, "op": oid(4), "now": 4}} }),
		mends("a link that is not decided yet: the item takes it", undecided, func(s string) []any {
			return list{bson.M{"list": true, "a": s, "b": s, "v": 5, "op": oid(5), "now": 4}}
		}),
		mends("a finding without an id is refused", lists, func(s string) []any { return list{bson.M{"list": true, "a": s}} }),
	}
	for i, reason := range []string{"bare ids, in lists", "bare ids, in items"} {
		out = append(out, Case{Method: "relate.TwoWay.Checks", Reason: reason, Make: func(string) any { return owned.Checks()[i] }})
	}
	for i, reason := range []string{"links that are not decided", "links, in lists", "links, in items"} {
		out = append(out, Case{Method: "relate.TwoWay.Checks", Reason: reason, Make: func(string) any { return linkedOwned.Checks()[i] }})
	}
	return out
}

func twoWayReads() []Case {
	return []Case{
		{Method: "relate.Side.Others", Reason: "by the index on the reference", Make: func(s string) any { return owned.Left().Others(s) }},
		{Method: "relate.Side.Others", Reason: "by the id of the link", Make: func(s string) any { return linkedOwned.Left().Others(s) }},
		{Method: "relate.Side.Others", Reason: "an empty id of an owner is refused", Make: func(string) any { return owned.Left().Others("") }},
		{Method: "relate.Side.Listed", Reason: "of an owner in hand", From: func(s string) ([]any, func() any) {
			p := &worker{ID: s, Tasks: roomy([]string{s, "t"})}
			return []any{p}, func() any { return owned.Left().Listed(p) }
		}},
		{Method: "relate.Side.Listed", Reason: "links that the item bears out", From: func(s string) ([]any, func() any) {
			p := &linkedWorker{ID: s, Tasks: roomy([]relate.Link[string]{{ID: s, V: 1, Op: oid(1)}})}
			return []any{p}, func() any { return linkedOwned.Left().Listed(p) }
		}},
		{Method: "relate.Side.Listed", Reason: "of no owner is refused", Make: func(string) any { return owned.Left().Listed(nil) }},
		{Method: "relate.Side.Others", Reason: "by the index on the list", Make: func(s string) any { return owned.Right().Others(s) }},
		{Method: "relate.Side.Others", Reason: "by the ids of the listed links", Make: func(s string) any { return linkedOwned.Right().Others(s) }},
		{Method: "relate.TwoWay.Indexes", Reason: "bare ids", Make: func(string) any { return owned.Indexes() }},
		{Method: "relate.TwoWay.Indexes", Reason: "links", Make: func(string) any { return linkedOwned.Indexes() }},
	}
}
