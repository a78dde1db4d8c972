package join_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/join"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Kids 1 and 2 of group 1 exist, and kid 3 of group 2; kid 4 doesn't.
var (
	someKids   = testkit.Docs{"kids": {joinKid{ID: 1, Group: 1}, joinKid{ID: 2, Group: 1}, joinKid{ID: 3, Group: 2}}}
	ofSomeKids = []joinParent{{ID: 1, Kids: []int64{4, 3, 2, 1}}, {ID: 2, Kids: []int64{1}}}
	inGroup    = join.New(
		joinParents, "kids", joinKids, join.Spec{Filter: bson.D{{Key: "group", Value: 1}}, ChunkIDs: 2},
	)
)

// joinedKids are the kids of each parent, and the missing ids.
func joinedKids(all []join.Joined[joinParent, joinKid, int64]) (out []string) {
	for _, j := range all {
		kids := testkit.IDsOf(j.Children, func(k joinKid) int64 { return k.ID })
		out = append(out, fmt.Sprint(j.Parent.ID, kids, j.Missing))
	}
	return out
}

// A join whose process dies, or whose command fails, returns no part of the result. The next one returns all of it.
func TestJoinCut(t *testing.T) {
	testkit.Parallel(t)
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Match: mongotest.All, Seed: testkit.Stored(someKids),
		Run: func(ctx context.Context, db *mongo.Database) error {
			all, err := inGroup.Load(ctx, db, ofSomeKids)
			if err != nil && all != nil {
				return errors.Join(err, fmt.Errorf("a part is returned: %v", all))
			}
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			testkit.WantDocs(t, db, someKids)
			all, err := inGroup.Load(context.Background(), db, ofSomeKids)
			if err != nil {
				t.Fatal(err)
			}
			testkit.WantList(t, joinedKids(all), []string{"1 [2 1] [4]", "2 [1] []"})
		},
	})
}

// A kid that is stored or deleted while a join loads is a child of all its parents or of none, and is never both a
// child and missing.
func TestJoinInterleaved(t *testing.T) {
	testkit.Parallel(t)
	for _, other := range []struct {
		reason string
		write  testkit.DBFunc
		want   []string
	}{
		{
			"a kid is stored", testkit.Stored(testkit.Docs{"kids": {joinKid{ID: 4, Group: 1}}}),
			[]string{"[1 [2 1] [4] 2 [1] []]", "[1 [4 2 1] [] 2 [1] []]", "[1 [2 1] [] 2 [1] []]"},
		},
		{"a kid is deleted", func(ctx context.Context, db *mongo.Database) error {
			_, err := joinKids.Delete(1).Run(ctx, db)
			return err
		},
			[]string{"[1 [2 1] [4] 2 [1] []]", "[1 [2] [4 1] 2 [] [1]]"}},
	} {
		t.Run(other.reason, func(t *testing.T) {
			seen := map[string]bool{}
			var got string
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Seed: testkit.Stored(someKids), B: other.write,
				A: func(ctx context.Context, db *mongo.Database) error {
					all, err := inGroup.Load(ctx, db, ofSomeKids)
					got = fmt.Sprint(joinedKids(all))
					return err
				},
				Check: func(t testing.TB, _ *mongo.Database, errA, errB error) {
					if errA != nil || errB != nil {
						t.Errorf("%v; %v", errA, errB)
					}
					seen[got] = true
				},
			})
			for _, want := range other.want {
				if !seen[want] {
					t.Errorf("no order gave %s", want)
				}
				delete(seen, want)
			}
			if len(seen) > 0 {
				t.Errorf("gave %v", seen)
			}
		})
	}
}

// What a list can hold beside ids of children: a pipeline passes over it.
func TestJoinPipelineOddLists(t *testing.T) {
	tenancy.Differs(t, "it runs a pipeline by itself, which nothing puts under the scope")
	testkit.Parallel(t)
	j := join.New(joinParents, "kids", joinKids, join.Spec{})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, someKids)
		for reason, c := range map[string]struct {
			list any
			want []int64
		}{
			"duplicates are kept":        {bson.A{int64(2), int64(1), int64(2)}, []int64{2, 1, 2}},
			"only ids that lead nowhere": {bson.A{int64(7), int64(8)}, nil},
			"an empty list":              {bson.A{}, nil},
			"a list that is null":        {nil, nil},
			"a null among the ids":       {bson.A{int64(1), nil, int64(2)}, []int64{1, 2}},
			"an id of another type":      {bson.A{"1", int64(2)}, []int64{2}},
		} {
			t.Run(reason, func(t *testing.T) {
				parent := testkit.D("_id", int64(1), "kids", c.list)
				testkit.SeedAlone(t, db, testkit.Docs{"parents": {parent}, "kids": someKids["kids"]})
				cur, err := db.Collection("parents").Aggregate(t.Context(), j.Pipeline(nil).Pipeline)
				if err != nil {
					t.Fatal(err)
				}
				var got []struct {
					Parent   bson.D    `bson:"parent"`
					Children []joinKid `bson:"children"`
				}
				if err := cur.All(t.Context(), &got); err != nil || len(got) != 1 {
					t.Fatalf("%v, %v", got, err)
				}
				testkit.WantList(t, testkit.IDsOf(got[0].Children, func(k joinKid) int64 { return k.ID }), c.want)
				if diff := mongotest.Diff(parent, got[0].Parent); diff != "" {
					t.Error(diff)
				}
			})
		}
	})
}

// Children with their parent, the join of a single id: no parent where the reference is missing, a missing id where it
// leads nowhere.
func TestJoinPipelineOfParents(t *testing.T) {
	testkit.Parallel(t)
	one, gone := int64(1), int64(9)
	j := join.New(joinParents, "main", joinKids, join.Spec{})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(
			t, db,
			testkit.Docs{
				"kids":    someKids["kids"],
				"parents": {joinParent{ID: 1, Main: &one}, joinParent{ID: 2}, joinParent{ID: 3, Main: &gone}},
			},
		)
		testkit.WantList(
			t, joinedKids(testkit.All(t, db, j.Pipeline(nil))), []string{"1 [1] []", "2 [] []", "3 [] [9]"},
		)
	})
}
