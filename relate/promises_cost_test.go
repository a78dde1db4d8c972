package relate_test

import (
	"context"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// promised is an operation, and what its comment says that it costs.
type promised struct {
	reason                      string
	commands, written, returned int
	run                         func(ctx context.Context, db *mongo.Database) error
}

func wantPromised(t *testing.T, m *modeltest.Monitor, db *mongo.Database, before docs, cases []promised) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			seed(t, db, before)
			modeltest.WantCost(t, m, model.Cost{Commands: c.commands, Written: c.written, Returned: c.returned},
				func() error { return c.run(t.Context(), db) })
		})
	}
}

// allOf runs a query, and reads all that it finds.
func allOf[R any](q interface {
	All(context.Context, *mongo.Database) ([]R, error)
}) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error { _, err := q.All(ctx, db); return err }
}

func ran(p model.Plan) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error { return run(p, ctx, db) }
}

// What links that are documents cost.
func TestJoinCollectionCosts(t *testing.T) {
	parallel(t)
	l1, l4 := like("l1", "ann", 1, 1), like("l4", "bob", 1, 3)
	before := docs{
		"users": {fan{ID: "ann"}, fan{ID: "bob"}, fan{ID: "cid"}}, "items": {thing{1, "one"}, thing{2, "two"}},
		"likes": {l1, like("l2", "ann", 2, 2), l4},
	}
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		wantIndexes(t, db, likes)
		wantPromised(t, m, db, before, []promised{
			{"Link", 1, 1, 0, ran(one(likes.Link(like("n", "cid", 1, 9))))},
			{"Link, stored before", 2, 0, 1, ran(one(likes.Link(l1)))},
			{"LinkAll", 1, 2, 0, ran(likes.LinkAll([]liking{like("n", "cid", 1, 9), like("o", "cid", 2, 9)}))},
			{"Ensure", 1, 1, 0, ran(one(likes.Ensure(like("n", "cid", 1, 9))))},
			{"Unlink", 1, 1, 0, ran(one(likes.Unlink("bob", 1)))},
			{"UnlinkLeft", 1, 2, 0, ran(one(likes.UnlinkLeft("ann")))},
			{"UnlinkRight", 1, 2, 0, ran(one(likes.UnlinkRight(1)))},
			{"Update", 1, 1, 0, ran(one(likes.Update("bob", 1, bson.D{{Key: "$inc", Value: bson.D{{Key: "stars", Value: 1}}}})))},
			{"Move", 1, 1, 0, ran(one(likes.Move(&l4, "cid", 2)))},
			{"Pair", 1, 0, 1, allOf(likes.Pair("bob", 1))},
			{"OfLeft", 1, 0, 2, allOf(likes.OfLeft("ann"))},
			{"OfRight", 1, 0, 2, allOf(likes.OfRight(1))},
			{"LeftsOf", 1, 0, 2, allOf(likes.LeftsOf(1, relate.LinkPage[liking]{}))},
			{"LeftCounts", 1, 0, 2, allOf(likes.LeftCounts("ann", "bob", "cid"))},
			{"RightCounts", 1, 0, 2, allOf(likes.RightCounts(1, 2, 3))},
		})
	}, modeltest.WithMonitor(m))
}

// What joins of several levels, checks and their repairs cost.
func TestChecksCost(t *testing.T) {
	parallel(t)
	main := int64(1)
	parents := []joinParent{{ID: 1, Kids: []int64{1, 2}}, {ID: 2, Kids: []int64{2}}}
	join := relate.NewJoin(joinParents, "kids", joinKids, relate.JoinSpec{Batch: 1})
	loader := relate.NewParentRef(joinParents, "main", joinKids).Loader(0)
	invert := newInvert(relate.InvertSpec{Order: "at"})
	lost := relate.NewDangling(crates, "tags", tags, relate.DanglingSpec{Repair: relate.DetachIDs})
	lostNow := lost.Checks()[0]
	lostNow.Age = 0
	before := docs{
		"kids": {joinKid{ID: 1}, joinKid{ID: 2}}, "parents": {joinParent{ID: 8, Kids: []int64{1}, Main: &main}, joinParent{ID: 9, Main: &main}},
		"owners": {lister("a", "lost", "free"), lister("b")}, "items": {bareItem{ID: "free"}, bareItem{ID: "alone", Owner: "b"}},
		"lefts": {peer("l", "left", "gone")}, "rights": {peer("left"), peer("right", "l")},
		"crates": {crate{ID: "1", Tags: []string{"x", "a"}}, crate{ID: "2", Tags: []string{"x"}}}, "tags": {tag{ID: "a"}},
		"p": {bson.D{{Key: "_id", Value: "a"}, {Key: "list", Value: bson.A{1, 2}}}, bson.D{{Key: "_id", Value: "b"}, {Key: "list", Value: bson.A{2}}}},
		"c": {bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "_id", Value: 2}}}, "nodes": {node{ID: "b", Parent: "a"}},
		"docmodel.migrations": {bson.D{{Key: "_id", Value: "to refs: p.list > c.of.parent"}, {Key: "copying", Value: true}}},
	}
	mends := func(checks []model.Check) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			for _, c := range checks {
				found, err := c.All(ctx, db)
				if err != nil {
					return err
				}
				if _, err := c.Mend(found).Run(ctx, db); err != nil {
					return err
				}
			}
			return nil
		}
	}
	aged := bareWay.Checks()[0]
	aged.Age = time.Millisecond
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		wantPromised(t, m, db, before, []promised{
			{"a stream in batches of one parent", 2, 0, 3, func(ctx context.Context, db *mongo.Database) error {
				for _, err := range join.Each(ctx, db, func(yield func(joinParent, error) bool) {
					_ = yield(parents[0], nil) && yield(parents[1], nil)
				}) {
					if err != nil {
						return err
					}
				}
				return nil
			}},
			{"a join as a pipeline", 1, 0, 2, allOf(join.Pipeline(nil))},
			{"two levels", 2, 0, 2 + 2, func(ctx context.Context, db *mongo.Database) error {
				_, err := relate.Then(join, loader).Load(ctx, db, parents)
				return err
			}},
			{"children of parents in memory", 1, 0, 2, func(ctx context.Context, db *mongo.Database) error {
				_, err := loader.Load(ctx, db, []joinKid{{ID: 1}, {ID: 2}})
				return err
			}},
			// Each check's findings are one run, those of the left side two: one is taken off, one added.
			{"half-links mended", 2 + 2, 3, 3, mends(bareWay.Checks())},
			{"half-links of many mended", 2 + 3, 3, 3, mends(barePeers.Checks())},
			// Two owners are read, looked at twice and mended; two reads find no more.
			{"half-links of bare ids mended by a job, after an age", 1 + 2 + 1 + 2, 2, 2 + 2*2, func(ctx context.Context, db *mongo.Database) error {
				_, err := aged.Job().Run(ctx, db, model.JobOptions{})
				return err
			}},
			{"ids detached", 1 + 1, 2, 2, mends(lost.Checks())},
			// A batch's read, look and write, and two reads that find no more.
			{"ids detached by a job", 3 + 2, 2, 2 + 2, func(ctx context.Context, db *mongo.Database) error {
				_, err := lostNow.Job().Run(ctx, db, model.JobOptions{})
				return err
			}},
			{"what a child can't hold", 1, 0, 1, allOf(invert.Conflicts())},
			{"forms compared", 1, 0, 2, allOf(invert.ToRefs().Verify())},
			{"a migration begun anew", 1, 1, 0, ran(one(invert.ToRefs().Restart()))},
			// What is gone is asked for, and two levels read; one command deletes the late one.
			{"a sweep", 1 + 2 + 1, 1, 1, func(ctx context.Context, db *mongo.Database) error {
				reach := relate.Reach{Levels: []relate.ReachLevel{{Collection: "nodes", IDs: []bson.RawValue{rawValue("a")}}}}
				_, _, err := relate.NewOnDelete(nodes, relate.Cascade(ofParent)).Sweep(reach).Run(ctx, db)
				return err
			}},
		})
	}, modeltest.WithMonitor(m))
}
