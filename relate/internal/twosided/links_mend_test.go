package twosided_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A repair of versioned links that is cut at any write and run again ends in what the deciding side says, no more and no less.
func TestVersionedRepairFaults(t *testing.T) {
	testkit.Parallel(t)
	link := func(id string, v int64, op int) relate.Link[string] {
		return relate.Link[string]{ID: id, V: v, Op: testkit.Token(op)}
	}
	cases := []struct {
		reason        string
		before, after testkit.Docs
		mend          func(ctx context.Context, db *mongo.Database) error
	}{
		{
			"one to many",
			testkit.Docs{
				"owners": {linkOwner{"a", []relate.Link[string]{link("x", 2, 2), link("x", 1, 1), link("gone", 1, 5)}}, linkOwner{ID: "b"}},
				"items":  {linkItem{"x", link("a", 2, 2)}, linkItem{"y", link("b", 3, 3)}, linkItem{"z", link("nowhere", 1, 4)}},
			},
			testkit.Docs{
				"owners": {linkOwner{"a", []relate.Link[string]{link("x", 2, 2)}}, linkOwner{"b", []relate.Link[string]{link("y", 3, 3)}}},
				"items": {linkItem{"x", link("a", 2, 2)}, linkItem{"y", link("b", 3, 3)}, bson.D{{Key: "_id", Value: "z"}, {Key: "owner", Value: bson.D{
					{Key: "id", Value: nil}, {Key: "v", Value: int64(2)}, {Key: "op", Value: testkit.Token(4)}, {Key: "ended", Value: true},
				}}}},
			},
			testkit.MendedAll(linkWay.Checks()),
		},
		{
			"many to many",
			peers(linkPeer{ID: "l", Peers: []relate.Link[string]{link("r", 1, 1), link("s", 2, 2), link("gone", 3, 3)}, V: 3},
				linkPeer{ID: "r", Peers: []relate.Link[string]{link("l", 1, 1), link("l", 0, 8)}}, linkPeer{ID: "s"}),
			peers(linkPeer{ID: "l", Peers: []relate.Link[string]{link("r", 1, 1), link("s", 2, 2)}, V: 4},
				linkPeer{ID: "r", Peers: []relate.Link[string]{link("l", 1, 1)}}, linkPeer{ID: "s", Peers: []relate.Link[string]{link("l", 2, 2)}}),
			testkit.MendedAll(linkPeers.Checks()),
		},
		{
			"an assignment that finishes what a dead one left on two lists",
			testkit.Docs{
				"owners": {
					linkOwner{"a", []relate.Link[string]{link("x", 3, 9)}},
					linkOwner{"b", []relate.Link[string]{link("x", 2, 8), link("y", 1, 7)}}, linkOwner{"c", []relate.Link[string]{link("x", 1, 6)}},
				},
				"items": {linkItem{"x", link("a", 3, 9)}, linkItem{"y", link("b", 1, 7)}},
			},
			testkit.Docs{
				"owners": {
					linkOwner{"a", []relate.Link[string]{link("x", 3, 9)}}, linkOwner{"b", []relate.Link[string]{link("y", 1, 7)}}, emptied("c"),
				},
				"items": {linkItem{"x", link("a", 3, 9)}, linkItem{"y", link("b", 1, 7)}},
			},
			func(ctx context.Context, db *mongo.Database) error {
				return testkit.Exec(ctx, db, linkWay.Assign(&linkItem{"x", link("a", 3, 9)}, "a", testkit.Token(1)))
			},
		},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Sample: 4,
				Seed:   func(ctx context.Context, db *mongo.Database) error { return testkit.Store(ctx, db, c.before) },
				Run:    c.mend,
				Check:  func(t testing.TB, db *mongo.Database) { testkit.WantDocsInAnyOrder(t, db, c.after) },
			})
		})
	}
}

// A halfLink is the detail of a finding of relations that both sides store.
type halfLink struct {
	List  bool          `bson:"list"`
	A     string        `bson:"a"`
	B     string        `bson:"b"`
	V     int64         `bson:"v"`
	Op    bson.ObjectID `bson:"op"`
	Now   int64         `bson:"now"`
	Gone  bool          `bson:"gone"`
	Names []string      `bson:"names"`
	Kept  bool          `bson:"kept"`
}

// wantRefusedFindings wants that a check of half-links mends nothing that it didn't find.
func wantRefusedFindings(t *testing.T, check model.Check) {
	t.Helper()
	whole := testkit.FoundAs(t, check, bson.D{{Key: "a", Value: "a"}, {Key: "b", Value: "b"}})
	for reason, found := range map[string][]model.Finding{
		"another check's": {{Check: "another", Detail: whole[0].Detail}}, "without a detail": {{Check: check.Name}},
		"without an id": testkit.FoundAs(t, check, bson.D{{Key: "a", Value: "a"}}), "without ids": testkit.FoundAs(t, check, bson.D{}),
	} {
		t.Run(reason, func(t *testing.T) { testkit.WantError(t, check.Mend(found).Err(), testkit.ErrRefused) })
	}
	if err := check.Mend(whole).Err(); err != nil {
		t.Error(err)
	}
}
