package rollup

import "time"

// A Unit is the length of a bin. The values are those of denorm.Period.
type Unit uint8

const (
	Daily   Unit = 1
	Monthly Unit = 2
	Hourly  Unit = 3
)

// units are all units, the finest first.
var units = []Unit{Hourly, Daily, Monthly}

func (u Unit) String() string {
	switch u {
	case Hourly:
		return "hour"
	case Daily:
		return "day"
	case Monthly:
		return "month"
	}
	return ""
}

// start is when the bin begins that a time falls into.
func (u Unit) start(t time.Time, zone *time.Location) time.Time {
	if u == Hourly {
		return hourStart(t, zone)
	}
	year, month, day := dayOf(t, zone)
	if u == Monthly {
		day = 1
	}
	return midnight(year, month, day, zone)
}

// next is when the bin after that of a time begins.
func (u Unit) next(t time.Time, zone *time.Location) time.Time {
	if u == Hourly {
		return hourEnd(t, zone)
	}
	year, month, day := dayOf(t, zone)
	for n := 1; ; n++ { // a day that a zone has left out begins when the next one does
		d, m := day+n, month
		if u == Monthly {
			d, m = 1, month+time.Month(n)
		}
		if end := midnight(year, m, d, zone); end.After(t) {
			return end
		}
	}
}

// hourStart is the last full hour of the clock, or the moment at which the clock was changed since.
func hourStart(t time.Time, zone *time.Location) time.Time {
	t = t.In(zone)
	start := fullHour(t)
	if changed, _ := t.ZoneBounds(); changed.After(start) && offset(changed.Add(-1)) != offset(t) {
		return changed
	}
	return start
}

// hourEnd is the next full hour of the clock, or the moment at which the clock is changed before.
func hourEnd(t time.Time, zone *time.Location) time.Time {
	t = t.In(zone)
	end := fullHour(t).Add(time.Hour)
	if _, changed := t.ZoneBounds(); !changed.IsZero() && changed.Before(end) && offset(changed) != offset(t) {
		return changed
	}
	return end
}

// fullHour takes the minutes off a time.
func fullHour(t time.Time) time.Time {
	return t.Add(-time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
}

func offset(t time.Time) int {
	_, n := t.Zone()
	return n
}

// dayOf is the day that a time belongs to. A clock that is put back over midnight shows the day before once more: that
// hour belongs to the day that has begun.
func dayOf(t time.Time, zone *time.Location) (int, time.Month, int) {
	year, month, day := t.In(zone).Date()
	if begun := midnight(year, month, day+1, zone); !begun.After(t) {
		return time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC).Date()
	}
	return year, month, day
}

// midnight is the first moment at which clocks show the beginning of a day. Where they skip it, it is the moment at which
// they skip.
func midnight(year int, month time.Month, day int, zone *time.Location) time.Time {
	wall := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	before, after := offset(wall.Add(-36*time.Hour).In(zone)), offset(wall.Add(36*time.Hour).In(zone))
	early, late := wall.Add(-time.Duration(max(before, after))*time.Second), wall.Add(-time.Duration(min(before, after))*time.Second)
	for _, t := range []time.Time{early.In(zone), late.In(zone)} {
		if t.Add(time.Duration(offset(t)) * time.Second).UTC().Equal(wall) {
			return t
		}
	}
	changed, _ := late.In(zone).ZoneBounds()
	return changed
}
