package spread_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// What isn't in its part is found. What can't be told is left; what changed since it was found isn't touched.
func TestCheck(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, docs{"events": {
			bson.D{e("_id", "a"), e("day", "d#999"), e("user", "u")},
			bson.D{e("_id", "b"), e("day", "d"), e("user", "u")},
			bson.D{e("_id", "c"), e("day", "d#1"), e("user", "u")}, bson.D{e("_id", "d"), e("day", 5), e("user", "u")},
			bson.D{e("_id", "e"), e("day", "d#001")}, bson.D{e("_id", "f"), e("user", "u")},
			bson.D{e("_id", "g"), e("day", "#001"), e("user", "u")},
		}})
		key, err := byUser.Key("d", "u")
		if err != nil {
			t.Fatal(err)
		}
		check := byUser.Checks()[0]
		found, said := testkit.FindingsOf(t, db, check)
		want := []string{
			fmt.Sprintf("events 'a': is under 'd#999', but belongs under '%s'", key),
			fmt.Sprintf("events 'b': is under 'd', but belongs under '%s'", key),
			"events 'c': 'd#1' isn't a value with a part",
			"events 'd': 5 isn't a value with a part", "events 'e': has no user, which chooses its part",
			"events 'g': '#001' isn't a value with a part",
		}
		if !slices.Equal(said, want) {
			t.Errorf("%q\nwant %q", said, want)
		}
		if _, err := db.Collection("events").
			UpdateByID(t.Context(), "a", bson.D{e("$set", bson.D{e("day", "x#001")})}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			testkit.MustExec(t, db, check.Mend(found))
		}
		testkit.WantList(t, ids(t, db, events.Find(bson.D{e("day", key)})), []string{"b"})
		testkit.WantList(t, ids(t, db, events.Find(bson.D{e("day", "x#001")})), []string{"a"})
		testkit.WantRefusedFindings(t, check)
		testkit.WantDistinctChecks(t, byUser.Checks(), 1)
	})
}

// The move of documents can be cut anywhere, and others insert meanwhile.
func TestMoves(t *testing.T) {
	testkit.Parallel(t)
	right := func(n int) func(t testing.TB, db *mongo.Database) {
		return func(t testing.TB, db *mongo.Database) {
			testkit.WantList(t, ids(t, db, five.Find("d", nil)), newest(n))
			for i := range n {
				testkit.WantList(t, ids(t, db, five.Point("d", fmt.Sprint("e", i))), []string{fmt.Sprint("e", i)})
			}
		}
	}
	testkit.RunFaults(t, map[string]modeltest.FaultCase{
		"move": {
			Seed: insertEvents(four, 0, 6),
			Run:  testkit.InBatchesOf(2, five.Checks()[0].Job()),
			Check: func(t testing.TB, db *mongo.Database) {
				right(6)(t, db)
				testkit.WantNothingFound(t, db, five.Checks())
			},
		},
	})
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Sample: 2, Match: testkit.Interleaved, Seed: insertEvents(four, 0, 4),
		A: testkit.InBatchesOf(2, five.Checks()[0].Job()), B: insertEvents(five, 4, 6),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			testkit.StaleOrNil(t, errA, errB)
			right(6)(t, db)
		},
	})
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Sample: 2, Match: mongotest.All, Seed: insertEvents(four, 0, 4),
		A: testkit.InBatchesOf(2, five.Checks()[0].Job()),
		B: func(ctx context.Context, db *mongo.Database) error {
			got, token := []string{}, ""
			for {
				page, err := five.Find("d", nil).Limited(2).Page(ctx, db, token)
				if err != nil {
					return err
				}
				got = append(got, testkit.IDsOf(page.Docs, func(x event) string { return x.ID })...)
				if token = page.Next; token == "" {
					break
				}
			}
			if !slices.Equal(got, newest(4)) {
				return fmt.Errorf("read %v", got)
			}
			return nil
		},
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			testkit.StaleOrNil(t, errA, errB)
			right(4)(t, db)
		},
	})
}
