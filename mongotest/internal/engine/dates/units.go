package dates

import (
	"math"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// units are the names of the units of time.
var units = []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"}

// lengths are the milliseconds of the units that always have the same length.
var lengths = map[string]int64{"hour": 3_600_000, "minute": 60_000, "second": 1000, "millisecond": 1}

// AddUnits returns the date n units after t, before it if n is negative. name is the operator's with its $, for errors.
// Units of a day and longer are added by t's calendar and time zone, so that the time of day stays.
func AddUnits(name string, t time.Time, unit string, n int64) (bson.DateTime, error) {
	if ms, ok := lengths[unit]; ok {
		span, fits := bsonval.Mul(n, ms)
		total, fits2 := bsonval.Add(span, t.UnixMilli())
		if !fits || !fits2 {
			return 0, mongoerr.New(5166406, "%s overflowed", name)
		}
		return bson.DateTime(total.(int64)), nil
	}
	if limit := farthest[unit]; n > limit || n < -limit {
		return 0, mongoerr.New(5976500, "invalid %s 'amount' parameter value: %d %s",
			strings.TrimPrefix(name, "$"), n, unit)
	}
	switch unit {
	case "day":
		t = t.AddDate(0, 0, int(n))
	case "week":
		t = t.AddDate(0, 0, int(7*n))
	default:
		t = addMonths(t, int(n)*map[string]int{"month": 1, "quarter": 3, "year": 12}[unit])
	}
	if s := t.Unix(); s > math.MaxInt64/1000 || s < math.MinInt64/1000 {
		return 0, mongoerr.New(5166406, "%s overflowed", name)
	}
	return bson.NewDateTimeFromTime(t), nil
}

// farthest is how many of the longer units may be added: what dates can be apart, the range of 64 bits of milliseconds.
var farthest = map[string]int64{"year": 584_942_417, "quarter": 4 * 584_942_417, "month": 12 * 584_942_417,
	"week": 30_500_568_904, "day": 213_503_982_334}

// addMonths adds months to a date, and stays within the month that it reaches: 31 January plus one month is the last
// of February.
func addMonths(t time.Time, n int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, t.Hour(), t.Minute(), t.Second(),
		t.Nanosecond(), t.Location())
	last := time.Date(first.Year(), first.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return time.Date(first.Year(), first.Month(), min(t.Day(), last), t.Hour(), t.Minute(), t.Second(),
		t.Nanosecond(), t.Location())
}

// CountUnits returns how many units have begun since a fixed time. The difference of two counts is $dateDiff's result:
// it counts the borders between units that lie between two dates, so 23:59 and 00:01 are a day apart. start is the
// first day of a week, 0 for Sunday.
func CountUnits(t time.Time, unit string, start int64) int64 {
	year, month := int64(t.Year()), int64(t.Month())-1
	switch unit {
	case "year":
		return year
	case "quarter":
		return year*4 + month/3
	case "month":
		return year*12 + month
	case "week": // day 3 was a Sunday
		return floorDiv(localDays(t)-3-start, 7)
	case "day":
		return localDays(t)
	case "hour":
		// Zones may be off by half hours; a change of the offset isn't time that passes.
		_, offset := t.Zone()
		part := int64(offset%3600) * 1000
		return floorDiv(t.UnixMilli()+part, lengths[unit])
	}
	return floorDiv(t.UnixMilli(), lengths[unit])
}

// localDays returns the days from 1970-01-01 to the date on the calendar.
func localDays(t time.Time) int64 {
	return floorDiv(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).UnixMilli(), 86_400_000)
}

// floorDiv divides and rounds down, also below 0: dates before 1970 are negative.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// Truncate returns the start of the bin of size units in which t is, for $dateTrunc
// (https://www.mongodb.com/docs/manual/reference/operator/aggregation/dateTrunc/). Bins are counted from 2000-01-01 in
// the time zone, also backwards. start is the first day of a week, 0 for Sunday.
func Truncate(t time.Time, unit string, size, start int64) time.Time {
	loc := t.Location()
	origin := time.Date(2000, 1, 1, 0, 0, 0, 0, loc)
	bin := func(n int64) int { return int(floorDiv(n, size) * size) }
	switch unit {
	case "year":
		return time.Date(2000+bin(int64(t.Year())-2000), 1, 1, 0, 0, 0, 0, loc)
	case "quarter", "month":
		months := int64(t.Year()-2000)*12 + int64(t.Month()) - 1
		if unit == "quarter" {
			return time.Date(2000, time.Month(1+3*bin(floorDiv(months, 3))), 1, 0, 0, 0, 0, loc)
		}
		return time.Date(2000, time.Month(1+bin(months)), 1, 0, 0, 0, 0, loc)
	case "week":
		// 2000-01-01 was a Saturday; weeks count from the first that begins on or after it.
		first := (start + 1) % 7
		days := localDays(t) - localDays(origin) - first
		return time.Date(2000, 1, 1+int(first)+7*bin(floorDiv(days, 7)), 0, 0, 0, 0, loc)
	case "day":
		return time.Date(2000, 1, 1+bin(localDays(t)-localDays(origin)), 0, 0, 0, 0, loc)
	}
	length := size * lengths[unit]
	_, now := t.Zone()
	_, then := origin.Zone()
	shift := int64(now-then) * 1000 // bins follow the clock on the wall
	span := floorDiv(t.UnixMilli()+shift-origin.UnixMilli(), length) * length
	return time.UnixMilli(origin.UnixMilli() + span - shift).In(loc)
}

// IsUnit reports whether there is a unit of time of that name.
func IsUnit(name string) bool { return slices.Contains(units, name) }

// UnitLength returns the milliseconds of a unit, with 24 hours for a day. It is 0 for a unit longer than a week.
func UnitLength(unit string) int64 {
	switch unit {
	case "week":
		return 7 * 24 * lengths["hour"]
	case "day":
		return 24 * lengths["hour"]
	}
	return lengths[unit]
}

// AddToDate returns the date so many units later, by the calendar of UTC, as $dateAdd computes it. $densify and the
// windows of $setWindowFields call it, which have no time zone.
func AddToDate(d bson.DateTime, unit string, n int64) (bson.DateTime, error) {
	return AddUnits("$dateAdd", time.UnixMilli(int64(d)).UTC(), unit, n)
}
