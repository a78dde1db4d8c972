package relate_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A sweep that is cut is completed by running it again with the same reach: it finds what came late, deepest first, and
// leaves what only referred to it.
func TestOnDeleteSweepFaults(t *testing.T) {
	parallel(t)
	way := relate.NewOnDelete(nodes, relate.Cascade(ofParent), relate.Nullify(inList)).Chunk(1)
	ids := func(names ...string) (out []bson.RawValue) {
		for _, name := range names {
			out = append(out, rawValue(name))
		}
		return out
	}
	// What a deletion of a reached: b below it, and c below b.
	reach := relate.Reach{Levels: []relate.ReachLevel{
		{Collection: "nodes", IDs: ids("a")}, {Depth: 1, Collection: "nodes", IDs: ids("b")}, {Depth: 2, Collection: "nodes", IDs: ids("c")},
	}}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		OnServer: 5,
		Seed:     nodeSeed("m<c n<m k<a o p:b,o q:n,p"), // they came while a was deleted
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, _, err := way.Sweep(reach).Run(ctx, db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			if got, want := nodesLeft(t, db), "o p:o q:p"; got != want {
				t.Errorf("left %s, want %s", got, want)
			}
		},
	})
}

// A repair of versioned links that is cut at any write and run again ends in what the deciding side says, no more and no less.
func TestVersionedRepairFaults(t *testing.T) {
	parallel(t)
	link := func(id string, v int64, op int) relate.Link[string] {
		return relate.Link[string]{ID: id, V: v, Op: token(op)}
	}
	cases := []struct {
		reason        string
		before, after docs
		mend          func(ctx context.Context, db *mongo.Database) error
	}{
		{
			"one to many",
			docs{
				"owners": {linkOwner{"a", []relate.Link[string]{link("x", 2, 2), link("x", 1, 1), link("gone", 1, 5)}}, linkOwner{ID: "b"}},
				"items":  {linkItem{"x", link("a", 2, 2)}, linkItem{"y", link("b", 3, 3)}, linkItem{"z", link("nowhere", 1, 4)}},
			},
			docs{
				"owners": {linkOwner{"a", []relate.Link[string]{link("x", 2, 2)}}, linkOwner{"b", []relate.Link[string]{link("y", 3, 3)}}},
				"items": {linkItem{"x", link("a", 2, 2)}, linkItem{"y", link("b", 3, 3)}, bson.D{{Key: "_id", Value: "z"}, {Key: "owner", Value: bson.D{
					{Key: "id", Value: nil}, {Key: "v", Value: int64(2)}, {Key: "op", Value: token(4)}, {Key: "ended", Value: true},
				}}}},
			},
			mending(linkWay.Checks()),
		},
		{
			"many to many",
			peers(linkPeer{ID: "l", Peers: []relate.Link[string]{link("r", 1, 1), link("s", 2, 2), link("gone", 3, 3)}, V: 3},
				linkPeer{ID: "r", Peers: []relate.Link[string]{link("l", 1, 1), link("l", 0, 8)}}, linkPeer{ID: "s"}),
			peers(linkPeer{ID: "l", Peers: []relate.Link[string]{link("r", 1, 1), link("s", 2, 2)}, V: 4},
				linkPeer{ID: "r", Peers: []relate.Link[string]{link("l", 1, 1)}}, linkPeer{ID: "s", Peers: []relate.Link[string]{link("l", 2, 2)}}),
			mending(linkPeers.Checks()),
		},
		{
			"an assignment that finishes what a dead one left on two lists",
			docs{
				"owners": {
					linkOwner{"a", []relate.Link[string]{link("x", 3, 9)}},
					linkOwner{"b", []relate.Link[string]{link("x", 2, 8), link("y", 1, 7)}}, linkOwner{"c", []relate.Link[string]{link("x", 1, 6)}},
				},
				"items": {linkItem{"x", link("a", 3, 9)}, linkItem{"y", link("b", 1, 7)}},
			},
			docs{
				"owners": {
					linkOwner{"a", []relate.Link[string]{link("x", 3, 9)}}, linkOwner{"b", []relate.Link[string]{link("y", 1, 7)}}, emptied("c"),
				},
				"items": {linkItem{"x", link("a", 3, 9)}, linkItem{"y", link("b", 1, 7)}},
			},
			func(ctx context.Context, db *mongo.Database) error {
				return run(linkWay.Assign(&linkItem{"x", link("a", 3, 9)}, "a", token(1)), ctx, db)
			},
		},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				OnServer: 4,
				Seed:     func(ctx context.Context, db *mongo.Database) error { return store(ctx, db, c.before) },
				Run:      c.mend,
				Check:    func(t testing.TB, db *mongo.Database) { wantDocs(t, db, c.after) },
			})
		})
	}
}

// A pass that keeps a checkpoint, of one collection or of two, goes on where it was cut, and leaves what one without leaves.
func TestPassCheckpointFaults(t *testing.T) {
	parallel(t)
	before := stored{
		"p": {`{"_id":"a","list":[3,1]}`, `{"_id":"b","list":[2]}`, `{"_id":"d","list":[5]}`},
		"c": {`{"_id":1}`, `{"_id":2}`, `{"_id":3}`, `{"_id":5}`},
	}
	after := stored{
		"p": {`{"_id":"a"}`, `{"_id":"b"}`, `{"_id":"d"}`},
		"c": {
			`{"_id":1,"of":{"parent":"a"},"at":1}`, `{"_id":2,"of":{"parent":"b"},"at":0}`, `{"_id":3,"of":{"parent":"a"},"at":0}`,
			`{"_id":5,"of":{"parent":"d"},"at":0}`,
		},
		"jobs": nil,
	}
	m := newInvert(relate.InvertSpec{Order: "at", BatchSize: 2}).ToRefs()
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		OnServer: 4,
		Seed:     before.insert,
		Run: func(ctx context.Context, db *mongo.Database) error {
			done, err := db.Collection("docmodel.migrations").CountDocuments(ctx, bson.D{{Key: "dropping", Value: true}})
			if err != nil {
				return err
			}
			kept := model.JobOptions{Checkpoint: "jobs"}
			if done == 0 { // else the copy was through
				if _, err := m.Copy().Run(ctx, db, kept); err != nil {
					return err
				}
			}
			_, err = m.Drop().Run(ctx, db, kept)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) { after.want(t, db) },
	})
}
