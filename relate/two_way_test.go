package relate_test

import (
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// relation is the documents of both sides: owners a, b and c where they aren't given, and item x.
func relation(item any, owners ...any) docs {
	return docs{"owners": append([]any{}, owners...), "items": {item}}
}

// lister is an owner by bare ids.
func lister(id string, items ...string) bareOwner { return bareOwner{ID: id, Items: items} }

// emptied is an owner whose list has become empty.
func emptied(id string) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "items", Value: bson.A{}}}
}

func TestTwoWayBareWrites(t *testing.T) {
	parallel(t)
	none := bson.NilObjectID
	free, ofA := &bareItem{ID: "x"}, &bareItem{ID: "x", Owner: "a"}
	started := relation(*ofA, lister("a", "y", "x"), lister("b"))
	runWriteCases(t, []writeCase{
		{reason: "a free item", before: relation(*free, lister("a", "y"), lister("b")), plan: bareWay.Assign(free, "a", none),
			after: started, status: model.Applied, again: model.Already},
		{reason: "an item whose owner is stored as empty", before: relation(bson.D{{Key: "_id", Value: "x"}, {Key: "owner", Value: ""}}, lister("a", "y"), lister("b")),
			plan: bareWay.Assign(free, "a", none), after: started, status: model.Applied, again: model.Already},
		{reason: "an item whose owner is stored as null", before: relation(bson.D{{Key: "_id", Value: "x"}, {Key: "owner", Value: nil}}, lister("a", "y"), lister("b")),
			plan: bareWay.Assign(free, "a", none), after: started, status: model.Applied, again: model.Already},
		{reason: "from one owner to another", before: started, plan: bareWay.Assign(ofA, "b", none),
			after: relation(bareItem{ID: "x", Owner: "b"}, lister("a", "y"), lister("b", "x")), status: model.Applied, again: model.Already},
		{reason: "to the owner that it has lists it, where that was missing", before: relation(*ofA, lister("a")), plan: bareWay.Assign(ofA, "a", none),
			after: relation(*ofA, lister("a", "x")), status: model.Applied, again: model.Applied},
		{reason: "read before another took it", before: relation(bareItem{ID: "x", Owner: "b"}, lister("a", "y"), lister("b", "x")), plan: bareWay.Assign(free, "a", none), err: model.ErrStale},
		{reason: "read before it was freed", before: relation(*free, lister("a"), lister("b", "y")), plan: bareWay.Assign(ofA, "b", none), err: model.ErrStale},
		{reason: "an item that is gone", before: docs{"owners": {lister("a", "y")}, "items": {}}, plan: bareWay.Assign(free, "a", none), err: model.ErrStale},
		{reason: "an owner that isn't there", before: relation(*ofA, lister("a", "x")), plan: bareWay.Assign(ofA, "z", none), err: model.ErrStale},
		{reason: "an item taken away", before: started, plan: bareWay.Unassign(ofA, none),
			after: relation(*free, lister("a", "y"), lister("b")), status: model.Applied, again: model.Already},
		{reason: "the last item taken away", before: relation(*ofA, lister("a", "x")), plan: bareWay.Unassign(ofA, none),
			after: relation(*free, emptied("a")), status: model.Applied, again: model.Already},
		{reason: "taken away, read before another took it", before: relation(bareItem{ID: "x", Owner: "b"}, lister("a"), lister("b", "x")), plan: bareWay.Unassign(ofA, none), err: model.ErrStale},
		{reason: "a token that bare ids don't keep", before: started, plan: bareWay.Assign(ofA, "b", token(1)), err: errRefused},
		{reason: "a token to take away", before: started, plan: bareWay.Unassign(ofA, token(1)), err: errRefused},
		{reason: "no item", before: started, plan: bareWay.Assign(nil, "b", none), err: errRefused},
		{reason: "no item to take away", before: started, plan: bareWay.Unassign(nil, none), err: errRefused},
		{reason: "an item without an id", before: started, plan: bareWay.Assign(&bareItem{}, "b", none), err: errRefused},
		{reason: "an empty owner", before: started, plan: bareWay.Assign(ofA, "", none), err: errRefused},
	})
}

func TestTwoWayBoundedWrites(t *testing.T) {
	parallel(t)
	none := bson.NilObjectID
	free, ofA := &bareItem{ID: "x"}, &bareItem{ID: "x", Owner: "a"}
	runWriteCases(t, []writeCase{
		{reason: "to the last place", before: relation(*free, lister("b", "y")), plan: boundedWay.Assign(free, "b", none),
			after: relation(bareItem{ID: "x", Owner: "b"}, lister("b", "y", "x")), status: model.Applied, again: model.Already},
		{reason: "a full list", before: relation(*free, lister("b", "y", "z")), plan: boundedWay.Assign(free, "b", none), err: errFull},
		{reason: "a full list, of an item that has an owner", before: relation(*ofA, lister("a", "x"), lister("b", "y", "z")), plan: boundedWay.Assign(ofA, "b", none), err: errFull},
		{reason: "a full list that lists it already", before: relation(*free, lister("b", "y", "x")), plan: boundedWay.Assign(free, "b", none),
			after: relation(bareItem{ID: "x", Owner: "b"}, lister("b", "y", "x")), status: model.Applied, again: model.Already},
		{reason: "an owner that isn't there", before: relation(*free), plan: boundedWay.Assign(free, "z", none), err: model.ErrStale},
		{reason: "stale: what was listed first is taken back", before: relation(bareItem{ID: "x", Owner: "b"}, lister("a", "y"), lister("b", "x")),
			plan: boundedWay.Assign(free, "a", none), err: model.ErrStale},
	})
}

func TestTwoWayVersionedWrites(t *testing.T) {
	parallel(t)
	link := func(id string, v int64, op int) relate.Link[string] {
		return relate.Link[string]{ID: id, V: v, Op: token(op)}
	}
	owner := func(id string, items ...relate.Link[string]) linkOwner { return linkOwner{id, items} }
	free, ofA := &linkItem{ID: "x"}, &linkItem{"x", link("a", 3, 9)}
	ended := linkItem{ID: "x", Owner: relate.Link[string]{V: 4, Op: token(1), Ended: true}}
	endedDoc := bson.D{{Key: "_id", Value: "x"}, {Key: "owner", Value: bson.D{{Key: "id", Value: nil}, {Key: "v", Value: int64(4)}, {Key: "op", Value: token(1)}, {Key: "ended", Value: true}}}}
	started := relation(*ofA, owner("a", link("x", 3, 9)), owner("b"))
	runWriteCases(t, []writeCase{
		{reason: "a free item", before: relation(*free, owner("a")), plan: linkWay.Assign(free, "a", token(1)),
			after: relation(linkItem{"x", link("a", 1, 1)}, owner("a", link("x", 1, 1))), status: model.Applied, again: model.Already},
		{reason: "an item that stores no link", before: relation(bson.D{{Key: "_id", Value: "x"}}, owner("a")), plan: linkWay.Assign(free, "a", token(1)),
			after: relation(linkItem{"x", link("a", 1, 1)}, owner("a", link("x", 1, 1))), status: model.Applied, again: model.Already},
		{reason: "from one owner to another", before: started, plan: linkWay.Assign(ofA, "b", token(1)),
			after: relation(linkItem{"x", link("b", 4, 1)}, emptied("a"), owner("b", link("x", 4, 1))), status: model.Applied, again: model.Applied},
		{reason: "an item that had an owner once", before: relation(endedDoc, owner("a")), plan: linkWay.Assign(&ended, "a", token(2)),
			after: relation(linkItem{"x", link("a", 5, 2)}, owner("a", link("x", 5, 2))), status: model.Applied, again: model.Already},
		{reason: "to the owner that it has: older links go", before: relation(*ofA, owner("a", link("x", 3, 9)), owner("b", link("x", 2, 8), link("y", 1, 7))),
			plan: linkWay.Assign(ofA, "a", token(1)), after: relation(*ofA, owner("a", link("x", 3, 9)), owner("b", link("y", 1, 7))), status: model.Applied, again: model.Applied},
		{reason: "a full list", before: relation(*free, owner("a", link("y", 1, 7), link("z", 1, 8))), plan: linkWay.Assign(free, "a", token(1)), err: errFull},
		{reason: "read before another took it", before: relation(linkItem{"x", link("b", 1, 5)}, owner("a", link("y", 1, 7)), owner("b", link("x", 1, 5))),
			plan: linkWay.Assign(free, "a", token(1)), err: model.ErrStale},
		{reason: "an owner that isn't there", before: relation(*free), plan: linkWay.Assign(free, "z", token(1)), err: model.ErrStale},
		{reason: "an item that is gone", before: docs{"owners": {owner("a", link("y", 1, 7))}, "items": {}}, plan: linkWay.Assign(free, "a", token(1)), err: model.ErrStale},
		{reason: "taken away", before: relation(*ofA, owner("a", link("x", 3, 9), link("y", 1, 7))), plan: linkWay.Unassign(ofA, token(1)),
			after: relation(endedDoc, owner("a", link("y", 1, 7))), status: model.Applied, again: model.Applied},
		{reason: "taken away, read before another took it", before: relation(linkItem{"x", link("b", 4, 5)}, owner("a"), owner("b", link("x", 4, 5))), plan: linkWay.Unassign(ofA, token(1)), err: model.ErrStale},
		{reason: "no token", before: started, plan: linkWay.Assign(ofA, "b", bson.NilObjectID), err: errRefused},
		{reason: "no token to take away", before: started, plan: linkWay.Unassign(ofA, bson.NilObjectID), err: errRefused},
		{reason: "no item", before: started, plan: linkWay.Assign(nil, "b", token(1)), err: errRefused},
	})
}

// An item that never had an owner has nothing to be taken away: nothing is sent. Of one that had an owner, by versioned links, what a
// process that died has left on lists is taken off.
func TestTwoWayUnassignFree(t *testing.T) {
	parallel(t)
	for reason, p := range map[string]model.Plan{
		"bare": bareWay.Unassign(&bareItem{ID: "x"}, bson.NilObjectID), "versioned": linkWay.Unassign(&linkItem{ID: "x"}, token(1)),
	} {
		if p.Cost().Commands != 0 || len(p.Steps) != 0 {
			t.Errorf("%s: %s", reason, p)
		}
	}
	link := func(v int64, op int) relate.Link[string] { return relate.Link[string]{ID: "x", V: v, Op: token(op)} }
	ended := linkItem{ID: "x", Owner: relate.Link[string]{V: 3, Op: token(3), Ended: true}}
	runWriteCases(t, []writeCase{{
		reason: "ended", before: relation(ended, linkOwner{"a", []relate.Link[string]{link(2, 2)}}, linkOwner{"b", []relate.Link[string]{link(4, 4)}}),
		plan:  linkWay.Unassign(&ended, token(5)),
		after: relation(ended, emptied("a"), linkOwner{"b", []relate.Link[string]{link(4, 4)}}), status: model.Applied, again: model.Applied,
	}})
}

func TestTwoWayReads(t *testing.T) {
	parallel(t)
	link := func(id string) relate.Link[string] { return relate.Link[string]{ID: id, V: 1, Op: token(1)} }
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		bareItemID := func(i bareItem) string { return i.ID }
		a := lister("a", "y", "x", "gone")
		seed(t, db, docs{"owners": {a, lister("b", "z", "x")}, "items": {bareItem{ID: "x", Owner: "a"}, bareItem{ID: "y", Owner: "a"}, bareItem{ID: "z", Owner: "b"}, bareItem{ID: "w"}}})
		wantIDs(t, idsOf(all(t, db, bareWay.ItemsOf("a")), bareItemID), []string{"x", "y"})
		wantIDs(t, idsOf(all(t, db, bareWay.Items(&a).Sorted(bson.D{{Key: "_id", Value: 1}})), bareItemID), []string{"x", "y"})
		wantIDs(t, idsOf(all(t, db, bareWay.OwnersListing("x").Sorted(bson.D{{Key: "_id", Value: 1}})), func(o bareOwner) string { return o.ID }), []string{"a", "b"})
		wantIDs(t, bareWay.Listed(&a), []string{"y", "x", "gone"})
		if got := all(t, db, bareWay.Items(&bareOwner{ID: "c"})); len(got) != 0 {
			t.Errorf("an owner without a list has items %v", got)
		}

		// With links, an item that names another owner is none of the list's.
		l := linkOwner{"a", []relate.Link[string]{link("y"), link("x")}}
		seed(t, db, docs{"owners": {l}, "items": {linkItem{"x", link("a")}, linkItem{"y", link("b")}}})
		wantIDs(t, idsOf(all(t, db, linkWay.Items(&l)), func(i linkItem) string { return i.ID }), []string{"x"})
		wantIDs(t, idsOf(all(t, db, linkWay.ItemsOf("a")), func(i linkItem) string { return i.ID }), []string{"x"})
		wantIDs(t, idsOf(all(t, db, linkWay.OwnersListing("y")), func(o linkOwner) string { return o.ID }), []string{"a"})
		wantIDs(t, linkWay.Listed(&l), []string{"y", "x"})
	})
	for reason, err := range map[string]error{
		"items of an empty id": bareWay.ItemsOf("").Err, "items of no owner": bareWay.Items(nil).Err, "links of no owner": linkWay.Items(nil).Err,
		"owners that list an empty id": bareWay.OwnersListing("").Err,
	} {
		t.Run(reason, func(t *testing.T) { wantError(t, err, errRefused) })
	}
	if bareWay.Listed(nil) != nil || linkWay.Listed(nil) != nil {
		t.Error("no owner lists something")
	}
	if id, ok := bareWay.Owner(nil); ok {
		t.Errorf("no item has the owner %q", id)
	}
	if id, ok := bareWay.Owner(&bareItem{ID: "x", Owner: "a"}); id != "a" || !ok {
		t.Errorf("owner %q, %v", id, ok)
	}
	if _, ok := linkWay.Owner(&linkItem{ID: "x", Owner: relate.Link[string]{ID: "a", V: 1, Ended: true}}); ok {
		t.Error("an ended link holds an owner")
	}
}

// Every kind of half-link is found, from its side; one repair mends them all, whichever side is trusted.
func TestTwoWayRepair(t *testing.T) {
	parallel(t)
	half := docs{
		"owners": {lister("a", "ok", "lost", "free", "taken", "both"), lister("b", "both", "moved"), lister("c")},
		"items": {
			bareItem{ID: "ok", Owner: "a"},    // both sides
			bareItem{ID: "free"},              // a lists it, it names nobody
			bareItem{ID: "taken", Owner: "c"}, // a lists it, it names c, which doesn't
			bareItem{ID: "both", Owner: "b"},  // a lists it too
			bareItem{ID: "moved", Owner: "b"},
			bareItem{ID: "alone", Owner: "c"}, // nobody lists it
			bareItem{ID: "orphan", Owner: "z"},
			bson.D{{Key: "_id", Value: "empty"}, {Key: "owner", Value: ""}},
			bson.D{{Key: "_id", Value: "null"}, {Key: "owner", Value: nil}},
		},
	}
	kept := []any{bareItem{ID: "both", Owner: "b"}, bareItem{ID: "moved", Owner: "b"}, bareItem{ID: "ok", Owner: "a"}, half["items"][7], half["items"][8]}
	for _, c := range []struct {
		trust relate.Side
		after docs
	}{
		{relate.TrustRefs, docs{
			"owners": {lister("a", "ok"), lister("b", "both", "moved"), lister("c", "alone", "taken")},
			"items":  append([]any{bareItem{ID: "free"}, bareItem{ID: "taken", Owner: "c"}, bareItem{ID: "alone", Owner: "c"}, bareItem{ID: "orphan"}}, kept...),
		}},
		{relate.TrustLists, docs{
			"owners": {lister("a", "ok", "free", "taken"), lister("b", "both", "moved"), lister("c")},
			"items":  append([]any{bareItem{ID: "free", Owner: "a"}, bareItem{ID: "taken", Owner: "a"}, bareItem{ID: "alone"}, bareItem{ID: "orphan"}}, kept...),
		}},
	} {
		t.Run(fmt.Sprint("trust ", c.trust), func(t *testing.T) {
			modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
				seed(t, db, half)
				checks := trusting(c.trust).Checks()
				lists, refs := details[halfLink](t, all(t, db, checks[0])), details[halfLink](t, all(t, db, checks[1]))
				if diff := modeltest.Diff([]halfLink{
					{List: true, A: "a", B: "both", Names: []string{"b"}, Kept: true}, {List: true, A: "a", B: "free", Names: []string{}},
					{List: true, A: "a", B: "lost", Gone: true, Names: []string{}}, {List: true, A: "a", B: "taken", Names: []string{"c"}},
				}, lists); diff != "" {
					t.Errorf("%s:\n%s", checks[0].Name, diff)
				}
				if diff := modeltest.Diff([]halfLink{{A: "c", B: "alone"}, {A: "c", B: "taken"}, {A: "z", B: "orphan", Gone: true}}, refs); diff != "" {
					t.Errorf("%s:\n%s", checks[1].Name, diff)
				}
				said := fmt.Sprint(allFound(t, db, checks))
				if want := "[owners 'a': links to 'both', which names 'b' owners 'a': links to 'free', which doesn't link back " +
					"owners 'a': links to 'lost', which is gone owners 'a': links to 'taken', which names 'c' " +
					"items 'alone': links to 'c', which doesn't link back items 'taken': links to 'c', which doesn't link back " +
					"items 'orphan': links to 'z', which is gone]"; said != want {
					t.Errorf("found %s\nwant %s", said, want)
				}
				if planned, err := mendAll(t.Context(), db, checks); err != nil || planned < 6 { // what mends a list may mend a reference
					t.Fatalf("planned %d, %v", planned, err)
				}
				wantNothingFound(t, db, checks)
				wantDocs(t, db, c.after)
				if planned, err := mendAll(t.Context(), db, checks); err != nil || planned != 0 {
					t.Errorf("again: %v, %v", planned, err)
				}
				seed(t, db, half)
				plan := model.Concat(checks[0].Mend(all(t, db, checks[0])), checks[1].Mend(all(t, db, checks[1]))) // both looked first
				if _, err := plan.Run(t.Context(), db); err != nil || len(plan.Steps) != 7 {
					t.Errorf("%d steps, %v", len(plan.Steps), err)
				}
				wantDocs(t, db, c.after)
			})
		})
	}
}

// An item on two lists that names neither goes to the first; what has changed since the check is left alone.
func TestTwoWayRepairGuards(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, relation(bareItem{ID: "x"}, lister("a", "x"), lister("b", "x")))
		checks := trusting(relate.TrustLists).Checks()
		if _, err := mendAll(t.Context(), db, checks); err != nil {
			t.Fatal(err)
		}
		wantDocs(t, db, relation(bareItem{ID: "x", Owner: "a"}, lister("a", "x"), emptied("b")))

		seed(t, db, relation(bareItem{ID: "x"}, lister("a", "x"), lister("b")))
		found := all(t, db, checks[0])
		seed(t, db, relation(bareItem{ID: "x", Owner: "b"}, lister("a", "x"), lister("b", "x")))
		if _, err := checks[0].Mend(found).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		wantDocs(t, db, relation(bareItem{ID: "x", Owner: "b"}, lister("a", "x"), lister("b", "x")))
	})
	wantRefusedFindings(t, bareWay.Checks()[0])
}

// trusting is the relation of bare ids whose checks believe a side.
func trusting(side relate.Side) *relate.TwoWay[bareOwner, string, bareItem, string] {
	return relate.NewTwoWay(bareOwners, "items", bareItems, "owner", relate.TwoWaySpec{Trust: side})
}

func TestTwoWayChecks(t *testing.T) {
	parallel(t)
	link := func(op int) []relate.Link[string] { return []relate.Link[string]{{ID: "x", V: 1, Op: token(op)}} }
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) { // two operations that have not decided: one does, one is over
		seed(t, db, relation(linkItem{ID: "x"}, linkOwner{"a", link(1)}, linkOwner{"b", link(2)}))
		if planned, err := mendAll(t.Context(), db, linkWay.Checks()); err != nil || planned != 2+1 {
			t.Errorf("planned %d, %v", planned, err)
		}
		wantNothingFound(t, db, linkWay.Checks())
		wantDocs(t, db, relation(linkItem{"x", relate.Link[string]{ID: "a", V: 1, Op: token(1)}}, linkOwner{"a", link(1)}, emptied("b")))

		seed(t, db, docs{ // and two of different items, in one batch
			"owners": {linkOwner{"a", append(link(1), relate.Link[string]{ID: "y", V: 1, Op: token(2)})}}, "items": {linkItem{ID: "x"}, linkItem{ID: "y"}},
		})
		if planned, err := mendAll(t.Context(), db, linkWay.Checks()); err != nil || planned != 2*2 {
			t.Errorf("planned %d, %v", planned, err)
		}
		wantNothingFound(t, db, linkWay.Checks())
	})
	wantNames(t, bareWay.Checks(), "owners.items: links that items.owner lacks", "items.owner: links that owners.items lacks")
	wantNames(t, linkWay.Checks(), "owners.items: links that are not decided", "owners.items: links that items.owner lacks", "items.owner: links that owners.items lacks")
}

// Of versioned links the item decides: links of other versions go, missing ones come, and those to what is gone end.
func TestTwoWayRepairVersioned(t *testing.T) {
	parallel(t)
	link := func(id string, v int64, op int) relate.Link[string] {
		return relate.Link[string]{ID: id, V: v, Op: token(op)}
	}
	ended := func(id string, v int64, op int) bson.D {
		return bson.D{{Key: "_id", Value: id}, {Key: "owner", Value: bson.D{{Key: "id", Value: nil}, {Key: "v", Value: v}, {Key: "op", Value: token(op)}, {Key: "ended", Value: true}}}}
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, docs{
			"owners": {linkOwner{"a", []relate.Link[string]{link("x", 2, 2), link("x", 1, 1), link("gone", 1, 5), link("off", 1, 6)}}, linkOwner{ID: "b"}},
			"items":  {linkItem{"x", link("a", 2, 2)}, linkItem{"y", link("b", 3, 3)}, linkItem{"z", link("nowhere", 1, 4)}, ended("off", 2, 7)},
		})
		if planned, err := mendAll(t.Context(), db, linkWay.Checks()); err != nil || planned != 5 {
			t.Fatalf("planned %d, %v", planned, err)
		}
		wantNoHalfLinks(t, db, linkWay)
		wantDocs(t, db, docs{
			"owners": {linkOwner{"a", []relate.Link[string]{link("x", 2, 2)}}, linkOwner{"b", []relate.Link[string]{link("y", 3, 3)}}},
			"items":  {linkItem{"x", link("a", 2, 2)}, linkItem{"y", link("b", 3, 3)}, ended("z", 2, 4), ended("off", 2, 7)},
		})
	})
}

// Owners whose id is an ObjectID: an item that stores the zero one has no owner.
func TestTwoWayZeroObjectID(t *testing.T) {
	parallel(t)
	owners, items := model.NewCollection[bson.D, bson.ObjectID]("owners"), model.NewCollection[bson.D, string]("items")
	way := relate.NewTwoWay(owners, "items", items, "owner")
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		zero := bson.D{{Key: "_id", Value: "x"}, {Key: "owner", Value: bson.NilObjectID}}
		seed(t, db, docs{"owners": {bson.D{{Key: "_id", Value: oid(1)}}}, "items": {zero}})
		if refs := all(t, db, way.Checks()[1]); len(refs) != 0 {
			t.Errorf("the zero id is taken for an owner: %v", refs)
		}
		if _, err := way.Assign(&zero, oid(1), bson.NilObjectID).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		wantDocs(t, db, docs{"items": {bson.D{{Key: "_id", Value: "x"}, {Key: "owner", Value: oid(1)}}}})
	})
}

// Ids that look like commands stay data.
func TestTwoWayHostileIDs(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, id := range []string{"$where", "a.b", "^.*", "$$ROOT", "{$ne: null}", "é\x00"} {
			item := bareItem{ID: id}
			seed(t, db, docs{"owners": {lister(id), lister("a", "y")}, "items": {item, bareItem{ID: "y", Owner: "a"}}})
			if _, err := bareWay.Assign(&item, id, bson.NilObjectID).Run(t.Context(), db); err != nil {
				t.Fatal(id, err)
			}
			wantNoHalfLinks(t, db, bareWay)
			wantDocs(t, db, docs{"owners": {lister(id, id), lister("a", "y")}, "items": {bareItem{ID: id, Owner: id}, bareItem{ID: "y", Owner: "a"}}})
		}
	})
}

func TestTwoWayCosts(t *testing.T) {
	parallel(t)
	none := bson.NilObjectID
	ofA := bareItem{ID: "x", Owner: "a"}
	before := docs{"owners": {lister("a", "x"), lister("b")}, "items": {ofA, bareItem{ID: "y"}}}
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []costCase{
			costOf("Assign a free item", bareWay.Assign(&bareItem{ID: "y"}, "b", none), 2, 2),
			costOf("Assign from another", bareWay.Assign(&ofA, "b", none), 3, 3),
			costOf("Assign within a bound", boundedWay.Assign(&ofA, "b", none), 3, 3),
			costOf("Unassign", bareWay.Unassign(&ofA, none), 2, 2),
			readOf("ItemsOf", bareWay.ItemsOf("a"), 1),
			readOf("Items", bareWay.Items(&bareOwner{ID: "a", Items: []string{"x"}}), 1),
			readOf("OwnersListing", bareWay.OwnersListing("x"), 1),
			readOf("Checks, of lists", bareWay.Checks()[0].Find(), 0),
			readOf("Checks, of references", bareWay.Checks()[1].Find(), 0),
		} {
			t.Run(c.reason, func(t *testing.T) { c.check(t, m, db, before) })
		}
		link := relate.Link[string]{ID: "a", V: 1, Op: token(9)}
		linked := docs{"owners": {linkOwner{"a", []relate.Link[string]{{ID: "x", V: 1, Op: token(9)}}}, linkOwner{ID: "b"}}, "items": {linkItem{"x", link}, linkItem{ID: "y"}}}
		for _, c := range []costCase{
			costOf("Assign a free item by links", linkWay.Assign(&linkItem{ID: "y"}, "b", token(1)), 2, 2),
			costOf("Assign by links", linkWay.Assign(&linkItem{"x", link}, "b", token(1)), 3, 3),
			costOf("Assign to the same by links", linkWay.Assign(&linkItem{"x", link}, "a", token(1)), 1, 0),
			costOf("Unassign by links", linkWay.Unassign(&linkItem{"x", link}, token(1)), 2, 2),
		} {
			t.Run(c.reason, func(t *testing.T) { c.check(t, m, db, linked) })
		}
	}, modeltest.WithMonitor(m))
}
