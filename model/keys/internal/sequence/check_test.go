package sequence_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// Counters that are behind, missing or damaged are found, all of them, and raised to where they belong.
func TestSequenceCheckAndRepair(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		lasts := []any{
			int64(3), int64(12), int64(13), int64(100), int32(11), int32(12), "text", 12.0, int64(-1), nil,
			int64(1 << 40),
		}
		want := map[string]bool{}
		for i, owner := range seqHostile {
			seqStore(t, db, seqDaily, owner, 1, 9, 12)
			if i == 0 {
				want[owner] = true // no counter at all
				continue
			}
			last := lasts[i%len(lasts)]
			seqSetCounter(t, db, owner, last)
			switch last {
			case int64(12), int64(13), int64(100), int32(12):
			default:
				want[owner] = true
			}
		}
		check, foreign := seqDaily.Checks()[0], seqDaily.Checks()[2]
		behind, err := check.All(ctx, db)
		if err != nil || len(behind) != len(want) {
			t.Fatalf("%d behind, want %d: %v, %v", len(behind), len(want), behind, err)
		}
		for _, f := range behind {
			owner, n, err := seqDaily.Parse(f.ID.StringValue())
			if err != nil || !want[owner] || n != 12 || f.Detail.Lookup("owner").StringValue() != owner ||
				!strings.Contains(f.Problem, "has number 12, but the counter holds ") {
				t.Errorf("%q: %v", owner, f)
			}
		}
		before, err := mongotest.Dump(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		gaps, err := seqDaily.Gaps().All(ctx, db)
		if err != nil || len(gaps) != len(seqHostile) || gaps[0].N != 3 || gaps[0].Newest != 12 {
			t.Errorf("gaps: %v, %v", gaps, err)
		}
		for range 2 {
			if _, err := check.Mend(behind).Run(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		for owner := range want {
			seqWantCounter(t, db, owner, int64(12))
		}
		if after, err := mongotest.Dump(ctx, db); err != nil || after == before {
			t.Error("nothing was repaired", err)
		}
		if again, err := check.All(ctx, db); err != nil || len(again) > 0 {
			t.Errorf("still behind: %v, %v", again, err)
		}
		if _, err := seqDaily.Raise("a_", 5).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		for _, id := range []any{"a_1", "a_00012", "a_0012\n", "b", "%_0012", int64(5), bson.D{{Key: "a", Value: 1}}} {
			if _, err := db.Collection("mail").InsertOne(ctx, bson.D{{Key: "_id", Value: id}}); err != nil {
				t.Fatal(err)
			}
		}
		is := func(f model.Finding) bool {
			return f.String() == "mail 'a_1': the _id isn't an owner, an underscore and a number of 4 digits"
		}
		if found, err := foreign.All(ctx, db); err != nil || len(found) != 7 || !slices.ContainsFunc(found, is) {
			t.Errorf("%d foreign, %v, %v", len(found), found, err)
		}
		if again, err := check.All(ctx, db); err != nil || len(again) > 0 {
			t.Errorf("foreign keys count: %v, %v", again, err)
		}
	})
}

// The same for owners that are integers.
func TestSequenceCheckOfIntegers(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		for _, owner := range []int64{-5, 0, 7, math.MinInt64} {
			if err := seqInsert(seqByNumber, owner, 20, seqMail{})(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Collection("mail").
			InsertOne(ctx, bson.D{{Key: "_id", Value: "9999999999999999999_020"}}); err != nil {
			t.Fatal(err) // whose owner is no int64
		}
		if _, err := seqByNumber.Raise(7, 20).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		check := seqByNumber.Checks()[0]
		behind, err := check.All(ctx, db)
		if err != nil || len(behind) != 3 {
			t.Fatalf("%v, %v", behind, err)
		}
		if _, err := check.Mend(behind).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if behind, err = check.All(ctx, db); err != nil || len(behind) > 0 {
			t.Errorf("%v, %v", behind, err)
		}
		if n, err := seqByNumber.Allocator(db, 1).Next(ctx, -5); n != 21 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	})
}

// What isn't a finding of the check is refused, and what nobody can mend has no job.
func TestSequenceMendRefuses(t *testing.T) {
	checks := seqPlain.Checks()
	for reason, f := range map[string]model.Finding{
		"no key":                    seqFinding(checks[0], bson.D{{Key: "newest", Value: 3}}),
		"a key of another sequence": seqFinding(checks[0], bson.D{{Key: "id", Value: "a_3"}}),
		"of another check":          seqFinding(checks[1], bson.D{{Key: "id", Value: "a_000000000000000003"}}),
		"no detail":                 {Check: checks[0].Name},
	} {
		t.Run(reason, func(t *testing.T) {
			var bad *model.ValueError
			if err := checks[0].Mend([]model.Finding{f}).Err(); !errors.As(err, &bad) {
				t.Errorf("taken: %v", err)
			}
		})
	}
	for _, c := range checks[1:] {
		if _, err := c.Job().Run(t.Context(), nil, model.JobOptions{}); err == nil || c.Mend != nil {
			t.Errorf("%s: is mended", c.Name)
		}
	}
}

func seqFinding(check model.Check, detail bson.D) model.Finding {
	raw, err := bson.Marshal(detail)
	if err != nil {
		panic(err)
	}
	return model.Finding{Check: check.Name, Collection: check.Collection, Detail: raw}
}

// A repair of counters that is cut is completed by running it again; no counter goes back.
func TestSequenceRepairFaults(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 4,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			for _, owner := range []string{"a", "b", "c", "d"} {
				if err := seqInsert(seqPlain, owner, 7, seqMail{})(ctx, db); err != nil {
					return err
				}
			}
			_, err := db.Collection("counters").InsertMany(ctx, []any{
				seqCounter{ID: "a", Last: 3}, bson.D{{Key: "_id", Value: "b"}, {Key: "last", Value: "x"}},
				seqCounter{ID: "d", Last: 9},
			})
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := seqPlain.Checks()[0].Job().Run(ctx, db, model.JobOptions{})
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			for owner, last := range map[string]int64{"a": 7, "b": 7, "c": 7, "d": 9} {
				seqWantCounter(t, db, owner, last)
			}
		},
	})
}
