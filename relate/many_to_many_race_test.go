package relate_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	barePeer = bareEnd
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

	barePeers = relate.NewManyToMany(bareLefts, "peers", bareRights, "peers")
	linkPeers = relate.NewManyToMany(linkLefts, "peers", linkRights, "peers", relate.ManyToManySpec{Version: "v", MaxLeft: 3, MaxRight: 3})
)

// manyOperations are what can happen between left documents l, m and right documents r, s.
func manyOperations[D any](way *relate.ManyToMany[D, string, D, string], lefts *model.Collection[D, string]) []operation {
	op := func(name, left string, plan func(*D, bson.ObjectID) model.Plan) operation {
		return operation{name, func(ctx context.Context, db *mongo.Database, token bson.ObjectID) error {
			doc, err := lefts.ByID(left).One(ctx, db)
			if err != nil {
				return err
			}
			return run(plan(&doc, token), ctx, db)
		}}
	}
	link := func(left, right string) operation {
		return op("link "+left+right, left, func(d *D, token bson.ObjectID) model.Plan { return way.Link(d, right, token) })
	}
	unlink := func(left, right string) operation {
		return op("unlink "+left+right, left, func(d *D, token bson.ObjectID) model.Plan { return way.Unlink(d, right, token) })
	}
	// lr is linked to begin with; ls isn't.
	return []operation{link("l", "r"), unlink("l", "r"), link("l", "s"), unlink("l", "s"), link("m", "r")}
}

func wantNoHalfPeers[D any](t testing.TB, db *mongo.Database, way *relate.ManyToMany[D, string, D, string]) {
	t.Helper()
	wantNothingFound(t, db, way.Checks())
}

func TestManyToManyVersionedInterleaved(t *testing.T) {
	parallel(t)
	ops := manyOperations(linkPeers, linkLefts)
	seed := func(ctx context.Context, db *mongo.Database) error {
		load := model.Concat(linkLefts.InsertMany([]linkPeer{{ID: "l"}, {ID: "m"}}), linkRights.InsertMany([]linkPeer{{ID: "r"}, {ID: "s"}}))
		if err := run(load, ctx, db); err != nil {
			return err
		}
		return ops[0].run(ctx, db, token(9))
	}
	for _, pair := range pairs(ops) {
		a, b := pair[0], pair[1]
		t.Run(a.name+" | "+b.name, func(t *testing.T) {
			parallel(t)
			modeltest.Interleave(t, modeltest.InterleaveCase{
				OnServer: 3, Seed: seed,
				A: func(ctx context.Context, db *mongo.Database) error { return a.run(ctx, db, token(1)) },
				B: func(ctx context.Context, db *mongo.Database) error { return b.run(ctx, db, token(2)) },
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					staleOrNil(t, errA)
					staleOrNil(t, errB)
					wantNoHalfPeers(t, db, linkPeers)
				},
			})
		})
	}
}

func TestManyToManyBareInterleaved(t *testing.T) {
	parallel(t)
	ops := manyOperations(barePeers, bareLefts)
	seed := func(ctx context.Context, db *mongo.Database) error {
		load := model.Concat(bareLefts.InsertMany([]barePeer{{ID: "l", Peers: []string{"r"}}, {ID: "m"}}), bareRights.InsertMany([]barePeer{{ID: "r", Peers: []string{"l"}}, {ID: "s"}}))
		return run(load, ctx, db)
	}
	for _, pair := range pairs(ops) {
		a, b := pair[0], pair[1]
		t.Run(a.name+" | "+b.name, func(t *testing.T) {
			modeltest.Interleave(t, modeltest.InterleaveCase{
				OnServer: 3, Seed: seed,
				A: func(ctx context.Context, db *mongo.Database) error { return a.run(ctx, db, bson.NilObjectID) },
				B: func(ctx context.Context, db *mongo.Database) error { return b.run(ctx, db, bson.NilObjectID) },
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					staleOrNil(t, errA)
					staleOrNil(t, errB)
					for _, trust := range []relate.Side{relate.TrustRefs, relate.TrustLists} {
						if _, err := mendAll(context.Background(), db, trustingPeers(trust).Checks()); err != nil {
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
	parallel(t)
	before := linkPeer{ID: "l", Peers: []relate.Link[string]{{ID: "r", V: 1, Op: token(9)}}, V: 1}
	seed := func(ctx context.Context, db *mongo.Database) error {
		return run(model.Concat(
			linkLefts.InsertMany([]linkPeer{before}),
			linkRights.InsertMany([]linkPeer{{ID: "r", Peers: []relate.Link[string]{{ID: "l", V: 1, Op: token(9)}}}, {ID: "s"}})), ctx, db)
	}
	for _, c := range []struct {
		name string
		plan model.Plan
	}{
		{"link", linkPeers.Link(&before, "s", token(1))},
		{"unlink", linkPeers.Unlink(&before, "r", token(1))},
	} {
		t.Run("versioned "+c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: seed, Run: func(ctx context.Context, db *mongo.Database) error { return run(c.plan, ctx, db) },
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
					return run(model.Concat(bareLefts.InsertMany([]barePeer{bare}), bareRights.InsertMany([]barePeer{{ID: "r", Peers: []string{"l"}}, {ID: "s"}})), ctx, db)
				},
				Run:   func(ctx context.Context, db *mongo.Database) error { return run(c.plan, ctx, db) },
				Check: func(t testing.TB, db *mongo.Database) { wantNoHalfPeers(t, db, barePeers) },
			})
		})
	}
}

// A repair that is cut at any write and run again ends right.
func TestManyToManyRepairFaults(t *testing.T) {
	parallel(t)
	for _, trust := range []relate.Side{relate.TrustRefs, relate.TrustLists} {
		t.Run(fmt.Sprint("trust ", trust), func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return store(ctx, db, docs{"lefts": {peer("l", "left", "lost"), peer("m")}, "rights": {peer("left"), peer("right", "m", "nobody")}})
				},
				Run:   mending(trustingPeers(trust).Checks()),
				Check: func(t testing.TB, db *mongo.Database) { wantNoHalfPeers(t, db, barePeers) },
			})
		})
	}
}
