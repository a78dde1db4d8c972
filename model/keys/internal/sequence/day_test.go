package sequence_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func dayIn(t testing.TB, name string) *time.Location {
	t.Helper()
	l, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Buckets of days: keys, ranges, what is packed and what isn't.
func TestSequenceDays(t *testing.T) {
	testkit.Parallel(t)
	samoa := dayIn(t, "Pacific/Apia")
	local := keys.NewSequence(seqMails, seqCounters, keys.SequenceSpec{Digits: 4, Days: seqDays, Location: samoa})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		if err := model.New("test", local).Indexes().Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		start := time.Date(2011, 12, 29, 11, 0, 0, 0, time.UTC) // 2011-12-29 01:00 in Samoa
		for _, owner := range seqHostile {
			for n := range int64(6) {
				at := start.Add(time.Duration(n) * 12 * time.Hour)
				seqStore(t, db, local, owner, n+1)
				plan := model.NewPlan(local.Days.Pack(owner, n+1, at), local.Days.Pack(owner, n+1, at))
				if _, err := plan.Run(ctx, db); err != nil {
					t.Fatal(err)
				}
			}
		}
		daysOf := func(owner string, f *model.Find[keys.DayBucket]) (got []string) {
			t.Helper()
			list, err := f.All(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range list {
				of, d, err := local.Days.Parse(b.ID)
				if err != nil || of != owner || len(b.Keys) != 2 {
					t.Errorf("%+v: %q, %v", b, of, err)
				}
				got = append(got, d)
			}
			return got
		}
		for _, owner := range seqHostile {
			for _, c := range []struct {
				reason string
				f      *model.Find[keys.DayBucket]
				want   []string
			}{
				{"all", local.Days.Range(owner, "2011-12-01", "2012-01-31"),
					[]string{"2011-12-29", "2011-12-31", "2012-01-01"}},
				{"one", local.Days.Range(owner, "2011-12-31", "2011-12-31"), []string{"2011-12-31"}},
				{"the day before", local.Days.Before(owner, "2011-12-31").Limited(1), []string{"2011-12-29"}},
				{"the day after", local.Days.After(owner, "2011-12-29").Limited(1), []string{"2011-12-31"}},
				{"none after", local.Days.After(owner, "2012-01-01"), nil},
			} {
				if got := daysOf(owner, c.f); !slices.Equal(got, c.want) {
					t.Errorf("%s of %q: %v, want %v", c.reason, owner, got, c.want)
				}
			}
			b, err := local.Days.Range(owner, "2011-12-31", "2011-12-31").One(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			if got := seqGot(t, db, local, owner, local.Days.Packed(b)); !slices.Equal(got, []int64{3, 4}) {
				t.Errorf("%q: %v", owner, got)
			}
		}
		seqStore(t, db, local, "a", 7, 8)
		if _, err := local.Days.Unpack("a", 1, start).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		// A document may have any fields.
		own := bson.D{{
			Key:   "$set",
			Value: bson.D{{Key: "keysOfDays", Value: 5}, {Key: "doc", Value: 6}, {Key: "day", Value: bson.A{}}},
		}}
		if _, err := db.Collection("mail").UpdateByID(ctx, "a_0001", own); err != nil {
			t.Fatal(err)
		}
		raw, err := (&model.Aggregate[bson.M]{Aggregation: local.Days.Unpacked("a").Aggregation}).All(ctx, db)
		if err != nil || len(raw) != 3 || fmt.Sprint(raw[0]["keysOfDays"], raw[0]["doc"], raw[0]["day"]) != "5 6 []" {
			t.Errorf("unpacked: %v, %v", raw, err)
		}
		left, err := local.Days.Unpacked("a").All(ctx, db)
		if err != nil || len(left) != 3 || left[0].ID != "a_0001" || left[2].ID != "a_0008" {
			t.Errorf("unpacked: %v, %v", left, err)
		}
	})
	for _, err := range []error{
		seqPlain.Days.Pack("a", 1, time.Now()).Err, seqPlain.Days.Range("a", "2026-11-21", "2026-11-21").Err,
		seqPlain.Days.Unpacked("a").Err,
		seqPlain.Days.Packed(keys.DayBucket{Keys: []string{"a"}}).Err,
		local.Days.Range("a", "2026-02-30", "2026-02-30").Err, local.Days.Range("", "2026-11-21", "2026-11-21").Err,
		local.Days.Pack("a", 1, time.Date(10000, 1, 2, 0, 0, 0, 0, time.UTC)).Err,
	} {
		testkit.WantValueError(t, "days", err)
	}
	for _, bad := range []string{
		"", "2026-11-2", "2026-11-021", "2026-13-01", "2026-00-01", "2026-02-29", "2026-11-31", "+026-11-21",
		"2026/11/21", "2026-11-21 ", "２０２６-11-21", "-001-01-01",
	} {
		testkit.WantValueError(t, bad, local.Days.Range("a", bad, bad).Err)
	}
	for _, good := range []string{"0000-01-01", "2024-02-29", "9999-12-31"} {
		if f := local.Days.Range("a", good, good); f.Err != nil {
			t.Error(f.Err)
		}
	}
	for _, bad := range []string{
		"", "a", "a_2026-02-30", "a_b_2026-11-21", "_2026-11-21", "%_2026-11-21", "a_000000000000000001",
	} {
		owner, d, err := local.Days.Parse(bad)
		if testkit.WantValueError(t, bad, err); owner != "" || d != "" {
			t.Errorf("%q gives %q and %s", bad, owner, d)
		}
	}
}
