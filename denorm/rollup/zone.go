package rollup

// This file finds where hours, days and months begin and end in a time zone. Clocks are
// put forward and back, in some zones at midnight, and a zone can leave out a whole day.
// A bin always ends where the next one begins.

import "time"

// A binUnit is the length of a bin. The values are those of denorm.Period.
type binUnit uint8

const (
	daily   binUnit = 1
	monthly binUnit = 2
	hourly  binUnit = 3
)

// units are all units, the finest first.
var units = []binUnit{hourly, daily, monthly}

// String returns the unit as bins store it.
func (u binUnit) String() string {
	switch u {
	case hourly:
		return "hour"
	case daily:
		return "day"
	case monthly:
		return "month"
	}
	return ""
}

// findStart returns the time at which the bin of a time begins.
func (u binUnit) findStart(t time.Time, zone *time.Location) time.Time {
	if u == hourly {
		return findHourStart(t, zone)
	}
	// A month begins with its first day, whatever that day's first moment is.
	year, month, day := findDay(t, zone)
	if u == monthly {
		day = 1
	}
	return findMidnight(year, month, day, zone)
}

// findNextStart returns the time at which the next bin begins.
func (u binUnit) findNextStart(t time.Time, zone *time.Location) time.Time {
	if u == hourly {
		return findHourEnd(t, zone)
	}
	year, month, day := findDay(t, zone)
	for n := 1; ; n++ { // a day that a zone has left out begins when the next one does
		d, m := day+n, month
		if u == monthly {
			d, m = 1, month+time.Month(n)
		}
		if end := findMidnight(year, m, d, zone); end.After(t) {
			return end
		}
	}
}

// findHourStart returns the last full hour of the clock, or the moment at which the clock
// was changed since then.
func findHourStart(t time.Time, zone *time.Location) time.Time {
	t = t.In(zone)
	start := truncateToHour(t)
	if changed, _ := t.ZoneBounds(); changed.After(start) && readOffset(changed.Add(-1)) != readOffset(t) {
		return changed
	}
	return start
}

// findHourEnd returns the next full hour of the clock, or the moment at which the clock
// is changed before it.
func findHourEnd(t time.Time, zone *time.Location) time.Time {
	t = t.In(zone)
	end := truncateToHour(t).Add(time.Hour)
	if _, changed := t.ZoneBounds(); !changed.IsZero() && changed.Before(end) && readOffset(changed) != readOffset(t) {
		return changed
	}
	return end
}

// truncateToHour removes the minutes of a time. time.Truncate works in UTC, and zones can
// have an offset of half an hour.
func truncateToHour(t time.Time) time.Time {
	minutes := time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second
	return t.Add(-minutes - time.Duration(t.Nanosecond()))
}

// readOffset returns a time's offset from UTC, in seconds.
func readOffset(t time.Time) int {
	_, n := t.Zone()
	return n
}

// findDay returns the day to which a time belongs. A clock that is put back over midnight
// shows the day before once more: that hour belongs to the day that has begun.
func findDay(t time.Time, zone *time.Location) (int, time.Month, int) {
	year, month, day := t.In(zone).Date()
	if begun := findMidnight(year, month, day+1, zone); !begun.After(t) {
		return time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC).Date()
	}
	return year, month, day
}

// findMidnight returns the first moment at which clocks show the beginning of a day. If
// they skip it, it is the moment at which they skip.
func findMidnight(year int, month time.Month, day int, zone *time.Location) time.Time {
	wall := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	// Clocks 36 hours earlier and later show the offsets before and after a change at
	// midnight.
	before, after := readOffset(wall.Add(-36*time.Hour).In(zone)), readOffset(wall.Add(36*time.Hour).In(zone))
	early, late := wall.Add(-time.Duration(max(before, after))*time.Second),
		wall.Add(-time.Duration(min(before, after))*time.Second)
	for _, t := range []time.Time{early.In(zone), late.In(zone)} {
		if t.Add(time.Duration(readOffset(t)) * time.Second).UTC().Equal(wall) {
			return t
		}
	}
	changed, _ := late.In(zone).ZoneBounds()
	return changed
}
