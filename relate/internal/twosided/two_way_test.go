package twosided_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// relation is the documents of both sides: owners a, b and c where they aren't given, and item x.
func relation(item any, owners ...any) testkit.Docs {
	return testkit.Docs{"owners": append([]any{}, owners...), "items": {item}}
}

// lister is an owner by bare ids.
func lister(id string, items ...string) bareOwner { return bareOwner{ID: id, Items: items} }

// emptied is an owner whose list has become empty.
func emptied(id string) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "items", Value: bson.A{}}}
}

func TestTwoWayBareWrites(t *testing.T) {
	testkit.Parallel(t)
	none := bson.NilObjectID
	free, ofA := &bareItem{ID: "x"}, &bareItem{ID: "x", Owner: "a"}
	started := relation(*ofA, lister("a", "y", "x"), lister("b"))
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{Reason: "a free item", Before: relation(*free, lister("a", "y"), lister("b")), Plan: bareWay.Assign(free, "a", none),
			After: started, Status: model.Applied, Again: model.Already},
		{Reason: "an item whose owner is stored as empty", Before: relation(bson.D{{Key: "_id", Value: "x"}, {Key: "owner", Value: ""}}, lister("a", "y"), lister("b")),
			Plan: bareWay.Assign(free, "a", none), After: started, Status: model.Applied, Again: model.Already},
		{Reason: "an item whose owner is stored as null", Before: relation(bson.D{{Key: "_id", Value: "x"}, {Key: "owner", Value: nil}}, lister("a", "y"), lister("b")),
			Plan: bareWay.Assign(free, "a", none), After: started, Status: model.Applied, Again: model.Already},
		{Reason: "from one owner to another", Before: started, Plan: bareWay.Assign(ofA, "b", none),
			After: relation(bareItem{ID: "x", Owner: "b"}, lister("a", "y"), lister("b", "x")), Status: model.Applied, Again: model.Already},
		{Reason: "to the owner that it has lists it, where that was missing", Before: relation(*ofA, lister("a")), Plan: bareWay.Assign(ofA, "a", none),
			After: relation(*ofA, lister("a", "x")), Status: model.Applied, Again: model.Applied},
		{Reason: "read before another took it", Before: relation(bareItem{ID: "x", Owner: "b"}, lister("a", "y"), lister("b", "x")), Plan: bareWay.Assign(free, "a", none), Err: model.ErrStale},
		{Reason: "read before it was freed", Before: relation(*free, lister("a"), lister("b", "y")), Plan: bareWay.Assign(ofA, "b", none), Err: model.ErrStale},
		{Reason: "an item that is gone", Before: testkit.Docs{"owners": {lister("a", "y")}, "items": {}}, Plan: bareWay.Assign(free, "a", none), Err: model.ErrNotFound},
		{Reason: "an owner that isn't there", Before: relation(*ofA, lister("a", "x")), Plan: bareWay.Assign(ofA, "z", none), Err: model.ErrNotFound},
		{Reason: "an item taken away", Before: started, Plan: bareWay.Unassign(ofA, none),
			After: relation(*free, lister("a", "y"), lister("b")), Status: model.Applied, Again: model.Already},
		{Reason: "the last item taken away", Before: relation(*ofA, lister("a", "x")), Plan: bareWay.Unassign(ofA, none),
			After: relation(*free, emptied("a")), Status: model.Applied, Again: model.Already},
		{Reason: "taken away, read before another took it", Before: relation(bareItem{ID: "x", Owner: "b"}, lister("a"), lister("b", "x")), Plan: bareWay.Unassign(ofA, none), Err: model.ErrStale},
		{Reason: "a token that bare ids don't keep", Before: started, Plan: bareWay.Assign(ofA, "b", testkit.Token(1)), Err: testkit.ErrRefused},
		{Reason: "a token to take away", Before: started, Plan: bareWay.Unassign(ofA, testkit.Token(1)), Err: testkit.ErrRefused},
		{Reason: "no item", Before: started, Plan: bareWay.Assign(nil, "b", none), Err: testkit.ErrRefused},
		{Reason: "no item to take away", Before: started, Plan: bareWay.Unassign(nil, none), Err: testkit.ErrRefused},
		{Reason: "an item without an id", Before: started, Plan: bareWay.Assign(&bareItem{}, "b", none), Err: testkit.ErrRefused},
		{Reason: "an empty owner", Before: started, Plan: bareWay.Assign(ofA, "", none), Err: testkit.ErrRefused},
	})
}

func TestTwoWayBoundedWrites(t *testing.T) {
	testkit.Parallel(t)
	none := bson.NilObjectID
	free, ofA := &bareItem{ID: "x"}, &bareItem{ID: "x", Owner: "a"}
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{Reason: "to the last place", Before: relation(*free, lister("b", "y")), Plan: boundedWay.Assign(free, "b", none),
			After: relation(bareItem{ID: "x", Owner: "b"}, lister("b", "y", "x")), Status: model.Applied, Again: model.Already},
		{Reason: "a full list", Before: relation(*free, lister("b", "y", "z")), Plan: boundedWay.Assign(free, "b", none), Err: model.ErrFull},
		{Reason: "a full list, of an item that has an owner", Before: relation(*ofA, lister("a", "x"), lister("b", "y", "z")), Plan: boundedWay.Assign(ofA, "b", none), Err: model.ErrFull},
		{Reason: "a full list that lists it already", Before: relation(*free, lister("b", "y", "x")), Plan: boundedWay.Assign(free, "b", none),
			After: relation(bareItem{ID: "x", Owner: "b"}, lister("b", "y", "x")), Status: model.Applied, Again: model.Already},
		{Reason: "an owner that isn't there", Before: relation(*free), Plan: boundedWay.Assign(free, "z", none), Err: model.ErrNotFound},
		{Reason: "stale: what was listed first is taken back", Before: relation(bareItem{ID: "x", Owner: "b"}, lister("a", "y"), lister("b", "x")),
			Plan: boundedWay.Assign(free, "a", none), Err: model.ErrStale},
	})
}

func TestTwoWayVersionedWrites(t *testing.T) {
	testkit.Parallel(t)
	link := func(id string, v int64, op int) relate.Link[string] {
		return relate.Link[string]{ID: id, V: v, Op: testkit.Token(op)}
	}
	owner := func(id string, items ...relate.Link[string]) linkOwner { return linkOwner{id, items} }
	free, ofA := &linkItem{ID: "x"}, &linkItem{"x", link("a", 3, 9)}
	ended := linkItem{ID: "x", Owner: relate.Link[string]{V: 4, Op: testkit.Token(1), Ended: true}}
	endedDoc := bson.D{{Key: "_id", Value: "x"}, {Key: "owner", Value: bson.D{{Key: "id", Value: nil}, {Key: "v", Value: int64(4)}, {Key: "op", Value: testkit.Token(1)}, {Key: "ended", Value: true}}}}
	started := relation(*ofA, owner("a", link("x", 3, 9)), owner("b"))
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{Reason: "a free item", Before: relation(*free, owner("a")), Plan: linkWay.Assign(free, "a", testkit.Token(1)),
			After: relation(linkItem{"x", link("a", 1, 1)}, owner("a", link("x", 1, 1))), Status: model.Applied, Again: model.Already},
		{Reason: "an item that stores no link", Before: relation(bson.D{{Key: "_id", Value: "x"}}, owner("a")), Plan: linkWay.Assign(free, "a", testkit.Token(1)),
			After: relation(linkItem{"x", link("a", 1, 1)}, owner("a", link("x", 1, 1))), Status: model.Applied, Again: model.Already},
		{Reason: "from one owner to another", Before: started, Plan: linkWay.Assign(ofA, "b", testkit.Token(1)),
			After: relation(linkItem{"x", link("b", 4, 1)}, emptied("a"), owner("b", link("x", 4, 1))), Status: model.Applied, Again: model.Applied},
		{Reason: "an item that had an owner once", Before: relation(endedDoc, owner("a")), Plan: linkWay.Assign(&ended, "a", testkit.Token(2)),
			After: relation(linkItem{"x", link("a", 5, 2)}, owner("a", link("x", 5, 2))), Status: model.Applied, Again: model.Already},
		{Reason: "to the owner that it has: older links go", Before: relation(*ofA, owner("a", link("x", 3, 9)), owner("b", link("x", 2, 8), link("y", 1, 7))),
			Plan: linkWay.Assign(ofA, "a", testkit.Token(1)), After: relation(*ofA, owner("a", link("x", 3, 9)), owner("b", link("y", 1, 7))), Status: model.Applied, Again: model.Applied},
		{Reason: "a full list", Before: relation(*free, owner("a", link("y", 1, 7), link("z", 1, 8))), Plan: linkWay.Assign(free, "a", testkit.Token(1)), Err: model.ErrFull},
		{Reason: "read before another took it", Before: relation(linkItem{"x", link("b", 1, 5)}, owner("a", link("y", 1, 7)), owner("b", link("x", 1, 5))),
			Plan: linkWay.Assign(free, "a", testkit.Token(1)), Err: model.ErrStale},
		{Reason: "an owner that isn't there", Before: relation(*free), Plan: linkWay.Assign(free, "z", testkit.Token(1)), Err: model.ErrNotFound},
		{Reason: "an item that is gone", Before: testkit.Docs{"owners": {owner("a", link("y", 1, 7))}, "items": {}}, Plan: linkWay.Assign(free, "a", testkit.Token(1)), Err: model.ErrNotFound},
		{Reason: "taken away", Before: relation(*ofA, owner("a", link("x", 3, 9), link("y", 1, 7))), Plan: linkWay.Unassign(ofA, testkit.Token(1)),
			After: relation(endedDoc, owner("a", link("y", 1, 7))), Status: model.Applied, Again: model.Applied},
		{Reason: "taken away, read before another took it", Before: relation(linkItem{"x", link("b", 4, 5)}, owner("a"), owner("b", link("x", 4, 5))), Plan: linkWay.Unassign(ofA, testkit.Token(1)), Err: model.ErrStale},
		{Reason: "no token", Before: started, Plan: linkWay.Assign(ofA, "b", bson.NilObjectID), Err: testkit.ErrRefused},
		{Reason: "no token to take away", Before: started, Plan: linkWay.Unassign(ofA, bson.NilObjectID), Err: testkit.ErrRefused},
		{Reason: "no item", Before: started, Plan: linkWay.Assign(nil, "b", testkit.Token(1)), Err: testkit.ErrRefused},
	})
}

// An item that never had an owner has nothing to be taken away: nothing is sent. Of one that had an owner, by versioned links, what a
// process that died has left on lists is taken off.
func TestTwoWayUnassignFree(t *testing.T) {
	testkit.Parallel(t)
	for reason, p := range map[string]model.Plan{
		"bare": bareWay.Unassign(&bareItem{ID: "x"}, bson.NilObjectID), "versioned": linkWay.Unassign(&linkItem{ID: "x"}, testkit.Token(1)),
	} {
		if p.Cost().Commands != 0 || len(p.Steps) != 0 {
			t.Errorf("%s: %s", reason, p)
		}
	}
	link := func(v int64, op int) relate.Link[string] {
		return relate.Link[string]{ID: "x", V: v, Op: testkit.Token(op)}
	}
	ended := linkItem{ID: "x", Owner: relate.Link[string]{V: 3, Op: testkit.Token(3), Ended: true}}
	testkit.RunPlanCases(t, []testkit.PlanCase{{
		Reason: "ended", Before: relation(ended, linkOwner{"a", []relate.Link[string]{link(2, 2)}}, linkOwner{"b", []relate.Link[string]{link(4, 4)}}),
		Plan:  linkWay.Unassign(&ended, testkit.Token(5)),
		After: relation(ended, emptied("a"), linkOwner{"b", []relate.Link[string]{link(4, 4)}}), Status: model.Applied, Again: model.Applied,
	}})
}

func TestTwoWayReads(t *testing.T) {
	testkit.Parallel(t)
	link := func(id string) relate.Link[string] { return relate.Link[string]{ID: id, V: 1, Op: testkit.Token(1)} }
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		bareItemID := func(i bareItem) string { return i.ID }
		a := lister("a", "y", "x", "gone")
		testkit.SeedAlone(t, db, testkit.Docs{"owners": {a, lister("b", "z", "x")}, "items": {bareItem{ID: "x", Owner: "a"}, bareItem{ID: "y", Owner: "a"}, bareItem{ID: "z", Owner: "b"}, bareItem{ID: "w"}}})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, bareWay.Left().Others("a")), bareItemID), []string{"x", "y"})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, bareWay.Left().Listed(&a).Sorted(bson.D{{Key: "_id", Value: 1}})), bareItemID), []string{"x", "y"})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, bareWay.Right().Others("x").Sorted(bson.D{{Key: "_id", Value: 1}})), func(o bareOwner) string { return o.ID }), []string{"a", "b"})
		wantListed(t, bareWay.Left().Listed(&a), "['y', 'x', 'gone']")
		if got := testkit.All(t, db, bareWay.Left().Listed(&bareOwner{ID: "c"})); len(got) != 0 {
			t.Errorf("an owner without a list has items %v", got)
		}

		// With links, an item that names another owner is none of the list's.
		l := linkOwner{"a", []relate.Link[string]{link("y"), link("x")}}
		testkit.SeedAlone(t, db, testkit.Docs{"owners": {l}, "items": {linkItem{"x", link("a")}, linkItem{"y", link("b")}}})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, linkWay.Left().Listed(&l)), func(i linkItem) string { return i.ID }), []string{"x"})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, linkWay.Left().Others("a")), func(i linkItem) string { return i.ID }), []string{"x"})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, linkWay.Right().Others("y")), func(o linkOwner) string { return o.ID }), []string{"a"})
		wantListed(t, linkWay.Left().Listed(&l), "['y', 'x']")
	})
	for reason, err := range map[string]error{
		"items of an empty id": bareWay.Left().Others("").Err, "items of no owner": bareWay.Left().Listed(nil).Err, "links of no owner": linkWay.Left().Listed(nil).Err,
		"owners that list an empty id": bareWay.Right().Others("").Err,
	} {
		t.Run(reason, func(t *testing.T) { testkit.WantError(t, err, testkit.ErrRefused) })
	}
	wantListed(t, bareWay.Right().Listed(&bareItem{ID: "x", Owner: "a"}), "['a']")
	wantListed(t, bareWay.Right().Listed(&bareItem{ID: "x"}), "[]")
	wantListed(t, linkWay.Right().Listed(&linkItem{ID: "x", Owner: relate.Link[string]{ID: "a", V: 1, Ended: true}}), "[]")
	testkit.WantError(t, bareWay.Right().Listed(nil).Err, testkit.ErrRefused)
}

// wantListed wants a query of some ids.
func wantListed[D any](t *testing.T, f *model.Find[D], ids string) {
	t.Helper()
	if got := f.String(); !strings.Contains(got, "_id: {$in: "+ids+"}") {
		t.Errorf("%s, want the ids %s", got, ids)
	}
}

// Every kind of half-link is found, from its side; one repair mends them all, whichever side is trusted.
func TestTwoWayRepair(t *testing.T) {
	testkit.Parallel(t)
	half := testkit.Docs{
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
		trust bool
		after testkit.Docs
	}{
		{false, testkit.Docs{
			"owners": {lister("a", "ok"), lister("b", "both", "moved"), lister("c", "alone", "taken")},
			"items":  append([]any{bareItem{ID: "free"}, bareItem{ID: "taken", Owner: "c"}, bareItem{ID: "alone", Owner: "c"}, bareItem{ID: "orphan"}}, kept...),
		}},
		{true, testkit.Docs{
			"owners": {lister("a", "ok", "free", "taken"), lister("b", "both", "moved"), lister("c")},
			"items":  append([]any{bareItem{ID: "free", Owner: "a"}, bareItem{ID: "taken", Owner: "a"}, bareItem{ID: "alone"}, bareItem{ID: "orphan"}}, kept...),
		}},
	} {
		t.Run(fmt.Sprint("trust ", c.trust), func(t *testing.T) {
			modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
				testkit.SeedAlone(t, db, half)
				checks := trusting(c.trust).Checks()
				lists, refs := testkit.Details[halfLink](t, testkit.All(t, db, checks[0])), testkit.Details[halfLink](t, testkit.All(t, db, checks[1]))
				if diff := modeltest.Diff([]halfLink{
					{List: true, A: "a", B: "both", Names: []string{"b"}, Kept: true}, {List: true, A: "a", B: "free", Names: []string{}},
					{List: true, A: "a", B: "lost", Gone: true, Names: []string{}}, {List: true, A: "a", B: "taken", Names: []string{"c"}},
				}, lists); diff != "" {
					t.Errorf("%s:\n%s", checks[0].Name, diff)
				}
				if diff := modeltest.Diff([]halfLink{{A: "c", B: "alone"}, {A: "c", B: "taken"}, {A: "z", B: "orphan", Gone: true}}, refs); diff != "" {
					t.Errorf("%s:\n%s", checks[1].Name, diff)
				}
				said := fmt.Sprint(testkit.AllFound(t, db, checks))
				if want := "[owners 'a': links to 'both', which refers to 'b' owners 'a': links to 'free', which doesn't link back " +
					"owners 'a': links to 'lost', which doesn't exist owners 'a': links to 'taken', which refers to 'c' " +
					"items 'alone': links to 'c', which doesn't link back items 'taken': links to 'c', which doesn't link back " +
					"items 'orphan': links to 'z', which doesn't exist]"; said != want {
					t.Errorf("found %s\nwant %s", said, want)
				}
				if planned, err := testkit.MendAll(t.Context(), db, checks); err != nil || planned < 6 { // what mends a list may mend a reference
					t.Fatalf("planned %d, %v", planned, err)
				}
				testkit.WantNothingFound(t, db, checks)
				testkit.WantDocsInAnyOrder(t, db, c.after)
				if planned, err := testkit.MendAll(t.Context(), db, checks); err != nil || planned != 0 {
					t.Errorf("again: %v, %v", planned, err)
				}
				testkit.SeedAlone(t, db, half)
				plan := model.Concat(checks[0].Mend(testkit.All(t, db, checks[0])), checks[1].Mend(testkit.All(t, db, checks[1]))) // both looked first
				if _, err := plan.Run(t.Context(), db); err != nil || len(plan.Steps) != 7 {
					t.Errorf("%d steps, %v", len(plan.Steps), err)
				}
				testkit.WantDocsInAnyOrder(t, db, c.after)
			})
		})
	}
}

// An item on two lists that names neither goes to the first; what has changed since the check is left alone.
func TestTwoWayRepairGuards(t *testing.T) {
	testkit.Parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, relation(bareItem{ID: "x"}, lister("a", "x"), lister("b", "x")))
		checks := trusting(true).Checks()
		if _, err := testkit.MendAll(t.Context(), db, checks); err != nil {
			t.Fatal(err)
		}
		testkit.WantDocsInAnyOrder(t, db, relation(bareItem{ID: "x", Owner: "a"}, lister("a", "x"), emptied("b")))

		testkit.SeedAlone(t, db, relation(bareItem{ID: "x"}, lister("a", "x"), lister("b")))
		found := testkit.All(t, db, checks[0])
		testkit.SeedAlone(t, db, relation(bareItem{ID: "x", Owner: "b"}, lister("a", "x"), lister("b", "x")))
		if _, err := checks[0].Mend(found).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		testkit.WantDocsInAnyOrder(t, db, relation(bareItem{ID: "x", Owner: "b"}, lister("a", "x"), lister("b", "x")))
	})
	wantRefusedFindings(t, bareWay.Checks()[0])
}

// trusting is the relation of bare ids whose checks believe a side.
func trusting(lists bool) *relate.TwoWay[bareOwner, string, bareItem, string] {
	return relate.NewTwoWay(bareOwners, "items", bareItems, "owner", relate.TwoWaySpec{TrustLists: lists})
}

func TestTwoWayChecks(t *testing.T) {
	testkit.Parallel(t)
	link := func(op int) []relate.Link[string] {
		return []relate.Link[string]{{ID: "x", V: 1, Op: testkit.Token(op)}}
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) { // two operations that have not decided: one does, one is over
		testkit.SeedAlone(t, db, relation(linkItem{ID: "x"}, linkOwner{"a", link(1)}, linkOwner{"b", link(2)}))
		if planned, err := testkit.MendAll(t.Context(), db, linkWay.Checks()); err != nil || planned != 2+1 {
			t.Errorf("planned %d, %v", planned, err)
		}
		testkit.WantNothingFound(t, db, linkWay.Checks())
		testkit.WantDocsInAnyOrder(t, db, relation(linkItem{"x", relate.Link[string]{ID: "a", V: 1, Op: testkit.Token(1)}}, linkOwner{"a", link(1)}, emptied("b")))

		testkit.SeedAlone(t, db, testkit.Docs{ // and two of different items, in one batch
			"owners": {linkOwner{"a", append(link(1), relate.Link[string]{ID: "y", V: 1, Op: testkit.Token(2)})}}, "items": {linkItem{ID: "x"}, linkItem{ID: "y"}},
		})
		if planned, err := testkit.MendAll(t.Context(), db, linkWay.Checks()); err != nil || planned != 2*2 {
			t.Errorf("planned %d, %v", planned, err)
		}
		testkit.WantNothingFound(t, db, linkWay.Checks())
	})
	testkit.WantNames(t, bareWay.Checks(), "owners.items: links that items.owner lacks", "items.owner: links that owners.items lacks")
	testkit.WantNames(t, linkWay.Checks(), "owners.items: undecided links", "owners.items: links that items.owner lacks", "items.owner: links that owners.items lacks")
}

// Of versioned links the item decides: links of other versions go, missing ones come, and those to what is gone end.
func TestTwoWayRepairVersioned(t *testing.T) {
	testkit.Parallel(t)
	link := func(id string, v int64, op int) relate.Link[string] {
		return relate.Link[string]{ID: id, V: v, Op: testkit.Token(op)}
	}
	ended := func(id string, v int64, op int) bson.D {
		return bson.D{{Key: "_id", Value: id}, {Key: "owner", Value: bson.D{{Key: "id", Value: nil}, {Key: "v", Value: v}, {Key: "op", Value: testkit.Token(op)}, {Key: "ended", Value: true}}}}
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, testkit.Docs{
			"owners": {linkOwner{"a", []relate.Link[string]{link("x", 2, 2), link("x", 1, 1), link("gone", 1, 5), link("off", 1, 6)}}, linkOwner{ID: "b"}},
			"items":  {linkItem{"x", link("a", 2, 2)}, linkItem{"y", link("b", 3, 3)}, linkItem{"z", link("nowhere", 1, 4)}, ended("off", 2, 7)},
		})
		if planned, err := testkit.MendAll(t.Context(), db, linkWay.Checks()); err != nil || planned != 5 {
			t.Fatalf("planned %d, %v", planned, err)
		}
		wantNoHalfLinks(t, db, linkWay)
		testkit.WantDocsInAnyOrder(t, db, testkit.Docs{
			"owners": {linkOwner{"a", []relate.Link[string]{link("x", 2, 2)}}, linkOwner{"b", []relate.Link[string]{link("y", 3, 3)}}},
			"items":  {linkItem{"x", link("a", 2, 2)}, linkItem{"y", link("b", 3, 3)}, ended("z", 2, 4), ended("off", 2, 7)},
		})
	})
}

// Owners whose id is an ObjectID: an item that stores the zero one has no owner.
func TestTwoWayZeroObjectID(t *testing.T) {
	testkit.Parallel(t)
	owners, items := model.NewCollection[bson.D, bson.ObjectID]("owners"), model.NewCollection[bson.D, string]("items")
	way := relate.NewTwoWay(owners, "items", items, "owner", relate.TwoWaySpec{})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		zero := bson.D{{Key: "_id", Value: "x"}, {Key: "owner", Value: bson.NilObjectID}}
		testkit.SeedAlone(t, db, testkit.Docs{"owners": {bson.D{{Key: "_id", Value: testkit.OID(1)}}}, "items": {zero}})
		if refs := testkit.All(t, db, way.Checks()[1]); len(refs) != 0 {
			t.Errorf("the zero id is taken for an owner: %v", refs)
		}
		if _, err := way.Assign(&zero, testkit.OID(1), bson.NilObjectID).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		testkit.WantDocsInAnyOrder(t, db, testkit.Docs{"items": {bson.D{{Key: "_id", Value: "x"}, {Key: "owner", Value: testkit.OID(1)}}}})
	})
}

// Ids that look like commands stay data.
func TestTwoWayHostileIDs(t *testing.T) {
	testkit.Parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, id := range []string{"$where", "a.b", "^.*", "$$ROOT", "{$ne: null}", "é\x00"} {
			item := bareItem{ID: id}
			testkit.SeedAlone(t, db, testkit.Docs{"owners": {lister(id), lister("a", "y")}, "items": {item, bareItem{ID: "y", Owner: "a"}}})
			if _, err := bareWay.Assign(&item, id, bson.NilObjectID).Run(t.Context(), db); err != nil {
				t.Fatal(id, err)
			}
			wantNoHalfLinks(t, db, bareWay)
			testkit.WantDocsInAnyOrder(t, db, testkit.Docs{"owners": {lister(id, id), lister("a", "y")}, "items": {bareItem{ID: id, Owner: id}, bareItem{ID: "y", Owner: "a"}}})
		}
	})
}

func TestTwoWayCosts(t *testing.T) {
	testkit.Parallel(t)
	none := bson.NilObjectID
	ofA := bareItem{ID: "x", Owner: "a"}
	before := testkit.Docs{"owners": {lister("a", "x"), lister("b")}, "items": {ofA, bareItem{ID: "y"}}}
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []testkit.CostCase{
			testkit.CostOf("Assign a free item", bareWay.Assign(&bareItem{ID: "y"}, "b", none), 2, 2),
			testkit.CostOf("Assign from another", bareWay.Assign(&ofA, "b", none), 3, 3),
			testkit.CostOf("Assign within a bound", boundedWay.Assign(&ofA, "b", none), 3, 3),
			testkit.CostOf("Unassign", bareWay.Unassign(&ofA, none), 2, 2),
			testkit.CostOfRead("ItemsOf", bareWay.Left().Others("a"), 1),
			testkit.CostOfRead("Items", bareWay.Left().Listed(&bareOwner{ID: "a", Items: []string{"x"}}), 1),
			testkit.CostOfRead("OwnersListing", bareWay.Right().Others("x"), 1),
			testkit.CostOfRead("Checks, of lists", bareWay.Checks()[0].Find(), 0),
			testkit.CostOfRead("Checks, of references", bareWay.Checks()[1].Find(), 0),
		} {
			t.Run(c.Reason, func(t *testing.T) { c.Check(t, m, db, before) })
		}
		link := relate.Link[string]{ID: "a", V: 1, Op: testkit.Token(9)}
		linked := testkit.Docs{"owners": {linkOwner{"a", []relate.Link[string]{{ID: "x", V: 1, Op: testkit.Token(9)}}}, linkOwner{ID: "b"}}, "items": {linkItem{"x", link}, linkItem{ID: "y"}}}
		for _, c := range []testkit.CostCase{
			testkit.CostOf("Assign a free item by links", linkWay.Assign(&linkItem{ID: "y"}, "b", testkit.Token(1)), 2, 2),
			testkit.CostOf("Assign by links", linkWay.Assign(&linkItem{"x", link}, "b", testkit.Token(1)), 3, 3),
			testkit.CostOf("Assign to the same by links", linkWay.Assign(&linkItem{"x", link}, "a", testkit.Token(1)), 1, 0),
			testkit.CostOf("Unassign by links", linkWay.Unassign(&linkItem{"x", link}, testkit.Token(1)), 2, 2),
		} {
			t.Run(c.Reason, func(t *testing.T) { c.Check(t, m, db, linked) })
		}
	}, modeltest.WithMonitor(m))
}
