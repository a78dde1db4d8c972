package twosided_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var boundedPeers = twosided.NewManyToMany(bareLefts, "peers", bareRights, "peers",
	twosided.ManyToManySpec{MaxLeft: 2, MaxRight: 2})

// peers are the documents of both sides.
func peers(left any, rights ...any) testkit.Docs {
	return testkit.Docs{"lefts": {left}, "rights": append([]any{}, rights...)}
}

func peer(id string, list ...string) barePeer { return barePeer{ID: id, Peers: list} }

// alone is a document whose list has become empty.
func alone(id string) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "peers", Value: bson.A{}}}
}

func TestManyToManyReads(t *testing.T) {
	testkit.Parallel(t)
	bareID := func(p barePeer) string { return p.ID }
	byID := bson.D{{Key: "_id", Value: 1}}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		l, r := peer("l", "s", "r", "gone"), peer("r", "l", "m")
		testkit.SeedAlone(t, db, testkit.Docs{"lefts": {l, peer("m", "r")}, "rights": {r, peer("s", "l")}})
		testkit.WantList(t,
			testkit.IDsOf(testkit.All(t, db, barePeers.Left.Others("l").Sorted(byID)), bareID), []string{"r", "s"})
		testkit.WantList(t,
			testkit.IDsOf(testkit.All(t, db, barePeers.Left.Listed(&l).Sorted(byID)), bareID), []string{"r", "s"})
		testkit.WantList(t,
			testkit.IDsOf(testkit.All(t, db, barePeers.Right.Others("r").Sorted(byID)), bareID), []string{"l", "m"})
		testkit.WantList(t,
			testkit.IDsOf(testkit.All(t, db, barePeers.Right.Listed(&r).Sorted(byID)), bareID), []string{"l", "m"})
		if got := testkit.All(t, db, barePeers.Left.Listed(&barePeer{ID: "k"})); len(got) != 0 {
			t.Errorf("a document without a list has %v", got)
		}
	})
	for reason, err := range map[string]error{
		"rights of an empty id": barePeers.Left.Others("").Err,
		"lefts of an empty id":  barePeers.Right.Others("").Err,
		"rights of no document": barePeers.Left.Listed(nil).Err,
		"lefts of no document":  barePeers.Right.Listed(nil).Err,
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
		{
			trust: false,
			after: testkit.Docs{
				"lefts":  {peer("l", "ok", "left"), peer("m")},
				"rights": {peer("ok", "l"), peer("left", "l"), alone("right")},
			},
		},
		{
			trust: true,
			after: testkit.Docs{
				"lefts":  {peer("l", "ok"), peer("m", "right")},
				"rights": {peer("ok", "l"), peer("left"), peer("right", "m")},
			},
		},
	} {
		t.Run(fmt.Sprint("trust ", c.trust), func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				testkit.SeedAlone(t, db, half)
				checks := trustingPeers(c.trust).Checks()
				for i, want := range [][]halfLink{
					{{List: true, A: "l", B: "left"}, {List: true, A: "l", B: "lost", Gone: true}},
					{{A: "m", B: "right"}, {A: "nobody", B: "right", Gone: true}},
				} {
					if diff := mongotest.Diff(want,
						testkit.Details[halfLink](t, testkit.All(t, db, checks[i]))); diff != "" {
						t.Errorf("%s:\n%s", checks[i].Name, diff)
					}
				}
				said := fmt.Sprint(testkit.AllFound(t, db, checks))
				want := "[lefts 'l': links to 'left', which doesn't link back " +
					"lefts 'l': links to 'lost', which doesn't exist " +
					"rights 'right': links to 'm', which doesn't link back " +
					"rights 'right': links to 'nobody', which doesn't exist]"
				if said != want {
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

// trustingPeers is the relation of bare ids whose checks believe a side.
func trustingPeers(right bool) *twosided.ManyToMany[barePeer, string, barePeer, string] {
	return twosided.NewManyToMany(bareLefts, "peers", bareRights, "peers", twosided.ManyToManySpec{TrustRight: right})
}

func TestManyToManyChecks(t *testing.T) {
	testkit.WantNames(t, barePeers.Checks(), "lefts.peers: links that the right side lacks",
		"rights.peers: links that the left side lacks")
	wantRefusedFindings(t, barePeers.Checks()[0])
}

// Ids that look like commands stay data.
func TestManyToManyHostileIDs(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, id := range []string{"$where", "a.b", "^.*", "$$ROOT", "{$ne: null}", "é\x00"} {
			testkit.SeedAlone(t, db, testkit.Docs{
				"lefts": {peer(id), peer("m", "q")}, "rights": {peer(id), peer("q", "m")},
			})
			if _, _, err := peerLefts.Set(id, bson.D{{Key: "peers", Value: []string{id}}}).
				Run(t.Context(), db); err != nil {
				t.Fatal(id, err)
			}
			wantNoHalfPeers(t, db)
			wantStored(t, db, testkit.Docs{
				"lefts": {peer(id, id), peer("m", "q")}, "rights": {peer(id, id), peer("q", "m")},
			})
		}
	})
}

func TestManyToManyCosts(t *testing.T) {
	testkit.Parallel(t)
	l, r := peer("l", "r"), peer("r", "l")
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []testkit.CostCase{
			testkit.CostOfRead("RightsOf", barePeers.Left.Others("l"), 1),
			testkit.CostOfRead("LeftsOf", barePeers.Right.Others("r"), 1),
			testkit.CostOfRead("Rights", barePeers.Left.Listed(&l), 1),
			testkit.CostOfRead("Lefts", barePeers.Right.Listed(&r), 1),
			testkit.CostOfRead("Checks, of the left", barePeers.Checks()[0].Find(), 0),
			testkit.CostOfRead("Checks, of the right", barePeers.Checks()[1].Find(), 0),
		} {
			t.Run(c.Reason, func(t *testing.T) { c.Check(t, m, db, peers(l, r, peer("s"))) })
		}
	}, m)
}

// Sixteen that link one left document at once: each link is there in the end, on both sides.
func TestManyToManyConcurrent(t *testing.T) {
	testkit.Parallel(t)
	const writers = 16
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		rights := make([]any, writers)
		for i := range rights {
			rights[i] = peer(fmt.Sprint(i))
		}
		testkit.SeedAlone(t, db, peers(peer("l"), rights...))
		errs := make([]error, writers)
		var all sync.WaitGroup
		for n := range writers {
			all.Go(func() {
				_, _, errs[n] = peerLefts.Edit("l", func(l *barePeer) error {
					l.Peers = append(l.Peers, fmt.Sprint(n))
					return nil
				}).Run(t.Context(), db)
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		wantNoHalfPeers(t, db)
		if l, err := bareLefts.ByID("l").One(t.Context(), db); err != nil || len(l.Peers) != writers {
			t.Errorf("%d links, %v", len(l.Peers), err)
		}
	})
}

func TestManyToManyDeclarations(t *testing.T) {
	testkit.Parallel(t)
	type spec = twosided.ManyToManySpec
	for reason, declare := range map[string]func(){
		"no such left list": func() {
			twosided.NewManyToMany(bareLefts, "pears", bareRights, "peers", twosided.ManyToManySpec{})
		},
		"no such right list": func() {
			twosided.NewManyToMany(bareLefts, "peers", bareRights, "pears", twosided.ManyToManySpec{})
		},
		"no list": func() {
			twosided.NewManyToMany(bareLefts, "_id", bareRights, "peers", twosided.ManyToManySpec{})
		},
		"a negative bound": func() {
			twosided.NewManyToMany(bareLefts, "peers", bareRights, "peers", spec{MaxRight: -1})
		},
		"no lefts": func() {
			twosided.NewManyToMany(&model.Collection[barePeer, string]{}, "peers", bareRights, "peers",
				twosided.ManyToManySpec{})
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
