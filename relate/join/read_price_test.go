package join_test

import (
	"context"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/join"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A parent's newest child below each child of a join.
var (
	ofMain   = parentref.New(joinParents, "main", joinKids, parentref.Spec{})
	joined   = join.New(joinParents, "kids", joinKids, join.Spec{Batch: 1})
	filtered = join.New(
		joinParents, "kids", joinKids,
		join.Spec{
			Filter: bson.D{{Key: "group", Value: 1}}, Sort: bson.D{{Key: "name", Value: 1}, {Key: "_id", Value: 1}},
		},
	)
)

// loading is Load as an operation.
func loading[P, R any](l relate.Loader[P, R], parents ...P) testkit.DBFunc {
	return func(ctx context.Context, db *mongo.Database) error { _, err := l.Load(ctx, db, parents); return err }
}

// What joins of several levels cost.
func TestJoinPrices(t *testing.T) {
	testkit.Parallel(t)
	main := int64(1)
	parents := []joinParent{{ID: 1, Kids: []int64{1, 2}}, {ID: 2, Kids: []int64{2}}}
	stored := testkit.Docs{
		"kids":    {joinKid{ID: 1}, joinKid{ID: 2}},
		"parents": {joinParent{ID: 8, Kids: []int64{1}, Main: &main}, joinParent{ID: 9, Main: &main}},
	}
	testkit.WantPrices(t, testkit.Stored(stored),
		testkit.Does("a stream in batches of one parent", 2, 0, 3, func(ctx context.Context, db *mongo.Database) error {
			for _, err := range joined.Each(ctx, db, sequence(slices.Values(parents))) {
				if err != nil {
					return err
				}
			}
			return nil
		}),
		testkit.Reads("a join as a pipeline", 2, joined.Pipeline(nil)),
		testkit.Does("two levels", 2, 0, 2+2, loading(join.Then(joined, ofMain.Loader(0)), parents...)),
		testkit.Does(
			"children of parents in memory", 1, 0, 2, loading(ofMain.Loader(0), joinKid{ID: 1}, joinKid{ID: 2}),
		),
	)
}

// A join reads its children by _id, in every way there is: its queries, what Load sends, with a filter twice, its
// pipeline, and the
// levels below it by what each level's technique declares.
func TestJoinIndexed(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		all := testkit.Docs{}
		for i := range 2000 {
			main := int64(i % 500)
			all["kids"] = append(all["kids"], joinKid{ID: int64(i), Group: int32(i % 2), Name: "k"})
			all["parents"] = append(
				all["parents"], joinParent{ID: int64(i), Kids: []int64{int64(i), int64(i + 1)}, Main: &main},
			)
		}
		testkit.SeedAlone(t, db, all)
		testkit.EnsureIndexes(t, db, ofMain)
		parents := []joinParent{{ID: 1, Kids: []int64{1, 2}}, {ID: 7, Kids: []int64{2, 7777}}}
		one := bson.D{{Key: "_id", Value: int64(7)}}
		testkit.WantAllIndexed(t, db, []testkit.IndexedCase{
			{Reason: "Queries", Query: joined.Queries(parents)[0], Index: model.IDIndex},
			{Reason: "Queries with a filter", Query: filtered.Queries(parents)[0], Index: model.IDIndex},
			{Reason: "Pipeline", Query: joined.Pipeline(one), Index: model.IDIndex},
			{Reason: "Pipeline with a filter", Query: filtered.Pipeline(one), Index: model.IDIndex},
			{Reason: "what the next level looks up", Query: ofMain.Children(7), Index: "main_1__id_-1"},
		})
		reads := func(reason string, f testkit.DBFunc, indexes ...string) testkit.ReadCase {
			return testkit.ReadBy(reason, model.ChangeOf[any]{
				Read: func(ctx context.Context, db model.DB) (any, error) {
					return nil, f(ctx, core.Database(db))
				},
				Decide: func(any) (model.Plan, error) { return model.Plan{}, nil },
			}, indexes...)
		}
		testkit.WantReadsIndexed(t, db, m,
			reads("Load", loading(joined, parents...), model.IDIndex),
			reads("Load with a filter", loading(filtered, parents...), model.IDIndex, model.IDIndex),
			// both over the kids
			reads("levels", loading(join.Then(joined, ofMain.Loader(1)), parents...), model.IDIndex, model.IDIndex),
		)
	}, m)
}
