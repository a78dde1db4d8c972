package twosided_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	barePeer = bareDoc
	linkPeer struct {
		ID    string                `bson:"_id"`
		Peers []relate.Link[string] `bson:"peers,omitempty"`
		V     int64                 `bson:"v"`
	}
)

var (
	bareLefts  = model.NewCollection[barePeer, string]("lefts")
	bareRights = model.NewCollection[barePeer, string]("rights")
	linkLefts  = model.NewCollection[linkPeer, string]("lefts")
	linkRights = model.NewCollection[linkPeer, string]("rights")

	barePeers = relate.NewManyToMany(bareLefts, "peers", bareRights, "peers", relate.ManyToManySpec{})
	linkPeers = relate.NewManyToMany(linkLefts, "peers", linkRights, "peers", relate.ManyToManySpec{Version: "v", MaxLeft: 3, MaxRight: 3})
)

// manyOperations are what can happen between left documents l, m and right documents r, s.
func manyOperations[D any](way *relate.ManyToMany[D, string, D, string], lefts *model.Collection[D, string]) []testkit.Operation {
	op := func(name, left string, plan func(*D, bson.ObjectID) model.Plan) testkit.Operation {
		return testkit.Operation{Name: name, Run: func(ctx context.Context, db *mongo.Database, token bson.ObjectID) error {
			doc, err := lefts.ByID(left).One(ctx, db)
			if err != nil {
				return err
			}
			return testkit.Exec(ctx, db, plan(&doc, token))
		}}
	}
	link := func(left, right string) testkit.Operation {
		return op("link "+left+right, left, func(d *D, token bson.ObjectID) model.Plan { return way.Link(d, right, token) })
	}
	unlink := func(left, right string) testkit.Operation {
		return op("unlink "+left+right, left, func(d *D, token bson.ObjectID) model.Plan { return way.Unlink(d, right, token) })
	}
	// lr is linked to begin with; ls isn't.
	return []testkit.Operation{link("l", "r"), unlink("l", "r"), link("l", "s"), unlink("l", "s"), link("m", "r")}
}

func wantNoHalfPeers[D any](t testing.TB, db *mongo.Database, way *relate.ManyToMany[D, string, D, string]) {
	t.Helper()
	testkit.WantNothingFound(t, db, way.Checks())
}

func TestManyToManyVersionedInterleaved(t *testing.T) {
	testkit.Parallel(t)
	ops := manyOperations(linkPeers, linkLefts)
	seed := func(ctx context.Context, db *mongo.Database) error {
		load := model.Concat(linkLefts.InsertMany([]linkPeer{{ID: "l"}, {ID: "m"}}), linkRights.InsertMany([]linkPeer{{ID: "r"}, {ID: "s"}}))
		if err := testkit.Exec(ctx, db, load); err != nil {
			return err
		}
		return ops[0].Run(ctx, db, testkit.Token(9))
	}
	for _, pair := range testkit.Pairs(ops) {
		a, b := pair[0], pair[1]
		t.Run(a.Name+" | "+b.Name, func(t *testing.T) {
			testkit.Parallel(t)
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Sample: 3, Seed: seed,
				A: func(ctx context.Context, db *mongo.Database) error { return a.Run(ctx, db, testkit.Token(1)) },
				B: func(ctx context.Context, db *mongo.Database) error { return b.Run(ctx, db, testkit.Token(2)) },
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					testkit.StaleOrNil(t, errA)
					testkit.StaleOrNil(t, errB)
					wantNoHalfPeers(t, db, linkPeers)
				},
			})
		})
	}
}

func TestManyToManyBareInterleaved(t *testing.T) {
	testkit.Parallel(t)
	ops := manyOperations(barePeers, bareLefts)
	seed := func(ctx context.Context, db *mongo.Database) error {
		load := model.Concat(bareLefts.InsertMany([]barePeer{{ID: "l", Peers: []string{"r"}}, {ID: "m"}}), bareRights.InsertMany([]barePeer{{ID: "r", Peers: []string{"l"}}, {ID: "s"}}))
		return testkit.Exec(ctx, db, load)
	}
	for _, pair := range testkit.Pairs(ops) {
		a, b := pair[0], pair[1]
		t.Run(a.Name+" | "+b.Name, func(t *testing.T) {
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Sample: 3, Seed: seed,
				A: func(ctx context.Context, db *mongo.Database) error { return a.Run(ctx, db, bson.NilObjectID) },
				B: func(ctx context.Context, db *mongo.Database) error { return b.Run(ctx, db, bson.NilObjectID) },
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					testkit.StaleOrNil(t, errA)
					testkit.StaleOrNil(t, errB)
					for _, trust := range []bool{false, true} {
						if _, err := testkit.MendAll(context.Background(), db, trustingPeers(trust).Checks()); err != nil {
							t.Fatal(err)
						}
						wantNoHalfPeers(t, db, barePeers)
					}
				},
			})
		})
	}
}

func TestManyToManyFaults(t *testing.T) {
	testkit.Parallel(t)
	before := linkPeer{ID: "l", Peers: []relate.Link[string]{{ID: "r", V: 1, Op: testkit.Token(9)}}, V: 1}
	seed := func(ctx context.Context, db *mongo.Database) error {
		return testkit.Exec(ctx, db, model.Concat(
			linkLefts.InsertMany([]linkPeer{before}),
			linkRights.InsertMany([]linkPeer{{ID: "r", Peers: []relate.Link[string]{{ID: "l", V: 1, Op: testkit.Token(9)}}}, {ID: "s"}})))
	}
	for _, c := range []struct {
		name string
		plan model.Plan
	}{
		{"link", linkPeers.Link(&before, "s", testkit.Token(1))},
		{"unlink", linkPeers.Unlink(&before, "r", testkit.Token(1))},
	} {
		t.Run("versioned "+c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: seed, Run: func(ctx context.Context, db *mongo.Database) error { return testkit.Exec(ctx, db, c.plan) },
				Check: func(t testing.TB, db *mongo.Database) { wantNoHalfPeers(t, db, linkPeers) },
			})
		})
	}
	bare := barePeer{ID: "l", Peers: []string{"r"}}
	for _, c := range []struct {
		name string
		plan model.Plan
	}{
		{"link", barePeers.Link(&bare, "s", bson.NilObjectID)},
		{"link within bounds", boundedPeers.Link(&bare, "s", bson.NilObjectID)},
		{"unlink", barePeers.Unlink(&bare, "r", bson.NilObjectID)},
	} {
		t.Run("bare "+c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return testkit.Exec(ctx, db, model.Concat(bareLefts.InsertMany([]barePeer{bare}), bareRights.InsertMany([]barePeer{{ID: "r", Peers: []string{"l"}}, {ID: "s"}})))
				},
				Run:   func(ctx context.Context, db *mongo.Database) error { return testkit.Exec(ctx, db, c.plan) },
				Check: func(t testing.TB, db *mongo.Database) { wantNoHalfPeers(t, db, barePeers) },
			})
		})
	}
}

// A repair that is cut at any write and run again ends right.
func TestManyToManyRepairFaults(t *testing.T) {
	testkit.Parallel(t)
	for _, trust := range []bool{false, true} {
		t.Run(fmt.Sprint("trust ", trust), func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return testkit.Store(ctx, db, testkit.Docs{"lefts": {peer("l", "left", "lost"), peer("m")}, "rights": {peer("left"), peer("right", "m", "nobody")}})
				},
				Run:   testkit.MendedAll(trustingPeers(trust).Checks()),
				Check: func(t testing.TB, db *mongo.Database) { wantNoHalfPeers(t, db, barePeers) },
			})
		})
	}
}
