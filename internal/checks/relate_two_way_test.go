package checks

import (
	"time"

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

	owned       = relate.NewTwoWay(workers, "tasks", tasks, "owner")
	ownedFew    = relate.NewTwoWay(workers, "tasks", tasks, "owner", relate.TwoWaySpec{Max: 3})
	linkedOwned = relate.NewTwoWay(linkedWorkers, "tasks", linkedTasks, "owner", relate.TwoWaySpec{Max: 3})
)

func init() {
	register(twoWayAssigns()...)
	register(twoWayRepairs()...)
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

// halves is a half-link of each direction.
func halves(s string) []relate.HalfLink[string, string] {
	return []relate.HalfLink[string, string]{
		{List: true, A: "ann", B: s, V: 3, Op: oid(3), Now: 4},
		{A: s, B: "t", V: 4, Op: oid(4), Now: 4},
	}
}

func bareHalves(s string) []relate.HalfLink[string, string] {
	return []relate.HalfLink[string, string]{{List: true, A: "ann", B: s}, {A: s, B: "t"}}
}

func twoWayRepairs() []Case {
	return []Case{
		{Method: "relate.TwoWay.Repair", Reason: "the items are believed", From: func(s string) ([]any, func() any) {
			found := roomy(bareHalves(s))
			return []any{found}, func() any { return owned.Repair(found, relate.TrustRefs) }
		}},
		{Method: "relate.TwoWay.Repair", Reason: "the lists are believed", Make: func(s string) any { return owned.Repair(bareHalves(s), relate.TrustLists) }},
		{Method: "relate.TwoWay.Repair", Reason: "what leads nowhere goes, and of two lists one keeps the item", From: func(s string) ([]any, func() any) {
			names := roomy([]string{s})
			found := roomy([]relate.HalfLink[string, string]{
				{List: true, A: "ann", B: s, Gone: true}, {A: s, B: "t", Gone: true}, {List: true, A: "ann", B: "t", Names: names, Kept: true},
				{List: true, A: s, B: "u", Names: names}, {List: true, A: "bob", B: "u", Names: names},
			})
			return []any{found, names}, func() any { return owned.Repair(found, relate.TrustLists) }
		}},
		{Method: "relate.TwoWay.Repair", Reason: "a link to an owner that is gone is ended", Make: func(s string) any {
			return linkedOwned.Repair([]relate.HalfLink[string, string]{{A: s, B: s, V: 4, Op: oid(4), Gone: true}}, relate.TrustRefs)
		}},
		{Method: "relate.TwoWay.Repair", Reason: "links: one off, one added, each by its version", From: func(s string) ([]any, func() any) {
			found := roomy(halves(s))
			return []any{found}, func() any { return linkedOwned.Repair(found, relate.TrustRefs) }
		}},
		{Method: "relate.TwoWay.Repair", Reason: "a link that is not decided yet: the item takes it", Make: func(s string) any {
			return linkedOwned.Repair([]relate.HalfLink[string, string]{{List: true, A: s, B: s, V: 5, Op: oid(5), Now: 4}}, relate.TrustRefs)
		}},
		{Method: "relate.TwoWay.Repair", Reason: "links decide by the item: the lists are not believed", Make: func(s string) any { return linkedOwned.Repair(halves(s), relate.TrustLists) }},
		{Method: "relate.TwoWay.Mend", Reason: "what both checks found", State: func(s string) any { return bareHalves(s) },
			Make: func(string) any { return owned.Mend(relate.TrustRefs, time.Minute) }},
		{Method: "relate.TwoWay.Mend", Reason: "links by their age", State: func(s string) any { return halves(s) },
			Make: func(string) any { return linkedOwned.Mend(relate.TrustRefs, time.Minute) }},
		{Method: "relate.TwoWay.CheckLists", Reason: "bare ids", Make: func(string) any { return owned.CheckLists() }},
		{Method: "relate.TwoWay.CheckLists", Reason: "links", Make: func(string) any { return linkedOwned.CheckLists() }},
		{Method: "relate.TwoWay.CheckRefs", Reason: "bare ids", Make: func(string) any { return owned.CheckRefs() }},
		{Method: "relate.TwoWay.CheckRefs", Reason: "links", Make: func(string) any { return linkedOwned.CheckRefs() }},
	}
}

func twoWayReads() []Case {
	return []Case{
		{Method: "relate.TwoWay.ItemsOf", Reason: "by the index on the reference", Make: func(s string) any { return owned.ItemsOf(s) }},
		{Method: "relate.TwoWay.ItemsOf", Reason: "by the id of the link", Make: func(s string) any { return linkedOwned.ItemsOf(s) }},
		{Method: "relate.TwoWay.ItemsOf", Reason: "an empty id is refused", Make: func(string) any { return owned.ItemsOf("") }},
		{Method: "relate.TwoWay.Items", Reason: "of an owner in hand", From: func(s string) ([]any, func() any) {
			p := &worker{ID: s, Tasks: roomy([]string{s, "t"})}
			return []any{p}, func() any { return owned.Items(p) }
		}},
		{Method: "relate.TwoWay.Items", Reason: "links that the item bears out", From: func(s string) ([]any, func() any) {
			p := &linkedWorker{ID: s, Tasks: roomy([]relate.Link[string]{{ID: s, V: 1, Op: oid(1)}})}
			return []any{p}, func() any { return linkedOwned.Items(p) }
		}},
		{Method: "relate.TwoWay.Items", Reason: "of no owner is refused", Make: func(string) any { return owned.Items(nil) }},
		{Method: "relate.TwoWay.OwnersListing", Reason: "by the index on the list", Make: func(s string) any { return owned.OwnersListing(s) }},
		{Method: "relate.TwoWay.OwnersListing", Reason: "by the ids of the links", Make: func(s string) any { return linkedOwned.OwnersListing(s) }},
		{Method: "relate.TwoWay.Indexes", Reason: "bare ids", Make: func(string) any { return owned.Indexes() }},
		{Method: "relate.TwoWay.Indexes", Reason: "links", Make: func(string) any { return linkedOwned.Indexes() }},
	}
}
