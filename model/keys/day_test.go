package keys_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/modeltest"
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

func day(t testing.TB, s string) keys.Day {
	t.Helper()
	d, err := keys.ParseDay(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Days have the hours that clocks gave them.
func TestDayBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, place, day string
		from               string // in UTC
		hours              float64
	}{
		{"a day in UTC", "UTC", "2026-11-21", "2026-11-21T00:00:00Z", 24},
		{"far east", "Pacific/Kiritimati", "2026-11-21", "2026-11-20T10:00:00Z", 24},
		{"far west", "Etc/GMT+12", "2026-11-21", "2026-11-21T12:00:00Z", 24},
		{"clocks are put forward", "Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", 23},
		{"clocks are put back", "Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", 25},
		{"by half an hour", "Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00:00Z", 24.5},
		{"forward at midnight: the day begins at one", "America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z", 23},
		{"back at midnight: its last hour comes twice", "America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00:00Z", 25},
		{"across the date line: no such day", "Pacific/Apia", "2011-12-30", "", 0},
		{"the day before it", "Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00Z", 24},
		{"the day after it", "Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z", 24},
		{"across the other way: the day came twice", "Pacific/Kwajalein", "1969-09-30", "1969-09-29T13:00:00Z", 47},
		{"a whole day was left out", "Pacific/Kwajalein", "1993-08-21", "", 0},
		{"back across midnight: two pieces", "America/St_Johns", "2010-11-06", "2010-11-06T02:30:00Z", 25},
	} {
		from, to, exists := day(t, c.day).Bounds(dayIn(t, c.place))
		if exists != (c.from != "") {
			t.Errorf("%s: exists %v", c.reason, exists)
		}
		if !exists {
			continue
		}
		if got := from.UTC().Format(time.RFC3339); got != c.from || to.Sub(from).Hours() != c.hours {
			t.Errorf("%s: from %s, %v", c.reason, got, to.Sub(from))
		}
	}
}

// Each moment is within its day's bounds, and those are as narrow as can be.
func TestDayOfMoments(t *testing.T) {
	t.Parallel()
	for _, place := range []string{
		"UTC", "Europe/Berlin", "America/Sao_Paulo", "America/St_Johns", "Pacific/Apia", "Pacific/Kwajalein", "Asia/Manila", "America/Juneau",
	} {
		l := dayIn(t, place)
		for _, start := range []time.Time{
			time.Date(2010, 11, 5, 0, 0, 0, 0, time.UTC), time.Date(2011, 12, 28, 0, 0, 0, 0, time.UTC), time.Date(2018, 11, 2, 0, 0, 0, 0, time.UTC),
			time.Date(1993, 8, 19, 0, 0, 0, 0, time.UTC), time.Date(1969, 9, 28, 0, 0, 0, 0, time.UTC), time.Date(1844, 12, 29, 0, 0, 0, 0, time.UTC),
			time.Date(1867, 10, 16, 0, 0, 0, 0, time.UTC),
		} {
			seen := map[keys.Day]bool{}
			for at := start; at.Before(start.Add(5 * 24 * time.Hour)); at = at.Add(10 * time.Minute) {
				d := keys.DayOf(at, l)
				from, to, exists := d.Bounds(l)
				if !exists || at.Before(from) || !at.Before(to) {
					t.Fatalf("%s: %s belongs to %s, whose bounds are %s and %s", place, at, d, from, to)
				}
				if keys.DayOf(from, l) != d || keys.DayOf(to.Add(-1), l) != d || keys.DayOf(from.Add(-1), l) == d || keys.DayOf(to, l) == d {
					t.Fatalf("%s: the bounds of %s are not %s and %s", place, d, from, to)
				}
				seen[d] = true
			}
			for d := keys.DayOf(start, l).Next(); d != keys.DayOf(start.Add(5*24*time.Hour), l); d = d.Next() {
				if _, _, exists := d.Bounds(l); exists != seen[d] {
					t.Errorf("%s: %s exists %v, was seen %v", place, d, exists, seen[d])
				}
			}
		}
	}
}

func TestDayCalendar(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"2026-11-21", "2026-11-22"}, {"2026-12-31", "2027-01-01"}, {"2024-02-28", "2024-02-29"}, {"2026-02-28", "2026-03-01"},
		{"2026-03-29", "2026-03-30"}, {"2011-12-29", "2011-12-30"}, {"0000-01-01", "0000-01-02"},
	} {
		d, next := day(t, c[0]), day(t, c[1])
		if d.Next() != next || next.Previous() != d || d.String() != c[0] || d.Compare(next) >= 0 || next.Compare(d) <= 0 || d.Compare(d) != 0 {
			t.Errorf("%s: %s, %s", d, d.Next(), next.Previous())
		}
	}
	if got := day(t, "2026-01-31").AddDays(-31 * 3); got.String() != "2025-10-30" {
		t.Error(got)
	}
	for _, bad := range []string{
		"", "2026-11-2", "2026-11-021", "2026-13-01", "2026-00-01", "2026-02-29", "2026-11-31", "+026-11-21", "2026/11/21", "2026-11-21 ", "２０２６-11-21", "-001-01-01",
	} {
		d, err := keys.ParseDay(bad)
		if seqRefused(t, bad, err); d.Valid() {
			t.Errorf("%q gives %s", bad, d)
		}
	}
	if (keys.Day{}).Valid() || (keys.Day{10000, 1, 1}).Valid() || (keys.Day{-1, 1, 1}).Valid() {
		t.Error("a day that is not one is valid")
	}
}

// Buckets of days: keys, ranges, what is packed and what isn't.
func TestSequenceDays(t *testing.T) {
	seqParallel(t)
	samoa := dayIn(t, "Pacific/Apia")
	local := keys.NewSequence(seqMails, seqCounters, keys.SequenceSpec{Digits: 4, Days: seqDays, Location: samoa})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		if err := model.Indexes(local).Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		start := time.Date(2011, 12, 29, 11, 0, 0, 0, time.UTC) // 2011-12-29 01:00 in Samoa
		for _, owner := range seqHostile {
			for n := range int64(6) {
				at := start.Add(time.Duration(n) * 12 * time.Hour)
				plan := model.NewPlan(local.Insert(owner, n+1, seqMail{}), local.Pack(owner, n+1, at), local.Pack(owner, n+1, at))
				if _, err := plan.Run(ctx, db); err != nil {
					t.Fatal(err)
				}
			}
		}
		daysOf := func(owner string, f model.Find[keys.DayBucket]) (got []string) {
			t.Helper()
			list, err := f.All(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range list {
				of, d, err := local.ParseDayKey(b.ID)
				if err != nil || of != owner || len(b.Keys) != 2 {
					t.Errorf("%+v: %q, %v", b, of, err)
				}
				got = append(got, d.String())
			}
			return got
		}
		for _, owner := range seqHostile {
			for _, c := range []struct {
				reason string
				f      model.Find[keys.DayBucket]
				want   []string
			}{
				{"all", local.Days(owner, day(t, "2011-12-01"), day(t, "2012-01-31")), []string{"2011-12-29", "2011-12-31", "2012-01-01"}},
				{"one", local.Day(owner, day(t, "2011-12-31")), []string{"2011-12-31"}},
				{"the day before", local.DaysBefore(owner, day(t, "2011-12-31")).Limited(1), []string{"2011-12-29"}},
				{"the day after", local.DaysAfter(owner, day(t, "2011-12-29")).Limited(1), []string{"2011-12-31"}},
				{"none after", local.DaysAfter(owner, day(t, "2012-01-01")), nil},
			} {
				if got := daysOf(owner, c.f); !slices.Equal(got, c.want) {
					t.Errorf("%s of %q: %v, want %v", c.reason, owner, got, c.want)
				}
			}
			b, err := local.Day(owner, day(t, "2011-12-31")).One(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			if got := seqGot(t, db, local, owner, local.Packed(b)); !slices.Equal(got, []int64{3, 4}) {
				t.Errorf("%q: %v", owner, got)
			}
		}
		seqStore(t, db, local, "a", 7, 8)
		if _, err := local.Unpack("a", 1, start).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		// A document may have any fields.
		own := bson.D{{Key: "$set", Value: bson.D{{Key: "keysOfDays", Value: 5}, {Key: "doc", Value: 6}, {Key: "day", Value: bson.A{}}}}}
		if _, err := db.Collection("mail").UpdateByID(ctx, "a_0001", own); err != nil {
			t.Fatal(err)
		}
		raw, err := model.Aggregate[bson.M]{Aggregation: local.Unpacked("a").Aggregation}.All(ctx, db)
		if err != nil || len(raw) != 3 || fmt.Sprint(raw[0]["keysOfDays"], raw[0]["doc"], raw[0]["day"]) != "5 6 []" {
			t.Errorf("unpacked: %v, %v", raw, err)
		}
		left, err := local.Unpacked("a").All(ctx, db)
		if err != nil || len(left) != 3 || left[0].ID != "a_0001" || left[2].ID != "a_0008" {
			t.Errorf("unpacked: %v, %v", left, err)
		}
	})
	for _, err := range []error{
		seqPlain.Pack("a", 1, time.Now()).Err, seqPlain.Day("a", day(t, "2026-11-21")).Err, seqPlain.Unpacked("a").Err,
		local.Day("a", keys.Day{Year: 2026, Month: 2, Day: 30}).Err, local.Days("", day(t, "2026-11-21"), day(t, "2026-11-21")).Err,
		local.Pack("a", 1, time.Date(10000, 1, 2, 0, 0, 0, 0, time.UTC)).Err,
	} {
		seqRefused(t, "days", err)
	}
	for _, bad := range []string{"", "a", "a_2026-02-30", "a_b_2026-11-21", "_2026-11-21", "%_2026-11-21", "a_000000000000000001"} {
		owner, d, err := local.ParseDayKey(bad)
		if seqRefused(t, bad, err); owner != "" || d != (keys.Day{}) {
			t.Errorf("%q gives %q and %s", bad, owner, d)
		}
	}
}
