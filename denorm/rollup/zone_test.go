package rollup

import (
	"math/rand/v2"
	"testing"
	"time"
)

var zones = []string{
	"UTC", "Europe/Amsterdam", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe",
	"America/St_Johns", "America/Sao_Paulo", "America/Havana", "Pacific/Apia", "Asia/Kathmandu", "Africa/Casablanca",
	"Pacific/Kwajalein", "Asia/Beirut", "America/Scoresbysund",
}

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Skip(err)
	}
	return zone
}

// Bins follow one another without gaps, begin where they say, and lie within the coarser ones.
func TestBinsTileTime(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range zones {
		zone := location(t, name)
		var moments []time.Time
		for at := time.Date(1880, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2040; {
			moments = append(moments, at.Add(time.Duration(r.Int64N(int64(60*24*time.Hour)))))
			_, changed := at.In(zone).ZoneBounds()
			if changed.IsZero() || changed.Year() >= 2040 {
				break
			}
			for range 12 {
				moments = append(moments, changed.Add(time.Duration(r.Int64N(int64(8*time.Hour)))-4*time.Hour))
			}
			moments = append(moments, changed, changed.Add(-time.Nanosecond))
			at = changed
		}
		for _, at := range moments {
			for i, u := range units {
				start, next := u.findStart(at, zone), u.findNextStart(at, zone)
				if start.After(at) || !next.After(at) || !u.findStart(start, zone).Equal(start) ||
					!u.findNextStart(start, zone).Equal(next) ||
					!u.findStart(next, zone).Equal(next) || !u.findStart(next.Add(-1), zone).Equal(start) {
					t.Fatalf("%s: the %s of %s is from %s to %s", name, u, at.In(zone), start, next)
				}
				if i > 0 {
					if finer := units[i-1]; !finer.findStart(start, zone).Equal(start) ||
						!finer.findStart(next, zone).Equal(next) {
						t.Fatalf("%s: the %s from %s to %s doesn't begin with the %s", name, u, start, next, finer)
					}
				}
				clock := start.In(zone)
				changed, _ := clock.ZoneBounds()
				if !changed.Equal(start) &&
					(clock.Minute() != 0 || clock.Second() != 0 || u != hourly && clock.Hour() != 0 ||
						u == monthly && clock.Day() != 1) {
					t.Fatalf("%s: the %s begins at %s", name, u, clock)
				}
			}
		}
	}
}

// The days and hours around a change of the clock.
func TestBinsAtClockChanges(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		zone, at     string
		day, hour    time.Duration // how long
		start, finer string        // when they begin
	}{
		{
			zone: "Europe/Amsterdam", at: "2026-10-25T00:30:00Z", day: 25 * time.Hour, hour: time.Hour,
			start: "2026-10-24T22:00:00Z", finer: "2026-10-25T00:00:00Z",
		},
		{
			zone: "Europe/Amsterdam", at: "2026-10-25T01:30:00Z", day: 25 * time.Hour, hour: time.Hour,
			start: "2026-10-24T22:00:00Z", finer: "2026-10-25T01:00:00Z",
		},
		{
			zone: "Europe/Amsterdam", at: "2026-03-29T12:00:00Z", day: 23 * time.Hour, hour: time.Hour,
			start: "2026-03-28T23:00:00Z", finer: "2026-03-29T12:00:00Z",
		},
		{
			zone: "America/New_York", at: "2026-11-01T06:15:00Z", day: 25 * time.Hour, hour: time.Hour,
			start: "2026-11-01T04:00:00Z", finer: "2026-11-01T06:00:00Z",
		},
		{
			zone: "Asia/Kolkata", at: "2026-06-01T10:00:00Z", day: 24 * time.Hour, hour: time.Hour,
			start: "2026-05-31T18:30:00Z", finer: "2026-06-01T09:30:00Z",
		},
		{
			zone: "Australia/Lord_Howe", at: "2026-04-04T15:10:00Z",
			day: 24*time.Hour + 30*time.Minute, hour: 30 * time.Minute, start: "2026-04-04T13:00:00Z",
			finer: "2026-04-04T15:00:00Z",
		},
		{
			zone: "Australia/Lord_Howe", at: "2026-10-03T15:40:00Z",
			day: 24*time.Hour - 30*time.Minute, hour: 30 * time.Minute, start: "2026-10-03T13:30:00Z",
			finer: "2026-10-03T15:30:00Z",
		},
		{
			zone: "America/Sao_Paulo", at: "2018-11-04T12:00:00Z", day: 23 * time.Hour, hour: time.Hour,
			start: "2018-11-04T03:00:00Z", finer: "2018-11-04T12:00:00Z",
		},
		{
			zone: "Pacific/Apia", at: "2011-12-30T09:00:00Z", day: 24 * time.Hour, hour: time.Hour,
			start: "2011-12-29T10:00:00Z", finer: "2011-12-30T09:00:00Z",
		},
	} {
		zone := location(t, test.zone)
		at, _ := time.Parse(time.RFC3339, test.at)
		day, hour := daily.findStart(at, zone), hourly.findStart(at, zone)
		if got := daily.findNextStart(at, zone).Sub(day); got != test.day || formatTime(day) != test.start {
			t.Errorf("%s: the day of %s begins at %s and has %s", test.zone, test.at, formatTime(day), got)
		}
		if got := hourly.findNextStart(at, zone).Sub(hour); got != test.hour || formatTime(hour) != test.finer {
			t.Errorf("%s: the hour of %s begins at %s and has %s", test.zone, test.at, formatTime(hour), got)
		}
	}
}

// A time is covered once, by the coarsest bins that fit.
func TestCover(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		x := &untypedRollup{levels: units[r.IntN(3):], zone: location(t, zones[r.IntN(5)])}
		from := x.finestUnit().findStart(time.Unix(1_700_000_000+r.Int64N(1e8), 0), x.zone)
		to := x.finestUnit().findNextStart(from.Add(time.Duration(r.Int64N(int64(100*24*time.Hour)))), x.zone)
		at := from
		spans := x.coverWithBins(len(x.levels)-1, from, to)
		for _, s := range spans {
			if !s.from.Equal(at) || !s.unit.findStart(s.from, x.zone).Equal(s.from) ||
				!s.unit.findStart(s.to, x.zone).Equal(s.to) {
				t.Fatalf("%s to %s is covered by %v", from, to, spans)
			}
			at = s.to
		}
		if !at.Equal(to) || len(spans) > 5 {
			t.Fatalf("%s to %s is covered by %v", from, to, spans)
		}
	}
}
