package keys_test

import (
	"math"
	"testing"

	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Counters that are behind, missing or damaged are found, all of them, and raised to where they belong.
func TestSequenceCheckAndRepair(t *testing.T) {
	seqParallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		lasts := []any{int64(3), int64(12), int64(13), int64(100), int32(11), int32(12), "text", 12.0, int64(-1), nil, int64(1 << 40)}
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
		behind, err := seqDaily.Check().All(ctx, db)
		if err != nil || len(behind) != len(want) {
			t.Fatalf("%d behind, want %d: %v, %v", len(behind), len(want), behind, err)
		}
		for _, d := range behind {
			if !want[d.Owner] || d.Newest != 12 {
				t.Errorf("%q: %+v", d.Owner, d)
			}
		}
		before, err := modeltest.Dump(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		gaps, err := seqDaily.Gaps().All(ctx, db)
		if err != nil || len(gaps) != len(seqHostile) || gaps[0].N != 3 || gaps[0].Newest != 12 {
			t.Errorf("gaps: %v, %v", gaps, err)
		}
		for range 2 {
			if _, err := seqDaily.Repair(behind).Run(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		for owner := range want {
			seqWantCounter(t, db, owner, int64(12))
		}
		if after, err := modeltest.Dump(ctx, db); err != nil || after == before {
			t.Error("nothing was repaired", err)
		}
		if again, err := seqDaily.Check().All(ctx, db); err != nil || len(again) > 0 {
			t.Errorf("still behind: %v, %v", again, err)
		}
		if _, err := seqDaily.Raise("a_", 5).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		for _, foreign := range []any{"a_1", "a_00012", "a_0012\n", "b", "%_0012", int64(5), bson.D{{Key: "a", Value: 1}}} {
			if _, err := db.Collection("mail").InsertOne(ctx, bson.D{{Key: "_id", Value: foreign}}); err != nil {
				t.Fatal(err)
			}
		}
		f := seqDaily.Foreign()
		if n, err := f.Count(ctx, db); err != nil || n != 7 {
			t.Errorf("%d foreign, %v", n, err)
		}
		if again, err := seqDaily.Check().All(ctx, db); err != nil || len(again) > 0 {
			t.Errorf("foreign keys count: %v, %v", again, err)
		}
	})
}

// The same for owners that are integers.
func TestSequenceCheckOfIntegers(t *testing.T) {
	seqParallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		for _, owner := range []int64{-5, 0, 7, math.MinInt64} {
			if _, err := seqByNumber.Insert(owner, 20, seqMail{}).Run(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Collection("mail").InsertOne(ctx, bson.D{{Key: "_id", Value: "9999999999999999999_020"}}); err != nil {
			t.Fatal(err) // whose owner is no int64
		}
		if _, err := seqByNumber.Raise(7, 20).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		behind, err := seqByNumber.Check().All(ctx, db)
		if err != nil || len(behind) != 3 {
			t.Fatalf("%v, %v", behind, err)
		}
		if _, err := seqByNumber.Repair(behind).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if behind, err = seqByNumber.Check().All(ctx, db); err != nil || len(behind) > 0 {
			t.Errorf("%v, %v", behind, err)
		}
		if n, err := seqByNumber.Allocator(db, 1).Next(ctx, -5); n != 21 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	})
}
