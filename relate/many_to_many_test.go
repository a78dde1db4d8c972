package relate_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var boundedPeers = relate.NewManyToMany(bareLefts, "peers", bareRights, "peers", relate.ManyToManySpec{MaxLeft: 2, MaxRight: 2})

// peers are the documents of both sides.
func peers(left any, rights ...any) docs {
	return docs{"lefts": {left}, "rights": append([]any{}, rights...)}
}

func peer(id string, list ...string) barePeer { return barePeer{ID: id, Peers: list} }

// alone is a document whose list has become empty.
func alone(id string) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "peers", Value: bson.A{}}}
}

func TestManyToManyBareWrites(t *testing.T) {
	parallel(t)
	none := bson.NilObjectID
	l := peer("l")
	linked := peers(peer("l", "r"), peer("r", "l"))
	runWriteCases(t, []writeCase{
		{reason: "a new pair", before: peers(l, peer("r")), plan: barePeers.Link(&l, "r", none), after: linked, status: model.Applied, again: model.Applied},
		{reason: "a pair that is linked", before: linked, plan: barePeers.Link(&l, "r", none), status: model.Applied, again: model.Applied},
		{reason: "half a pair is made whole", before: peers(l, peer("r", "l")), plan: barePeers.Link(&l, "r", none), after: linked, status: model.Applied, again: model.Applied},
		{reason: "a left document that is gone", before: docs{"lefts": {}, "rights": {peer("r")}}, plan: barePeers.Link(&l, "r", none), err: model.ErrStale},
		{reason: "a right document that isn't there is listed, and found by the check", before: peers(l), plan: barePeers.Link(&l, "z", none),
			after: peers(peer("l", "z")), err: model.ErrStale},
		{reason: "a pair taken apart", before: peers(peer("l", "r", "s"), peer("r", "k", "l"), peer("s", "l")), plan: barePeers.Unlink(&l, "r", none),
			after: peers(peer("l", "s"), peer("r", "k"), peer("s", "l")), status: model.Applied, again: model.Applied},
		{reason: "the last of both", before: linked, plan: barePeers.Unlink(&l, "r", none), after: peers(alone("l"), alone("r")), status: model.Applied, again: model.Applied},
		{reason: "a pair that isn't linked", before: peers(l, peer("r")), plan: barePeers.Unlink(&l, "r", none), status: model.Applied, again: model.Applied},
		{reason: "a token that bare ids don't keep", before: linked, plan: barePeers.Link(&l, "r", token(1)), err: errRefused},
		{reason: "a token to unlink", before: linked, plan: barePeers.Unlink(&l, "r", token(1)), err: errRefused},
		{reason: "no left document", before: linked, plan: barePeers.Link(nil, "r", none), err: errRefused},
		{reason: "no left document to unlink", before: linked, plan: barePeers.Unlink(nil, "r", none), err: errRefused},
		{reason: "an empty right id", before: linked, plan: barePeers.Link(&l, "", none), err: errRefused},
		{reason: "a left document without an id", before: linked, plan: barePeers.Link(&barePeer{}, "r", none), err: errRefused},
	})
}

func TestManyToManyBoundedWrites(t *testing.T) {
	parallel(t)
	none := bson.NilObjectID
	l, half := peer("l"), peer("l", "r")
	runWriteCases(t, []writeCase{
		{reason: "the last place of both", before: peers(peer("l", "s"), peer("r", "k")), plan: boundedPeers.Link(&l, "r", none),
			after: peers(peer("l", "s", "r"), peer("r", "k", "l")), status: model.Applied, again: model.Applied},
		{reason: "a full left", before: peers(peer("l", "s", "t"), peer("r")), plan: boundedPeers.Link(&l, "r", none), err: errFull},
		{reason: "a full right: the left's is taken off again", before: peers(peer("l", "s"), peer("r", "j", "k")), plan: boundedPeers.Link(&l, "r", none), err: errFull},
		{reason: "a full right, that the left lists since before: nothing is taken off", before: peers(half, peer("r", "j", "k")), plan: boundedPeers.Link(&half, "r", none), err: errFull},
		{reason: "full lists that hold each other", before: peers(peer("l", "r", "s"), peer("r", "k", "l")), plan: boundedPeers.Link(&l, "r", none), status: model.Applied, again: model.Applied},
	})
}

func TestManyToManyVersionedWrites(t *testing.T) {
	parallel(t)
	link := func(id string, v int64, op int) relate.Link[string] {
		return relate.Link[string]{ID: id, V: v, Op: token(op)}
	}
	left := func(v int64, list ...relate.Link[string]) linkPeer { return linkPeer{ID: "l", Peers: list, V: v} }
	right := func(id string, list ...relate.Link[string]) linkPeer { return linkPeer{ID: id, Peers: list} }
	emptied := func(id string, v int64) bson.D {
		return bson.D{{Key: "_id", Value: id}, {Key: "peers", Value: bson.A{}}, {Key: "v", Value: v}}
	}
	fresh, one := left(0), left(5, link("r", 5, 9))
	linked := peers(one, right("r", link("l", 5, 9)))
	full := left(3, link("a", 1, 4), link("b", 2, 5), link("c", 3, 6))
	runWriteCases(t, []writeCase{
		{reason: "a new pair", before: peers(fresh, right("r")), plan: linkPeers.Link(&fresh, "r", token(1)),
			after: peers(left(1, link("r", 1, 1)), right("r", link("l", 1, 1))), status: model.Applied, again: model.Already},
		{reason: "a second one", before: peers(one, right("r", link("l", 5, 9)), right("s")), plan: linkPeers.Link(&one, "s", token(1)),
			after: peers(left(6, link("r", 5, 9), link("s", 6, 1)), right("r", link("l", 5, 9)), right("s", link("l", 6, 1))), status: model.Applied, again: model.Already},
		{reason: "read before another changed the list", before: peers(left(6, link("r", 5, 9), link("t", 6, 3)), right("s", link("k", 1, 4))), plan: linkPeers.Link(&one, "s", token(1)), err: model.ErrStale},
		{reason: "a full left", before: peers(full, right("s", link("k", 1, 4))), plan: linkPeers.Link(&full, "s", token(1)), err: errFull},
		{reason: "a full right", before: peers(fresh, right("s", link("a", 1, 4), link("b", 2, 5), link("c", 3, 6))), plan: linkPeers.Link(&fresh, "s", token(1)), err: errFull},
		{reason: "a right document that isn't there", before: peers(fresh), plan: linkPeers.Link(&fresh, "z", token(1)), err: model.ErrStale},
		{reason: "a left document that is gone", before: docs{"lefts": {}, "rights": {right("r", link("k", 1, 3))}}, plan: linkPeers.Link(&fresh, "r", token(1)), err: model.ErrStale},
		{reason: "taken apart", before: linked, plan: linkPeers.Unlink(&one, "r", token(1)), after: peers(emptied("l", 6), emptied("r", 0)), status: model.Applied, again: model.Applied},
		{reason: "taken apart, read before another changed the list", before: peers(left(6, link("r", 5, 9), link("t", 6, 3)), right("r", link("l", 5, 9))),
			plan: linkPeers.Unlink(&one, "r", token(1)), err: model.ErrStale},
		{reason: "what only the right lists goes", before: peers(left(2, link("s", 2, 2)), right("r", link("l", 1, 1))), plan: linkPeers.Unlink(&linkPeer{ID: "l", Peers: []relate.Link[string]{link("s", 2, 2)}, V: 2}, "r", token(3)),
			after: peers(left(2, link("s", 2, 2)), emptied("r", 0)), status: model.Applied, again: model.Applied},
		{reason: "no token", before: linked, plan: linkPeers.Link(&fresh, "r", bson.NilObjectID), err: errRefused},
		{reason: "no token to unlink", before: linked, plan: linkPeers.Unlink(&one, "r", bson.NilObjectID), err: errRefused},
		{reason: "no left document", before: linked, plan: linkPeers.Link(nil, "r", token(1)), err: errRefused},
	})
	if p := linkPeers.Link(&one, "r", token(1)); len(p.Steps) != 0 || p.Cost().Commands != 0 {
		t.Errorf("a pair that is linked gives %s", p)
	}
}

func TestManyToManyReads(t *testing.T) {
	parallel(t)
	link := func(id string) relate.Link[string] { return relate.Link[string]{ID: id, V: 1, Op: token(1)} }
	bareID, linkID := func(p barePeer) string { return p.ID }, func(p linkPeer) string { return p.ID }
	byID := bson.D{{Key: "_id", Value: 1}}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		l, r := peer("l", "s", "r", "gone"), peer("r", "l", "m")
		seed(t, db, docs{"lefts": {l, peer("m", "r")}, "rights": {r, peer("s", "l")}})
		wantIDs(t, idsOf(all(t, db, barePeers.RightsOf("l").Sorted(byID)), bareID), []string{"r", "s"})
		wantIDs(t, idsOf(all(t, db, barePeers.Rights(&l).Sorted(byID)), bareID), []string{"r", "s"})
		wantIDs(t, idsOf(all(t, db, barePeers.LeftsOf("r").Sorted(byID)), bareID), []string{"l", "m"})
		wantIDs(t, idsOf(all(t, db, barePeers.Lefts(&r).Sorted(byID)), bareID), []string{"l", "m"})
		if got := all(t, db, barePeers.Rights(&barePeer{ID: "k"})); len(got) != 0 {
			t.Errorf("a document without a list has %v", got)
		}

		// With links, a left document that doesn't list the right one is none of its.
		ll, lr := linkPeer{ID: "l", Peers: []relate.Link[string]{link("r")}, V: 1}, linkPeer{ID: "r", Peers: []relate.Link[string]{link("l"), link("m")}}
		seed(t, db, docs{"lefts": {ll, linkPeer{ID: "m"}}, "rights": {lr}})
		wantIDs(t, idsOf(all(t, db, linkPeers.Rights(&ll)), linkID), []string{"r"})
		wantIDs(t, idsOf(all(t, db, linkPeers.Lefts(&lr)), linkID), []string{"l"})
		wantIDs(t, idsOf(all(t, db, linkPeers.RightsOf("m")), linkID), []string{"r"})
		wantIDs(t, idsOf(all(t, db, linkPeers.LeftsOf("r")), linkID), []string{"l"})
	})
	for reason, err := range map[string]error{
		"rights of an empty id": barePeers.RightsOf("").Err, "lefts of an empty id": barePeers.LeftsOf("").Err,
		"rights of no document": barePeers.Rights(nil).Err, "lefts of no document": barePeers.Lefts(nil).Err, "linked lefts of no document": linkPeers.Lefts(nil).Err,
	} {
		t.Run(reason, func(t *testing.T) { wantError(t, err, errRefused) })
	}
}

// Every kind of half-link is found, from its side; one repair mends them all, whichever side is trusted.
func TestManyToManyRepair(t *testing.T) {
	parallel(t)
	half := docs{
		"lefts":  {peer("l", "ok", "left", "lost"), peer("m")},
		"rights": {peer("ok", "l"), peer("left"), peer("right", "m", "nobody")},
	}
	for _, c := range []struct {
		trust relate.Side
		after docs
	}{
		{relate.TrustRefs, docs{"lefts": {peer("l", "ok", "left"), peer("m")}, "rights": {peer("ok", "l"), peer("left", "l"), alone("right")}}},
		{relate.TrustLists, docs{"lefts": {peer("l", "ok"), peer("m", "right")}, "rights": {peer("ok", "l"), peer("left"), peer("right", "m")}}},
	} {
		t.Run(fmt.Sprint("trust ", c.trust), func(t *testing.T) {
			modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
				seed(t, db, half)
				checks := trustingPeers(c.trust).Checks()
				for i, want := range [][]halfLink{
					{{List: true, A: "l", B: "left"}, {List: true, A: "l", B: "lost", Gone: true}},
					{{A: "m", B: "right"}, {A: "nobody", B: "right", Gone: true}},
				} {
					if diff := modeltest.Diff(want, details[halfLink](t, all(t, db, checks[i]))); diff != "" {
						t.Errorf("%s:\n%s", checks[i].Name, diff)
					}
				}
				said := fmt.Sprint(allFound(t, db, checks))
				if want := "[lefts 'l': links to 'left', which doesn't link back lefts 'l': links to 'lost', which is gone " +
					"rights 'right': links to 'm', which doesn't link back rights 'right': links to 'nobody', which is gone]"; said != want {
					t.Errorf("found %s\nwant %s", said, want)
				}
				if planned, err := mendAll(t.Context(), db, checks); err != nil || planned != 4 {
					t.Fatalf("planned %d, %v", planned, err)
				}
				wantNothingFound(t, db, checks)
				wantDocs(t, db, c.after)
			})
		})
	}
}

// Of versioned links the left document decides; one to a right document that is gone is taken off, and whoever read the
// list before is told so.
func TestManyToManyRepairVersioned(t *testing.T) {
	parallel(t)
	link := func(id string, v int64, op int) relate.Link[string] {
		return relate.Link[string]{ID: id, V: v, Op: token(op)}
	}
	read := linkPeer{ID: "l", Peers: []relate.Link[string]{link("r", 1, 1), link("s", 2, 2), link("gone", 3, 3)}, V: 3}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, peers(read, linkPeer{ID: "r", Peers: []relate.Link[string]{link("l", 1, 1), link("l", 0, 8), link("k", 1, 9)}}, linkPeer{ID: "s"}))
		if planned, err := mendAll(t.Context(), db, linkPeers.Checks()); err != nil || planned != 4 {
			t.Fatalf("planned %d, %v", planned, err)
		}
		wantNoHalfPeers(t, db, linkPeers)
		wantDocs(t, db, peers(linkPeer{ID: "l", Peers: read.Peers[:2], V: 4},
			linkPeer{ID: "r", Peers: []relate.Link[string]{link("l", 1, 1)}}, linkPeer{ID: "s", Peers: []relate.Link[string]{link("l", 2, 2)}}))
		_, err := linkPeers.Unlink(&read, "r", token(5)).Run(t.Context(), db)
		wantError(t, err, model.ErrStale)
	})
	wantRefusedFindings(t, barePeers.Checks()[0])
}

// trustingPeers is the relation of bare ids whose checks believe a side.
func trustingPeers(side relate.Side) *relate.ManyToMany[barePeer, string, barePeer, string] {
	return relate.NewManyToMany(bareLefts, "peers", bareRights, "peers", relate.ManyToManySpec{Trust: side})
}

func TestManyToManyChecks(t *testing.T) {
	parallel(t)
	wantPanic(t, "a side that isn't one", "no such Side", func() { trustingPeers(2) })
	wantPanic(t, "the right side of links", "the left document decides", func() {
		relate.NewManyToMany(linkLefts, "peers", linkRights, "peers", relate.ManyToManySpec{Version: "v", Trust: relate.TrustLists})
	})
	link := func(op int) []relate.Link[string] { return []relate.Link[string]{{ID: "l", V: 1, Op: token(op)}} }
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) { // two operations that have not decided: one does, one is over
		seed(t, db, peers(linkPeer{ID: "l"}, linkPeer{ID: "r", Peers: link(1)}, linkPeer{ID: "s", Peers: link(2)}))
		if planned, err := mendAll(t.Context(), db, linkPeers.Checks()); err != nil || planned != 2*2+1 {
			t.Errorf("planned %d, %v", planned, err)
		}
		wantNothingFound(t, db, linkPeers.Checks())
		wantDocs(t, db, peers(linkPeer{ID: "l", Peers: []relate.Link[string]{{ID: "r", V: 1, Op: token(1)}}, V: 1}, linkPeer{ID: "r", Peers: link(1)},
			bson.D{{Key: "_id", Value: "s"}, {Key: "peers", Value: bson.A{}}, {Key: "v", Value: int64(0)}}))
	})
	wantNames(t, barePeers.Checks(), "lefts.peers: links that the right side lacks", "rights.peers: links that the left side lacks")
	wantNames(t, linkPeers.Checks(), "rights.peers: links that are not decided", "lefts.peers: links that the right side lacks", "rights.peers: links that the left side lacks")
}

// Ids that look like commands stay data.
func TestManyToManyHostileIDs(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, id := range []string{"$where", "a.b", "^.*", "$$ROOT", "{$ne: null}", "é\x00"} {
			l := peer(id)
			seed(t, db, docs{"lefts": {l, peer("m", "q")}, "rights": {peer(id), peer("q", "m")}})
			if _, err := barePeers.Link(&l, id, bson.NilObjectID).Run(t.Context(), db); err != nil {
				t.Fatal(id, err)
			}
			wantNoHalfPeers(t, db, barePeers)
			wantDocs(t, db, docs{"lefts": {peer(id, id), peer("m", "q")}, "rights": {peer(id, id), peer("q", "m")}})
		}
	})
}

func TestManyToManyCosts(t *testing.T) {
	parallel(t)
	none := bson.NilObjectID
	l, r := peer("l", "r"), peer("r", "l")
	link := func(id string) relate.Link[string] { return relate.Link[string]{ID: id, V: 1, Op: token(9)} }
	ll := linkPeer{ID: "l", Peers: []relate.Link[string]{link("r")}, V: 1}
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []costCase{
			costOf("Link", barePeers.Link(&l, "s", none), 2, 2),
			costOf("Link within bounds", boundedPeers.Link(&l, "s", none), 2, 2),
			costOf("Unlink", barePeers.Unlink(&l, "r", none), 2, 2),
			readOf("RightsOf", barePeers.RightsOf("l"), 1),
			readOf("LeftsOf", barePeers.LeftsOf("r"), 1),
			readOf("Rights", barePeers.Rights(&l), 1),
			readOf("Lefts", barePeers.Lefts(&r), 1),
			readOf("Checks, of the left", barePeers.Checks()[0].Find(), 0),
			readOf("Checks, of the right", barePeers.Checks()[1].Find(), 0),
		} {
			t.Run(c.reason, func(t *testing.T) { c.check(t, m, db, peers(l, r, peer("s"))) })
		}
		for _, c := range []costCase{
			costOf("Link by links", linkPeers.Link(&ll, "s", token(1)), 2, 2),
			costOf("Unlink by links", linkPeers.Unlink(&ll, "r", token(1)), 2, 2),
		} {
			t.Run(c.reason, func(t *testing.T) {
				c.check(t, m, db, peers(ll, linkPeer{ID: "r", Peers: []relate.Link[string]{link("l")}}, linkPeer{ID: "s"}))
			})
		}
	}, modeltest.WithMonitor(m))
}

// Thirty-two that link one left document at once: each link is there in the end, on both sides.
func TestManyToManyConcurrent(t *testing.T) {
	parallel(t)
	const writers = 32
	unbounded := relate.NewManyToMany(linkLefts, "peers", linkRights, "peers", relate.ManyToManySpec{Version: "v"})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		rights := make([]any, writers)
		for i := range rights {
			rights[i] = linkPeer{ID: fmt.Sprint(i)}
		}
		seed(t, db, peers(linkPeer{ID: "l"}, rights...))
		errs := make([]error, writers)
		var all sync.WaitGroup
		for n := range writers {
			all.Go(func() {
				op := bson.NewObjectID()
				_, _, errs[n] = model.Change[linkPeer]{
					Read: func(ctx context.Context, db *mongo.Database) (linkPeer, error) {
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
	parallel(t)
	type spec = relate.ManyToManySpec
	for reason, declare := range map[string]func(){
		"no such left list":         func() { relate.NewManyToMany(bareLefts, "pears", bareRights, "peers") },
		"no such right list":        func() { relate.NewManyToMany(bareLefts, "peers", bareRights, "pears") },
		"no list":                   func() { relate.NewManyToMany(bareLefts, "_id", bareRights, "peers") },
		"links without version":     func() { relate.NewManyToMany(linkLefts, "peers", linkRights, "peers") },
		"bare with version":         func() { relate.NewManyToMany(bareLefts, "peers", bareRights, "peers", spec{Version: "v"}) },
		"no such version":           func() { relate.NewManyToMany(linkLefts, "peers", linkRights, "peers", spec{Version: "w"}) },
		"a version of another type": func() { relate.NewManyToMany(linkLefts, "peers", linkRights, "peers", spec{Version: "_id"}) },
		"a negative bound":          func() { relate.NewManyToMany(bareLefts, "peers", bareRights, "peers", spec{MaxRight: -1}) },
		"two specs":                 func() { relate.NewManyToMany(bareLefts, "peers", bareRights, "peers", spec{}, spec{}) },
		"no lefts":                  func() { relate.NewManyToMany(&model.Collection[barePeer, string]{}, "peers", bareRights, "peers") },
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := panicOf(declare); !errors.As(err, &d) || d.Remedy == "" {
				t.Errorf("panicked with %v", err)
			}
		})
	}
}
