package twosided_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var boundedPeers = relate.NewManyToMany(bareLefts, "peers", bareRights, "peers", relate.ManyToManySpec{MaxLeft: 2, MaxRight: 2})

// peers are the documents of both sides.
func peers(left any, rights ...any) testkit.Docs {
	return testkit.Docs{"lefts": {left}, "rights": append([]any{}, rights...)}
}

func peer(id string, list ...string) barePeer { return barePeer{ID: id, Peers: list} }

// alone is a document whose list has become empty.
func alone(id string) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "peers", Value: bson.A{}}}
}

func TestManyToManyBareWrites(t *testing.T) {
	testkit.Parallel(t)
	none := bson.NilObjectID
	l := peer("l")
	linked := peers(peer("l", "r"), peer("r", "l"))
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{Reason: "a new pair", Before: peers(l, peer("r")), Plan: barePeers.Link(&l, "r", none), After: linked, Status: model.Applied, Again: model.Applied},
		{Reason: "a pair that is linked", Before: linked, Plan: barePeers.Link(&l, "r", none), Status: model.Applied, Again: model.Applied},
		{Reason: "half a pair is made whole", Before: peers(l, peer("r", "l")), Plan: barePeers.Link(&l, "r", none), After: linked, Status: model.Applied, Again: model.Applied},
		{Reason: "a left document that is gone", Before: testkit.Docs{"lefts": {}, "rights": {peer("r")}}, Plan: barePeers.Link(&l, "r", none), Err: model.ErrNotFound},
		{Reason: "a right document that isn't there is listed, and found by the check", Before: peers(l), Plan: barePeers.Link(&l, "z", none),
			After: peers(peer("l", "z")), Err: model.ErrNotFound},
		{Reason: "a pair taken apart", Before: peers(peer("l", "r", "s"), peer("r", "k", "l"), peer("s", "l")), Plan: barePeers.Unlink(&l, "r", none),
			After: peers(peer("l", "s"), peer("r", "k"), peer("s", "l")), Status: model.Applied, Again: model.Applied},
		{Reason: "the last of both", Before: linked, Plan: barePeers.Unlink(&l, "r", none), After: peers(alone("l"), alone("r")), Status: model.Applied, Again: model.Applied},
		{Reason: "a pair that isn't linked", Before: peers(l, peer("r")), Plan: barePeers.Unlink(&l, "r", none), Status: model.Applied, Again: model.Applied},
		{Reason: "a token that bare ids don't keep", Before: linked, Plan: barePeers.Link(&l, "r", testkit.Token(1)), Err: testkit.ErrRefused},
		{Reason: "a token to unlink", Before: linked, Plan: barePeers.Unlink(&l, "r", testkit.Token(1)), Err: testkit.ErrRefused},
		{Reason: "no left document", Before: linked, Plan: barePeers.Link(nil, "r", none), Err: testkit.ErrRefused},
		{Reason: "no left document to unlink", Before: linked, Plan: barePeers.Unlink(nil, "r", none), Err: testkit.ErrRefused},
		{Reason: "an empty right id", Before: linked, Plan: barePeers.Link(&l, "", none), Err: testkit.ErrRefused},
		{Reason: "a left document without an id", Before: linked, Plan: barePeers.Link(&barePeer{}, "r", none), Err: testkit.ErrRefused},
	})
}

func TestManyToManyBoundedWrites(t *testing.T) {
	testkit.Parallel(t)
	none := bson.NilObjectID
	l, half := peer("l"), peer("l", "r")
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{Reason: "the last place of both", Before: peers(peer("l", "s"), peer("r", "k")), Plan: boundedPeers.Link(&l, "r", none),
			After: peers(peer("l", "s", "r"), peer("r", "k", "l")), Status: model.Applied, Again: model.Applied},
		{Reason: "a full left", Before: peers(peer("l", "s", "t"), peer("r")), Plan: boundedPeers.Link(&l, "r", none), Err: model.ErrFull},
		{Reason: "a full right: the left's is taken off again", Before: peers(peer("l", "s"), peer("r", "j", "k")), Plan: boundedPeers.Link(&l, "r", none), Err: model.ErrFull},
		{Reason: "a full right, that the left lists since before: nothing is taken off", Before: peers(half, peer("r", "j", "k")), Plan: boundedPeers.Link(&half, "r", none), Err: model.ErrFull},
		{Reason: "full lists that hold each other", Before: peers(peer("l", "r", "s"), peer("r", "k", "l")), Plan: boundedPeers.Link(&l, "r", none), Status: model.Applied, Again: model.Applied},
	})
}

func TestManyToManyVersionedWrites(t *testing.T) {
	testkit.Parallel(t)
	link := func(id string, v int64, op int) relate.Link[string] {
		return relate.Link[string]{ID: id, V: v, Op: testkit.Token(op)}
	}
	left := func(v int64, list ...relate.Link[string]) linkPeer { return linkPeer{ID: "l", Peers: list, V: v} }
	right := func(id string, list ...relate.Link[string]) linkPeer { return linkPeer{ID: id, Peers: list} }
	emptied := func(id string, v int64) bson.D {
		return bson.D{{Key: "_id", Value: id}, {Key: "peers", Value: bson.A{}}, {Key: "v", Value: v}}
	}
	fresh, one := left(0), left(5, link("r", 5, 9))
	linked := peers(one, right("r", link("l", 5, 9)))
	full := left(3, link("a", 1, 4), link("b", 2, 5), link("c", 3, 6))
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{Reason: "a new pair", Before: peers(fresh, right("r")), Plan: linkPeers.Link(&fresh, "r", testkit.Token(1)),
			After: peers(left(1, link("r", 1, 1)), right("r", link("l", 1, 1))), Status: model.Applied, Again: model.Already},
		{Reason: "a second one", Before: peers(one, right("r", link("l", 5, 9)), right("s")), Plan: linkPeers.Link(&one, "s", testkit.Token(1)),
			After: peers(left(6, link("r", 5, 9), link("s", 6, 1)), right("r", link("l", 5, 9)), right("s", link("l", 6, 1))), Status: model.Applied, Again: model.Already},
		{Reason: "read before another changed the list", Before: peers(left(6, link("r", 5, 9), link("t", 6, 3)), right("s", link("k", 1, 4))), Plan: linkPeers.Link(&one, "s", testkit.Token(1)), Err: model.ErrStale},
		{Reason: "a full left", Before: peers(full, right("s", link("k", 1, 4))), Plan: linkPeers.Link(&full, "s", testkit.Token(1)), Err: model.ErrFull},
		{Reason: "a full right", Before: peers(fresh, right("s", link("a", 1, 4), link("b", 2, 5), link("c", 3, 6))), Plan: linkPeers.Link(&fresh, "s", testkit.Token(1)), Err: model.ErrFull},
		{Reason: "a right document that isn't there", Before: peers(fresh), Plan: linkPeers.Link(&fresh, "z", testkit.Token(1)), Err: model.ErrNotFound},
		{Reason: "a left document that is gone", Before: testkit.Docs{"lefts": {}, "rights": {right("r", link("k", 1, 3))}}, Plan: linkPeers.Link(&fresh, "r", testkit.Token(1)), Err: model.ErrNotFound},
		{Reason: "taken apart", Before: linked, Plan: linkPeers.Unlink(&one, "r", testkit.Token(1)), After: peers(emptied("l", 6), emptied("r", 0)), Status: model.Applied, Again: model.Applied},
		{Reason: "taken apart, read before another changed the list", Before: peers(left(6, link("r", 5, 9), link("t", 6, 3)), right("r", link("l", 5, 9))),
			Plan: linkPeers.Unlink(&one, "r", testkit.Token(1)), Err: model.ErrStale},
		{Reason: "what only the right lists goes", Before: peers(left(2, link("s", 2, 2)), right("r", link("l", 1, 1))), Plan: linkPeers.Unlink(&linkPeer{ID: "l", Peers: []relate.Link[string]{link("s", 2, 2)}, V: 2}, "r", testkit.Token(3)),
			After: peers(left(2, link("s", 2, 2)), emptied("r", 0)), Status: model.Applied, Again: model.Applied},
		{Reason: "no token", Before: linked, Plan: linkPeers.Link(&fresh, "r", bson.NilObjectID), Err: testkit.ErrRefused},
		{Reason: "no token to unlink", Before: linked, Plan: linkPeers.Unlink(&one, "r", bson.NilObjectID), Err: testkit.ErrRefused},
		{Reason: "no left document", Before: linked, Plan: linkPeers.Link(nil, "r", testkit.Token(1)), Err: testkit.ErrRefused},
	})
	if p := linkPeers.Link(&one, "r", testkit.Token(1)); len(p.Steps) != 0 || p.Cost().Commands != 0 {
		t.Errorf("a pair that is linked gives %s", p)
	}
}

func TestManyToManyReads(t *testing.T) {
	testkit.Parallel(t)
	link := func(id string) relate.Link[string] { return relate.Link[string]{ID: id, V: 1, Op: testkit.Token(1)} }
	bareID, linkID := func(p barePeer) string { return p.ID }, func(p linkPeer) string { return p.ID }
	byID := bson.D{{Key: "_id", Value: 1}}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		l, r := peer("l", "s", "r", "gone"), peer("r", "l", "m")
		testkit.SeedAlone(t, db, testkit.Docs{"lefts": {l, peer("m", "r")}, "rights": {r, peer("s", "l")}})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, barePeers.Left().Others("l").Sorted(byID)), bareID), []string{"r", "s"})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, barePeers.Left().Listed(&l).Sorted(byID)), bareID), []string{"r", "s"})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, barePeers.Right().Others("r").Sorted(byID)), bareID), []string{"l", "m"})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, barePeers.Right().Listed(&r).Sorted(byID)), bareID), []string{"l", "m"})
		if got := testkit.All(t, db, barePeers.Left().Listed(&barePeer{ID: "k"})); len(got) != 0 {
			t.Errorf("a document without a list has %v", got)
		}

		// With links, a left document that doesn't list the right one is none of its.
		ll, lr := linkPeer{ID: "l", Peers: []relate.Link[string]{link("r")}, V: 1}, linkPeer{ID: "r", Peers: []relate.Link[string]{link("l"), link("m")}}
		testkit.SeedAlone(t, db, testkit.Docs{"lefts": {ll, linkPeer{ID: "m"}}, "rights": {lr}})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, linkPeers.Left().Listed(&ll)), linkID), []string{"r"})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, linkPeers.Right().Listed(&lr)), linkID), []string{"l"})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, linkPeers.Left().Others("m")), linkID), []string{"r"})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, linkPeers.Right().Others("r")), linkID), []string{"l"})
	})
	for reason, err := range map[string]error{
		"rights of an empty id": barePeers.Left().Others("").Err, "lefts of an empty id": barePeers.Right().Others("").Err,
		"rights of no document": barePeers.Left().Listed(nil).Err, "lefts of no document": barePeers.Right().Listed(nil).Err, "linked lefts of no document": linkPeers.Right().Listed(nil).Err,
	} {
		t.Run(reason, func(t *testing.T) { testkit.WantError(t, err, testkit.ErrRefused) })
	}
}

// Every kind of half-link is found, from its side; one repair mends them all, whichever side is trusted.
func TestManyToManyRepair(t *testing.T) {
	testkit.Parallel(t)
	half := testkit.Docs{
		"lefts":  {peer("l", "ok", "left", "lost"), peer("m")},
		"rights": {peer("ok", "l"), peer("left"), peer("right", "m", "nobody")},
	}
	for _, c := range []struct {
		trust bool
		after testkit.Docs
	}{
		{false, testkit.Docs{"lefts": {peer("l", "ok", "left"), peer("m")}, "rights": {peer("ok", "l"), peer("left", "l"), alone("right")}}},
		{true, testkit.Docs{"lefts": {peer("l", "ok"), peer("m", "right")}, "rights": {peer("ok", "l"), peer("left"), peer("right", "m")}}},
	} {
		t.Run(fmt.Sprint("trust ", c.trust), func(t *testing.T) {
			modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
				testkit.SeedAlone(t, db, half)
				checks := trustingPeers(c.trust).Checks()
				for i, want := range [][]halfLink{
					{{List: true, A: "l", B: "left"}, {List: true, A: "l", B: "lost", Gone: true}},
					{{A: "m", B: "right"}, {A: "nobody", B: "right", Gone: true}},
				} {
					if diff := modeltest.Diff(want, testkit.Details[halfLink](t, testkit.All(t, db, checks[i]))); diff != "" {
						t.Errorf("%s:\n%s", checks[i].Name, diff)
					}
				}
				said := fmt.Sprint(testkit.AllFound(t, db, checks))
				if want := "[lefts 'l': links to 'left', which doesn't link back lefts 'l': links to 'lost', which doesn't exist " +
					"rights 'right': links to 'm', which doesn't link back rights 'right': links to 'nobody', which doesn't exist]"; said != want {
					t.Errorf("found %s\nwant %s", said, want)
				}
				if planned, err := testkit.MendAll(t.Context(), db, checks); err != nil || planned != 4 {
					t.Fatalf("planned %d, %v", planned, err)
				}
				testkit.WantNothingFound(t, db, checks)
				testkit.WantDocsInAnyOrder(t, db, c.after)
			})
		})
	}
}

// Of versioned links the left document decides; one to a right document that is gone is taken off, and whoever read the
// list before is told so.
func TestManyToManyRepairVersioned(t *testing.T) {
	testkit.Parallel(t)
	link := func(id string, v int64, op int) relate.Link[string] {
		return relate.Link[string]{ID: id, V: v, Op: testkit.Token(op)}
	}
	read := linkPeer{ID: "l", Peers: []relate.Link[string]{link("r", 1, 1), link("s", 2, 2), link("gone", 3, 3)}, V: 3}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, peers(read, linkPeer{ID: "r", Peers: []relate.Link[string]{link("l", 1, 1), link("l", 0, 8), link("k", 1, 9)}}, linkPeer{ID: "s"}))
		if planned, err := testkit.MendAll(t.Context(), db, linkPeers.Checks()); err != nil || planned != 4 {
			t.Fatalf("planned %d, %v", planned, err)
		}
		wantNoHalfPeers(t, db, linkPeers)
		testkit.WantDocsInAnyOrder(t, db, peers(linkPeer{ID: "l", Peers: read.Peers[:2], V: 4},
			linkPeer{ID: "r", Peers: []relate.Link[string]{link("l", 1, 1)}}, linkPeer{ID: "s", Peers: []relate.Link[string]{link("l", 2, 2)}}))
		_, err := linkPeers.Unlink(&read, "r", testkit.Token(5)).Run(t.Context(), db)
		testkit.WantError(t, err, model.ErrStale)
	})
	wantRefusedFindings(t, barePeers.Checks()[0])
}

// trustingPeers is the relation of bare ids whose checks believe a side.
func trustingPeers(right bool) *relate.ManyToMany[barePeer, string, barePeer, string] {
	return relate.NewManyToMany(bareLefts, "peers", bareRights, "peers", relate.ManyToManySpec{TrustRight: right})
}

func TestManyToManyChecks(t *testing.T) {
	testkit.Parallel(t)
	testkit.WantPanic(t, "the right side of links", "the left document decides", func() {
		relate.NewManyToMany(linkLefts, "peers", linkRights, "peers", relate.ManyToManySpec{Version: "v", TrustRight: true})
	})
	link := func(op int) []relate.Link[string] {
		return []relate.Link[string]{{ID: "l", V: 1, Op: testkit.Token(op)}}
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) { // two operations that have not decided: one does, one is over
		testkit.SeedAlone(t, db, peers(linkPeer{ID: "l"}, linkPeer{ID: "r", Peers: link(1)}, linkPeer{ID: "s", Peers: link(2)}))
		if planned, err := testkit.MendAll(t.Context(), db, linkPeers.Checks()); err != nil || planned != 2*2+1 {
			t.Errorf("planned %d, %v", planned, err)
		}
		testkit.WantNothingFound(t, db, linkPeers.Checks())
		testkit.WantDocsInAnyOrder(t, db, peers(linkPeer{ID: "l", Peers: []relate.Link[string]{{ID: "r", V: 1, Op: testkit.Token(1)}}, V: 1}, linkPeer{ID: "r", Peers: link(1)},
			bson.D{{Key: "_id", Value: "s"}, {Key: "peers", Value: bson.A{}}, {Key: "v", Value: int64(0)}}))
	})
	testkit.WantNames(t, barePeers.Checks(), "lefts.peers: links that the right side lacks", "rights.peers: links that the left side lacks")
	testkit.WantNames(t, linkPeers.Checks(), "rights.peers: undecided links", "lefts.peers: links that the right side lacks", "rights.peers: links that the left side lacks")
}

// Ids that look like commands stay data.
func TestManyToManyHostileIDs(t *testing.T) {
	testkit.Parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, id := range []string{"$where", "a.b", "^.*", "$$ROOT", "{$ne: null}", "é\x00"} {
			l := peer(id)
			testkit.SeedAlone(t, db, testkit.Docs{"lefts": {l, peer("m", "q")}, "rights": {peer(id), peer("q", "m")}})
			if _, err := barePeers.Link(&l, id, bson.NilObjectID).Run(t.Context(), db); err != nil {
				t.Fatal(id, err)
			}
			wantNoHalfPeers(t, db, barePeers)
			testkit.WantDocsInAnyOrder(t, db, testkit.Docs{"lefts": {peer(id, id), peer("m", "q")}, "rights": {peer(id, id), peer("q", "m")}})
		}
	})
}

func TestManyToManyCosts(t *testing.T) {
	testkit.Parallel(t)
	none := bson.NilObjectID
	l, r := peer("l", "r"), peer("r", "l")
	link := func(id string) relate.Link[string] { return relate.Link[string]{ID: id, V: 1, Op: testkit.Token(9)} }
	ll := linkPeer{ID: "l", Peers: []relate.Link[string]{link("r")}, V: 1}
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []testkit.CostCase{
			testkit.CostOf("Link", barePeers.Link(&l, "s", none), 2, 2),
			testkit.CostOf("Link within bounds", boundedPeers.Link(&l, "s", none), 2, 2),
			testkit.CostOf("Unlink", barePeers.Unlink(&l, "r", none), 2, 2),
			testkit.CostOfRead("RightsOf", barePeers.Left().Others("l"), 1),
			testkit.CostOfRead("LeftsOf", barePeers.Right().Others("r"), 1),
			testkit.CostOfRead("Rights", barePeers.Left().Listed(&l), 1),
			testkit.CostOfRead("Lefts", barePeers.Right().Listed(&r), 1),
			testkit.CostOfRead("Checks, of the left", barePeers.Checks()[0].Find(), 0),
			testkit.CostOfRead("Checks, of the right", barePeers.Checks()[1].Find(), 0),
		} {
			t.Run(c.Reason, func(t *testing.T) { c.Check(t, m, db, peers(l, r, peer("s"))) })
		}
		for _, c := range []testkit.CostCase{
			testkit.CostOf("Link by links", linkPeers.Link(&ll, "s", testkit.Token(1)), 2, 2),
			testkit.CostOf("Unlink by links", linkPeers.Unlink(&ll, "r", testkit.Token(1)), 2, 2),
		} {
			t.Run(c.Reason, func(t *testing.T) {
				c.Check(t, m, db, peers(ll, linkPeer{ID: "r", Peers: []relate.Link[string]{link("l")}}, linkPeer{ID: "s"}))
			})
		}
	}, modeltest.WithMonitor(m))
}

// Thirty-two that link one left document at once: each link is there in the end, on both sides.
func TestManyToManyConcurrent(t *testing.T) {
	testkit.Parallel(t)
	const writers = 32
	unbounded := relate.NewManyToMany(linkLefts, "peers", linkRights, "peers", relate.ManyToManySpec{Version: "v"})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		rights := make([]any, writers)
		for i := range rights {
			rights[i] = linkPeer{ID: fmt.Sprint(i)}
		}
		testkit.SeedAlone(t, db, peers(linkPeer{ID: "l"}, rights...))
		errs := make([]error, writers)
		var all sync.WaitGroup
		for n := range writers {
			all.Go(func() {
				op := bson.NewObjectID()
				_, _, errs[n] = model.Change[linkPeer]{
					Read: func(ctx context.Context, db model.DB) (linkPeer, error) {
						return linkLefts.ByID("l").One(ctx, db)
					},
					Decide:   func(left linkPeer) (model.Plan, error) { return unbounded.Link(&left, fmt.Sprint(n), op), nil },
					Attempts: 1000,
				}.Run(t.Context(), db)
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		wantNoHalfPeers(t, db, unbounded)
		if l, err := linkLefts.ByID("l").One(t.Context(), db); err != nil || len(l.Peers) != writers || l.V != writers {
			t.Errorf("%d links at version %d, %v", len(l.Peers), l.V, err)
		}
	})
}

func TestManyToManyDeclarations(t *testing.T) {
	testkit.Parallel(t)
	type spec = relate.ManyToManySpec
	for reason, declare := range map[string]func(){
		"no such left list":         func() { relate.NewManyToMany(bareLefts, "pears", bareRights, "peers", relate.ManyToManySpec{}) },
		"no such right list":        func() { relate.NewManyToMany(bareLefts, "peers", bareRights, "pears", relate.ManyToManySpec{}) },
		"no list":                   func() { relate.NewManyToMany(bareLefts, "_id", bareRights, "peers", relate.ManyToManySpec{}) },
		"links without version":     func() { relate.NewManyToMany(linkLefts, "peers", linkRights, "peers", relate.ManyToManySpec{}) },
		"bare with version":         func() { relate.NewManyToMany(bareLefts, "peers", bareRights, "peers", spec{Version: "v"}) },
		"no such version":           func() { relate.NewManyToMany(linkLefts, "peers", linkRights, "peers", spec{Version: "w"}) },
		"a version of another type": func() { relate.NewManyToMany(linkLefts, "peers", linkRights, "peers", spec{Version: "_id"}) },
		"a negative bound":          func() { relate.NewManyToMany(bareLefts, "peers", bareRights, "peers", spec{MaxRight: -1}) },
		"no lefts": func() {
			relate.NewManyToMany(&model.Collection[barePeer, string]{}, "peers", bareRights, "peers", relate.ManyToManySpec{})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := testkit.PanicOf(declare); !errors.As(err, &d) || d.Remedy == "" {
				t.Errorf("panicked with %v", err)
			}
		})
	}
}
