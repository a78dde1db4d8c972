package expr

import (
	"math"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// dateMath computes with dates and units of time, by the calendar of a time zone.
var dateMath = table{
	"$dateAdd":      parseDateAdd(1),
	"$dateSubtract": parseDateAdd(-1),
	"$dateDiff":     parseDateDiff,
	"$dateTrunc":    parseDateTrunc,
}

var units = []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"}

// lengths are the units that are the same length always, in milliseconds.
var lengths = map[string]int64{"hour": 3_600_000, "minute": 60_000, "second": 1000, "millisecond": 1}

// dateUnit evaluates a unit: "" for null.
func dateUnit(name string, c *Context, e Expr) (string, error) {
	v, err := e.Eval(c)
	if err != nil || bsonval.IsNullish(v) {
		return "", err
	}
	unit, ok := v.(string)
	switch {
	case !ok:
		return "", mongoerr.New(5439013, "%s requires 'unit' to be a string, but got %s", name, bsonval.TypeName(v))
	case !slices.Contains(units, unit):
		return "", mongoerr.New(mongoerr.FailedToParse,
			"%s parameter 'unit' value parsing failed :: caused by :: unknown time unit value: %s", name, unit)
	}
	return unit, nil
}

func parseDateAdd(sign int64) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		parts, err := fields(name, arg, s, ofDateAdd, "startDate!", "unit!", "amount!", "timezone")
		if err != nil {
			return nil, err
		}
		return function(func(c *Context) (any, error) { // what is null makes null before a wrong type is an error
			start, err := parts["startDate"].Eval(c)
			if err != nil || bsonval.IsNullish(start) {
				return nil, err
			}
			unit, err := dateUnit(name, c, parts["unit"])
			if err != nil || unit == "" {
				return nil, err
			}
			v, err := parts["amount"].Eval(c)
			if err != nil || bsonval.IsNullish(v) {
				return nil, err
			}
			loc, null, err := location(c, parts["timezone"])
			if err != nil || null {
				return nil, err
			}
			t, err := timeOf(start)
			if err != nil {
				return nil, mongoerr.New(5166403, "%s requires startDate to be convertible to a date", name)
			}
			t = t.In(loc)
			n, ok := bsonval.Int64(v)
			if !ok {
				return nil, mongoerr.New(5166405, "%s expects integer amount of time units", name)
			}
			return addUnits(name, t, unit, sign*n)
		}), nil
	}
}

func addUnits(name string, t time.Time, unit string, n int64) (any, error) {
	if ms, ok := lengths[unit]; ok {
		span, fits := bsonval.Mul(n, ms)
		total, fits2 := bsonval.Add(span, t.UnixMilli())
		if !fits || !fits2 {
			return nil, mongoerr.New(5166406, "%s overflowed", name)
		}
		return bson.DateTime(total.(int64)), nil
	}
	if limit := farthest[unit]; n > limit || n < -limit {
		return nil, mongoerr.New(5976500, "invalid %s 'amount' parameter value: %d %s",
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
		return nil, mongoerr.New(5166406, "%s overflowed", name)
	}
	return bson.NewDateTimeFromTime(t), nil
}

// farthest is how many of the longer units may be added: what dates can be apart, the range of 64 bits of milliseconds.
var farthest = map[string]int64{"year": 584_942_417, "quarter": 4 * 584_942_417, "month": 12 * 584_942_417,
	"week": 30_500_568_904, "day": 213_503_982_334}

// addMonths stays within the month that it reaches: 31 January plus one month is the last of February.
func addMonths(t time.Time, n int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, t.Hour(), t.Minute(), t.Second(),
		t.Nanosecond(), t.Location())
	last := time.Date(first.Year(), first.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return time.Date(first.Year(), first.Month(), min(t.Day(), last), t.Hour(), t.Minute(), t.Second(),
		t.Nanosecond(), t.Location())
}

var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// weekStart evaluates startOfWeek: 0 for Sunday, the default.
func weekStart(name string, c *Context, e Expr) (int64, bool, error) {
	v, err := part(c, e, "sunday")
	if err != nil || bsonval.IsNullish(v) {
		return 0, err == nil, err
	}
	s, ok := v.(string)
	if !ok {
		return 0, false, mongoerr.New(5439015, "%s requires 'startOfWeek' to be a string, but got %s",
			name, bsonval.TypeName(v))
	}
	for i, day := range weekdays {
		if strings.EqualFold(s, day) || strings.EqualFold(s, day[:3]) {
			return int64(i), false, nil
		}
	}
	return 0, false, mongoerr.New(mongoerr.FailedToParse, "unknown day of week value: %s", s)
}

func parseDateDiff(name string, arg any, s Scope) (Expr, error) {
	parts, err := fields(name, arg, s, ofDateDiff, "startDate!", "endDate!", "unit!", "timezone", "startOfWeek")
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) {
		for _, part := range []string{"startDate", "endDate"} {
			if v, err := parts[part].Eval(c); err != nil || bsonval.IsNullish(v) {
				return nil, err // before either is converted
			}
		}
		notDate := func(part string) func(any) error {
			return func(v any) error {
				return mongoerr.New(5166307, "$dateDiff requires '%s' to be a date, but got %s", part, bsonval.TypeName(v))
			}
		}
		from, null, err := localDateOr(c, parts["startDate"], parts["timezone"], notDate("startDate"))
		if null || err != nil {
			return nil, err
		}
		to, null, err := localDateOr(c, parts["endDate"], parts["timezone"], notDate("endDate"))
		if null || err != nil {
			return nil, err
		}
		unit, err := dateUnit(name, c, parts["unit"])
		if err != nil || unit == "" {
			return nil, err
		}
		start := int64(0)
		if unit == "week" {
			if start, null, err = weekStart(name, c, parts["startOfWeek"]); null || err != nil {
				return nil, err
			}
		}
		return boundary(to, unit, start) - boundary(from, unit, start), nil
	}), nil
}

// boundary returns how many starts of the unit have passed since a fixed one.
func boundary(t time.Time, unit string, start int64) int64 {
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

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func parseDateTrunc(name string, arg any, s Scope) (Expr, error) {
	parts, err := fields(name, arg, s, ofDateTrunc, "date!", "unit!", "binSize", "timezone", "startOfWeek")
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) {
		t, null, err := localDateOr(c, parts["date"], parts["timezone"], func(v any) error {
			return mongoerr.New(5439012, "%s requires 'date' to be a date, but got %s", name, bsonval.TypeName(v))
		})
		if null || err != nil {
			return nil, err
		}
		unit, err := dateUnit(name, c, parts["unit"])
		if err != nil || unit == "" {
			return nil, err
		}
		v, err := part(c, parts["binSize"], int32(1))
		if err != nil || bsonval.IsNullish(v) {
			return nil, err
		}
		size, ok := bsonval.Int64(v)
		switch {
		case !ok:
			return nil, mongoerr.New(5439017, "%s requires 'binSize' to be a 64-bit integer, but got value '%s' of type %s",
				name, Show(v), bsonval.TypeName(v))
		case size <= 0:
			return nil, mongoerr.New(5439018, "%s requires 'binSize' to be greater than 0, but got value %d", name, size)
		case size > math.MaxInt32:
			return nil, mongoerr.New(mongoerr.NotImplemented,
				"%s with a binSize beyond %d isn't implemented by the embedded engine", name, math.MaxInt32)
		}
		start := int64(0)
		if unit == "week" {
			if start, null, err = weekStart(name, c, parts["startOfWeek"]); null || err != nil {
				return nil, err
			}
		}
		return bson.NewDateTimeFromTime(truncate(t, unit, size, start)), nil
	}), nil
}

// truncate returns the start of the bin; bins are counted from 2000-01-01 in the time zone.
func truncate(t time.Time, unit string, size, start int64) time.Time {
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
