package expr

// This file has the operators for one part of a date, and evaluates dates and time zones for all operators on dates. A
// date may also be a timestamp or an ObjectId, which have a time.

import (
	"strings"
	"time"
	_ "time/tzdata" // so that zones resolve on every machine

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
)

// dateParts are operators that return one part of a date: {$year: "$d"}, or {$hour: {date: "$d", timezone:
// "Europe/Berlin"}}. Weekdays begin at 1: with Sunday for $dayOfWeek, with Monday for $isoDayOfWeek.
//
//	{$dayOfWeek: ISODate("2024-02-29")}      →   5: a Thursday
//	{$isoDayOfWeek: ISODate("2024-02-29")}   →   4
//	{$dayOfYear: ISODate("2024-02-29")}      →   60
//	{$isoWeek: ISODate("2024-02-29")}        →   9
var dateParts = table{
	"$year":         parseDatePart(func(t time.Time) any { return int32(t.Year()) }),
	"$month":        parseDatePart(func(t time.Time) any { return int32(t.Month()) }),
	"$dayOfMonth":   parseDatePart(func(t time.Time) any { return int32(t.Day()) }),
	"$dayOfYear":    parseDatePart(func(t time.Time) any { return int32(t.YearDay()) }),
	"$dayOfWeek":    parseDatePart(func(t time.Time) any { return int32(t.Weekday()) + 1 }),
	"$hour":         parseDatePart(func(t time.Time) any { return int32(t.Hour()) }),
	"$minute":       parseDatePart(func(t time.Time) any { return int32(t.Minute()) }),
	"$second":       parseDatePart(func(t time.Time) any { return int32(t.Second()) }),
	"$millisecond":  parseDatePart(func(t time.Time) any { return int32(t.Nanosecond() / 1e6) }),
	"$week":         parseDatePart(func(t time.Time) any { return int32(dates.WeekOfYear(t)) }),
	"$isoWeek":      parseDatePart(func(t time.Time) any { _, w := t.ISOWeek(); return int32(w) }),
	"$isoWeekYear":  parseDatePart(func(t time.Time) any { y, _ := t.ISOWeek(); return int64(y) }),
	"$isoDayOfWeek": parseDatePart(func(t time.Time) any { return int32(dates.ISOWeekday(t)) }),
}

// parseDatePart returns the parser of an operator that returns a part of a date. f gets the time in the time zone.
func parseDatePart(f func(t time.Time) any) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		parts := map[string]Expr{}
		var err error
		// An object is the two parts, unless it is an operator whose value is the date.
		if d, ok := arg.(bson.D); ok && (len(d) == 0 || !strings.HasPrefix(d[0].Key, "$")) {
			parts, err = parseParts(name, arg, s, datePartErrors, "date!", "timezone")
		} else {
			var items []Expr
			if items, err = parseArguments(name, arg, s, 1, 1); err == nil {
				parts["date"] = items[0]
			}
		}
		if err != nil {
			return nil, err
		}
		evalPartOf := func(c *Context) (any, error) {
			t, null, err := evalLocalDate(c, parts["date"], parts["timezone"])
			if null || err != nil {
				return nil, err
			}
			return f(t), nil
		}
		return function(evalPartOf), nil
	}
}

// evalLocalDate evaluates a date in a time zone. null reports that one of them is nullish. zone may be nil, for UTC.
func evalLocalDate(c *Context, date, zone Expr) (t time.Time, null bool, err error) {
	return evalLocalDateOr(c, date, zone, nil)
}

// evalLocalDateOr is evalLocalDate with the caller's error for a value that isn't a date. wrong may be nil. The time
// zone is evaluated and checked before the date is: an unknown zone is an error even beside a null date.
func evalLocalDateOr(c *Context, date, zone Expr, wrong func(v any) error) (t time.Time, null bool, err error) {
	v, err := date.Eval(c)
	if err != nil {
		return t, false, err
	}
	loc, null, err := evalZone(c, zone)
	if null || err != nil {
		return t, null, err
	}
	if bsonval.IsNullish(v) {
		return t, true, nil
	}
	if t, err = dates.ConvertToTime(v); err != nil && wrong != nil {
		err = wrong(v)
	}
	return t.In(loc), false, err
}

// evalZone evaluates a time zone, such as "Europe/Berlin" or "+02:00". It is UTC if it isn't given. null reports that
// it is nullish.
func evalZone(c *Context, zone Expr) (loc *time.Location, null bool, err error) {
	if zone == nil {
		return time.UTC, false, nil
	}
	v, err := zone.Eval(c)
	if err != nil || bsonval.IsNullish(v) {
		return nil, err == nil, err
	}
	name, ok := v.(string)
	if !ok {
		return nil, false, mongoerr.New(40517, "timezone must evaluate to a string, found %s", bsonval.TypeName(v))
	}
	loc, err = dates.LoadZone(name)
	return loc, false, err
}
