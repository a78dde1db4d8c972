package joincollection_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What a write does to the links of seedLikes, outside transactions.
func TestJoinCollectionWrite(t *testing.T) {
	testkit.Parallel(t)
	unlinkAll := func(w model.Write) testkit.DBFunc { return testkit.Doing(w) }
	for _, c := range []struct {
		reason string
		run    testkit.DBFunc
		want   string // the links that differ: +stored, -gone; what Stars became
		err    error
		cost   model.Cost
	}{
		{
			"a new pair", testkit.Changed(likeStore.Insert(like("l7", "cid", 1, 9))), "+l7:cid-1", nil,
			model.Cost{Commands: 3, Written: 1},
		},
		{
			"the pair under another id", testkit.Changed(likeStore.Insert(like("l7", "bob", 1, 9))), "", model.ErrTaken,
			model.Cost{Commands: 3},
		},
		{
			"another pair under its id", testkit.Changed(likeStore.Insert(like("l4", "cid", 1, 9))), "", model.ErrTaken,
			model.Cost{Commands: 4},
		},
		{
			"its own link again", testkit.Changed(likeStore.Insert(like("l4", "bob", 1, 3))), "", nil,
			model.Cost{Commands: 4},
		},
		{"a list", testkit.Changed(
			likeStore.InsertMany(like("l7", "cid", 1, 9), like("l8", "bob", 2, 9)),
		), "+l7:cid-1 +l8:bob-2", nil,
			model.Cost{Commands: 3, Written: 2}},
		{"a list with a pair that is linked", testkit.Changed(
			likeStore.InsertMany(like("l7", "cid", 1, 9), like("l8", "bob", 1, 9), like("l9", "cid", 2, 9)),
		),
			"+l7:cid-1", model.ErrTaken, model.Cost{Commands: 3, Written: 1}},
		{
			"a missing left document", testkit.Changed(likeStore.Insert(like("l7", "gone", 2, 9))), "",
			model.ErrNotFound, model.Cost{Commands: 2},
		},
		{
			"a missing right document", testkit.Changed(likeStore.Insert(like("l7", "cid", 9, 9))), "",
			model.ErrNotFound, model.Cost{Commands: 2},
		},
		{
			"ensure a new pair", testkit.Changed(ensure(like("l7", "cid", 1, 9))), "+l7:cid-1", nil,
			model.Cost{Commands: 4, Written: 1},
		},
		{
			"ensure a pair that is linked", testkit.Changed(ensure(like("l7", "bob", 1, 9))), "", nil,
			model.Cost{Commands: 1},
		},
		{
			"ensure under a taken id", testkit.Changed(ensure(like("l4", "cid", 1, 9))), "", model.ErrTaken,
			model.Cost{Commands: 10},
		},
		{
			"unlink", testkit.Changed(likeStore.DeleteOne(pairOf("bob", 1))), "-l4:bob-1", nil,
			model.Cost{Commands: 1, Written: 1},
		},
		{
			"unlink what isn't linked", testkit.Changed(likeStore.DeleteOne(pairOf("bob", 2))), "", model.ErrNotFound,
			model.Cost{Commands: 1},
		},
		{
			"unlink a whole side", unlinkAll(likes.Left.Unlink("ann")), "-l1:ann-1 -l2:ann-2 -l3:ann-3 -l6:ann-9",
			nil, model.Cost{Commands: 1, Written: 4},
		},
		{
			"unlink the other side", unlinkAll(likes.Right.Unlink(1)), "-l1:ann-1 -l4:bob-1 -l5:gone-1", nil,
			model.Cost{Commands: 1, Written: 3},
		},
		{"update", testkit.Changed(rate("bob", 1, 5)), "stars 5", nil, model.Cost{Commands: 1, Written: 1}},
		{
			"update what isn't linked", testkit.Changed(rate("bob", 2, 5)), "", model.ErrNotFound,
			model.Cost{Commands: 1},
		},
		{
			"other ids", testkit.Changed(likeStore.SetOne(pairOf("bob", 1), pairOf("cid", 2))), "+l4:cid-2 -l4:bob-1",
			nil, model.Cost{Commands: 4, Written: 1},
		},
		{
			"the ids of another link", testkit.Changed(likeStore.SetOne(pairOf("bob", 1), pairOf("ann", 2))), "",
			model.ErrTaken, model.Cost{Commands: 5},
		},
		{"the id of a missing document", testkit.Changed(
			likeStore.SetOne(pairOf("bob", 1), bson.D{{Key: "user", Value: "gone"}}),
		), "",
			model.ErrNotFound, model.Cost{Commands: 2}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			m := mongotest.NewMonitor()
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				ctx := testkit.MustSeed(t, db, seedLikes)
				before := linkIDs(t, db)
				var err error
				cost, _ := modeltest.Measure(m, func() error { err = c.run(ctx, db); return nil })
				if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
					t.Errorf("error %v", err)
				}
				if !tenancy.On && (cost.Commands != c.cost.Commands || cost.Written != c.cost.Written) {
					t.Errorf("cost %v, want %v", cost, c.cost)
				}
				if got := changes(before, linkIDs(t, db), starsOf(t, db)); got != c.want {
					t.Errorf("changed %q, want %q", got, c.want)
				}
			}, m)
		})
	}
}

// The error of a taken pair names it.
func TestJoinCollectionTaken(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := testkit.MustSeed(t, db, seedLikes)
		_, _, err := likeStore.Insert(like("l7", "bob", 1, 9)).Run(ctx, db)
		if want := "taken already (likes {user: 'bob', item: Long('1')} is stored already)"; err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	})
}

func TestJoinCollectionRefuses(t *testing.T) {
	testkit.Parallel(t)
	noTime := liking{ID: "l", User: "ann", Item: 1}
	for _, c := range []struct {
		reason, want string
		err          error
	}{
		{"an empty id of a side", "user: is empty: give an id", likes.Left.Unlink("").Err},
		{"an empty id to read", "user: is empty: give an id", likes.Left.Others("", nil, 0).Err},
		{"no id to count", "no id was given: give at least one", likes.Left.Counts().Err},
		{
			"a page after a link without its order's value", "has no value at at",
			likes.Left.Others("ann", &noTime, 0).Err,
		},
		{"a negative page", "limit", likes.Left.Others("ann", nil, -1).Err},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.reason, c.err, c.want)
		}
	}
}
