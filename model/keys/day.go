package keys

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/docmodel/docmodel/model"
)

// A Day is a day of the calendar, in no time zone: 2026-11-21. Its arithmetic is the calendar's, and knows nothing of clocks that are
// put forward or back; [DayOf] and [Day.Bounds] say which moments it has somewhere. Days are compared with == and [Day.Compare].
// The zero Day is not valid.
type Day struct {
	Year  int // 0 to 9999
	Month time.Month
	Day   int
}

// DayOf is the day that a moment belongs to where the clocks show location's time; a nil location means UTC.
func DayOf(t time.Time, location *time.Location) Day {
	if location == nil {
		location = time.UTC
	}
	y, m, d := t.In(location).Date()
	return Day{y, m, d}
}

// ParseDay reads a day as [Day.String] writes it, four digits for the year. For other strings, and for days that no calendar has
// (2026-02-29), it returns a [*model.ValueError].
func ParseDay(s string) (Day, error) {
	var d Day
	if len(s) == len("2006-01-02") && s[4] == '-' && s[7] == '-' {
		year, errY := strconv.ParseUint(s[:4], 10, 16)
		month, errM := strconv.ParseUint(s[5:7], 10, 8)
		day, errD := strconv.ParseUint(s[8:], 10, 8)
		d = Day{int(year), time.Month(month), int(day)}
		if errY == nil && errM == nil && errD == nil && d.Valid() {
			return d, nil
		}
	}
	return Day{}, &model.ValueError{Field: "day", Value: s, Reason: "is no day as 2006-01-02"}
}

// Valid reports whether the calendar has the day, within the years 0 to 9999.
func (d Day) Valid() bool { return d.Year >= 0 && d.Year <= 9999 && d.AddDays(0) == d }

// String is the day as 2006-01-02; as text, days sort as they follow each other.
func (d Day) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day) }

// AddDays is the day n days later by the calendar, or earlier, for a negative n.
func (d Day) AddDays(n int) Day {
	y, m, day := time.Date(d.Year, d.Month, d.Day+n, 0, 0, 0, 0, time.UTC).Date()
	return Day{y, m, day}
}

// Next is the day after d by the calendar. A place may not have had it: see [Day.Bounds].
func (d Day) Next() Day { return d.AddDays(1) }

// Previous is the day before d by the calendar.
func (d Day) Previous() Day { return d.AddDays(-1) }

// Compare is negative when d is before e, positive when it is after it, and 0 for the same day.
func (d Day) Compare(e Day) int {
	return cmp.Or(cmp.Compare(d.Year, e.Year), cmp.Compare(d.Month, e.Month), cmp.Compare(d.Day, e.Day))
}

// Bounds are the moments from ≤ t < to that the day has in a location; nil means UTC. They are 24 hours apart, or 23 or 25 where
// the clocks are changed that day, or some other time. It is false where there was no such day: in Samoa none of 2011-12-30, when the
// country crossed the date line. Where clocks are put back across midnight (in St. John's, until 2011, by an hour at one minute past)
// the end of one day and the beginning of the next mix: then the bounds of the two overlap, and [DayOf] says whose a moment is.
func (d Day) Bounds(location *time.Location) (from, to time.Time, exists bool) {
	if location == nil {
		location = time.UTC
	}
	midnight := time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)
	next := time.Date(d.Year, d.Month, d.Day+1, 0, 0, 0, 0, time.UTC)
	// No place was ever more than a day away from UTC. While an offset holds, the day's moments are one piece.
	for t := midnight.Add(-24 * time.Hour).In(location); t.Before(next.Add(24 * time.Hour)); {
		_, seconds := t.Zone()
		offset := time.Duration(seconds) * time.Second
		since, until := t.ZoneBounds()
		first, last := midnight.Add(-offset), next.Add(-offset)
		if !since.IsZero() && since.After(first) {
			first = since
		}
		if !until.IsZero() && until.Before(last) {
			last = until
		}
		if first.Before(last) {
			if !exists || first.Before(from) {
				from = first
			}
			if !exists || last.After(to) {
				to = last
			}
			exists = true
		}
		if until.IsZero() {
			break
		}
		t = until
	}
	return from.In(location), to.In(location), exists
}
