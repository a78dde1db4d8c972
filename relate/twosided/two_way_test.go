package twosided_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// relation is the documents of both sides: owners a, b and c where they aren't given, and item x.
func relation(item any, owners ...any) testkit.Docs {
	return testkit.Docs{"owners": append([]any{}, owners...), "items": {item}}
}

// lister is an owner by bare ids.
func lister(id string, items ...string) bareOwner { return bareOwner{ID: id, Items: items} }

// ownerWithoutItems is an owner whose list has become empty.
func ownerWithoutItems(id string) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "items", Value: bson.A{}}}
}

func TestTwoWayReads(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		bareItemID := func(i bareItem) string { return i.ID }
		a := lister("a", "y", "x", "gone")
		testkit.SeedAlone(t, db, testkit.Docs{
			"owners": {a, lister("b", "z", "x")},
			"items": {
				bareItem{ID: "x", Owner: "a"}, bareItem{ID: "y", Owner: "a"},
				bareItem{ID: "z", Owner: "b"}, bareItem{ID: "w"},
			},
		})
		testkit.WantList(t,
			testkit.IDsOf(testkit.All(t, db, bareWay.Left.Others("a")), bareItemID), []string{"x", "y"})
		testkit.WantList(t,
			testkit.IDsOf(testkit.All(t, db, bareWay.Left.Listed(&a).Sorted(bson.D{{Key: "_id", Value: 1}})),
				bareItemID), []string{"x", "y"})
		testkit.WantList(t,
			testkit.IDsOf(testkit.All(t, db, bareWay.Right.Others("x").Sorted(bson.D{{Key: "_id", Value: 1}})),
				func(o bareOwner) string { return o.ID }), []string{"a", "b"})
		wantListed(t, bareWay.Left.Listed(&a), "['y', 'x', 'gone']")
		if got := testkit.All(t, db, bareWay.Left.Listed(&bareOwner{ID: "c"})); len(got) != 0 {
			t.Errorf("an owner without a list has items %v", got)
		}
	})
	for reason, err := range map[string]error{
		"items of an empty id": bareWay.Left.Others("").Err, "items of no owner": bareWay.Left.Listed(nil).Err,
		"owners that list an empty id": bareWay.Right.Others("").Err,
	} {
		t.Run(reason, func(t *testing.T) { testkit.WantError(t, err, testkit.ErrRefused) })
	}
	wantListed(t, bareWay.Right.Listed(&bareItem{ID: "x", Owner: "a"}), "['a']")
	wantListed(t, bareWay.Right.Listed(&bareItem{ID: "x"}), "[]")
	testkit.WantError(t, bareWay.Right.Listed(nil).Err, testkit.ErrRefused)
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
	kept := []any{
		bareItem{ID: "both", Owner: "b"}, bareItem{ID: "moved", Owner: "b"},
		bareItem{ID: "ok", Owner: "a"}, half["items"][7],
		half["items"][8],
	}
	for _, c := range []struct {
		trust bool
		after testkit.Docs
	}{
		{false, testkit.Docs{
			"owners": {lister("a", "ok"), lister("b", "both", "moved"), lister("c", "alone", "taken")},
			"items": append([]any{
				bareItem{ID: "free"}, bareItem{ID: "taken", Owner: "c"},
				bareItem{ID: "alone", Owner: "c"}, bareItem{ID: "orphan"},
			}, kept...),
		}},
		{true, testkit.Docs{
			"owners": {lister("a", "ok", "free", "taken"), lister("b", "both", "moved"), lister("c")},
			"items": append([]any{
				bareItem{ID: "free", Owner: "a"}, bareItem{ID: "taken", Owner: "a"},
				bareItem{ID: "alone"}, bareItem{ID: "orphan"},
			}, kept...),
		}},
	} {
		t.Run(fmt.Sprint("trust ", c.trust), func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				testkit.SeedAlone(t, db, half)
				checks := trusting(c.trust).Checks()
				lists, refs := testkit.Details[halfLink](t, testkit.All(t, db, checks[0])),
					testkit.Details[halfLink](t, testkit.All(t, db, checks[1]))
				if diff := mongotest.Diff([]halfLink{
					{List: true, A: "a", B: "both", Names: []string{"b"}, Kept: true},
					{List: true, A: "a", B: "free", Names: []string{}},
					{List: true, A: "a", B: "lost", Gone: true, Names: []string{}},
					{List: true, A: "a", B: "taken", Names: []string{"c"}},
				}, lists); diff != "" {
					t.Errorf("%s:\n%s", checks[0].Name, diff)
				}
				if diff := mongotest.Diff([]halfLink{
					{A: "c", B: "alone"}, {A: "c", B: "taken"}, {A: "z", B: "orphan", Gone: true},
				}, refs); diff != "" {
					t.Errorf("%s:\n%s", checks[1].Name, diff)
				}
				said := fmt.Sprint(testkit.AllFound(t, db, checks))
				want := "[owners 'a': links to 'both', which refers to 'b' " +
					"owners 'a': links to 'free', which doesn't link back " +
					"owners 'a': links to 'lost', which doesn't exist " +
					"owners 'a': links to 'taken', which refers to 'c' " +
					"items 'alone': links to 'c', which doesn't link back " +
					"items 'taken': links to 'c', which doesn't link back " +
					"items 'orphan': links to 'z', which doesn't exist]"
				if said != want {
					t.Errorf("found %s\nwant %s", said, want)
				}
				// what mends a list may mend a reference
				if planned, err := testkit.MendAll(t.Context(), db, checks); err != nil || planned < 6 {
					t.Fatalf("planned %d, %v", planned, err)
				}
				testkit.WantNothingFound(t, db, checks)
				testkit.WantDocsInAnyOrder(t, db, c.after)
				if planned, err := testkit.MendAll(t.Context(), db, checks); err != nil || planned != 0 {
					t.Errorf("again: %v, %v", planned, err)
				}
				testkit.SeedAlone(t, db, half)
				// both looked first
				plan := model.Concat(checks[0].Mend(testkit.All(t, db, checks[0])),
					checks[1].Mend(testkit.All(t, db, checks[1])))
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
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, relation(bareItem{ID: "x"}, lister("a", "x"), lister("b", "x")))
		checks := trusting(true).Checks()
		if _, err := testkit.MendAll(t.Context(), db, checks); err != nil {
			t.Fatal(err)
		}
		testkit.WantDocsInAnyOrder(t, db,
			relation(bareItem{ID: "x", Owner: "a"}, lister("a", "x"), ownerWithoutItems("b")))

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
func trusting(lists bool) *twosided.TwoWay[bareOwner, string, bareItem, string] {
	return twosided.NewTwoWay(bareOwners, "items", bareItems, "owner", twosided.TwoWaySpec{TrustLists: lists})
}

func TestTwoWayChecks(t *testing.T) {
	testkit.WantNames(t, bareWay.Checks(), "owners.items: links that items.owner lacks",
		"items.owner: links that owners.items lacks")
}

// Owners whose id is an ObjectID: an item that stores the zero one has no owner.
func TestTwoWayZeroObjectID(t *testing.T) {
	testkit.Parallel(t)
	owners, items := model.NewCollection[bson.D, bson.ObjectID]("owners"), model.NewCollection[bson.D, string]("items")
	way := twosided.NewTwoWay(owners, "items", items, "owner", twosided.TwoWaySpec{})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		zero := bson.D{{Key: "_id", Value: "x"}, {Key: "owner", Value: bson.NilObjectID}}
		testkit.SeedAlone(t, db, testkit.Docs{"owners": {bson.D{{Key: "_id", Value: testkit.OID(1)}}}, "items": {zero}})
		if refs := testkit.All(t, db, way.Checks()[1]); len(refs) != 0 {
			t.Errorf("the zero id is taken for an owner: %v", refs)
		}
		store := model.NewStore(model.New("way", way), items)
		if _, _, err := store.Set("x", bson.D{{Key: "owner", Value: testkit.OID(1)}}).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		testkit.WantNothingFound(t, db, way.Checks())
	})
}

// Ids that look like commands stay data.
func TestTwoWayHostileIDs(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, id := range []string{"$where", "a.b", "^.*", "$$ROOT", "{$ne: null}", "é\x00"} {
			item := bareItem{ID: id}
			testkit.SeedAlone(t, db, testkit.Docs{
				"owners": {lister(id), lister("a", "y")}, "items": {item, bareItem{ID: "y", Owner: "a"}},
			})
			if _, _, err := wayItems.Set(id, bson.D{{Key: "owner", Value: id}}).Run(t.Context(), db); err != nil {
				t.Fatal(id, err)
			}
			wantNoHalfLinks(t, db, bareWay)
			wantStored(t, db, testkit.Docs{
				"owners": {lister(id, id), lister("a", "y")},
				"items":  {bareItem{ID: id, Owner: id}, bareItem{ID: "y", Owner: "a"}},
			})
		}
	})
}

func TestTwoWayCosts(t *testing.T) {
	testkit.Parallel(t)
	before := testkit.Docs{
		"owners": {lister("a", "x"), lister("b")},
		"items":  {bareItem{ID: "x", Owner: "a"}, bareItem{ID: "y"}},
	}
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []testkit.CostCase{
			testkit.CostOfRead("ItemsOf", bareWay.Left.Others("a"), 1),
			testkit.CostOfRead("Items", bareWay.Left.Listed(&bareOwner{ID: "a", Items: []string{"x"}}), 1),
			testkit.CostOfRead("OwnersListing", bareWay.Right.Others("x"), 1),
			testkit.CostOfRead("Checks, of lists", bareWay.Checks()[0].Find(), 0),
			testkit.CostOfRead("Checks, of references", bareWay.Checks()[1].Find(), 0),
		} {
			t.Run(c.Reason, func(t *testing.T) { c.Check(t, m, db, before) })
		}
	}, m)
}
